// From a rejected run back: every slider stands at its value and moves, and what it sets is accepted; the numbers of another model are not
// shown; a scenario names only what differs.
import { check, openPage } from '../harness.mjs'

const RUN = 'model=llama-3.1-70b&cluster=dgx-h100&gpus=96'

/** Waits for the answers, and for the lists of valid values, which rest until a control does. */
async function settled(view) {
  await view.settled()
  await view.page.waitForTimeout(400)
  await view.settled()
}

const sliders = (page) =>
  page.locator('input.slider').evaluateAll((all) =>
    all.map((one) => ({
      name: one.dataset.slider,
      at: one.value,
      most: Number(one.max),
      hidden: getComputedStyle(one).visibility === 'hidden',
    })),
  )

async function move(view, name, at) {
  await view.page.evaluate(
    ([name, at]) => {
      const slider = document.querySelector(`[data-slider="${name}"]`)
      slider.value = String(at)
      slider.dispatchEvent(new Event('change', { bubbles: true }))
    },
    [name, at],
  )
  await settled(view)
}

const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash))

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: `#/calculator?${RUN}&tp=8&pp=2` })
  const { page } = view
  await page.waitForSelector('.headline .value')
  await settled(view)
  const field = page.getByRole('textbox', { name: 'Tensor parallel', exact: true })
  await field.fill('7')
  await field.press('Enter')
  await page.waitForSelector('.problem')
  await settled(view)
  const stuck = (await sliders(page)).filter((one) => one.hidden || one.most === 0)
  check(stuck.length === 0, `sliders without a value to offer: ${stuck.map((one) => one.name).join()}`)
  const stages = (await sliders(page)).find((one) => one.name === 'Pipeline stages')
  check(stages.at === '1', `2 stages stand at the far left: ${stages.at} of ${stages.most}`)
  // A click on a switch is a way back too; here a slider.
  await move(view, 'Pipeline stages', 2)
  check(
    (await page.locator('.problem').count()) === 0,
    `the slider leads to another refusal: ${await page.locator('.problem').allInnerTexts()}`,
  )
  check(/tp=8/.test(await hash(page)) && /pp=4/.test(await hash(page)), `the run is ${await hash(page)}`)
  check((await page.locator('.toast').innerText()).includes('tensor parallel 8'), 'it is not said what else changed')
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await page.waitForFunction(() => /tp=7/.test(location.hash) && /pp=2/.test(location.hash))
  await view.close()
  await link(browser, url)
  await another(browser, url)
  await chips(browser, url)
}

/** A link with two mistakes has no last plan: the layout goes back to auto. */
async function link(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/calculator?${RUN}&tp=7&cp=5&pp=2` })
  await view.page.waitForSelector('.problem')
  await settled(view)
  check(
    (await sliders(view.page)).every((one) => !one.hidden),
    'a slider is hidden',
  )
  await move(view, 'Micro-batch', 1)
  await view.page.waitForSelector('.headline .value', { timeout: 60_000 })
  check((await view.page.locator('.problem').count()) === 0, 'the slider leads to another refusal')
  check(!/tp=7|cp=5/.test(await hash(view.page)), `the run is ${await hash(view.page)}`)
  await view.close()
}

async function another(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/calculator?model=llama-3.1-405b&cluster=dgx-h100&gpus=1024' })
  const { page } = view
  await page.waitForSelector('.headline .value')
  await page.evaluate((run) => (location.hash = `#/calculator?${run}&tp=7`), RUN)
  await page.waitForSelector('.problem')
  await settled(view)
  const shown = await page.locator('main').innerText()
  check(!/405/.test(shown), `numbers of the model before: ${shown.match(/.*405.*/)?.[0]}`)
  await view.close()
}

/** One step of one control is one difference, though the sizes of the auto plan are held with it. */
async function chips(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/calculator?model=deepseek-v3&cluster=gb200-nvl72&gpus=1152' })
  const { page } = view
  await page.waitForSelector('.headline .value')
  await settled(view)
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('button', { name: 'Expert parallel: less' }).click()
  await page.waitForFunction(() => /b\.ep=/.test(location.hash))
  await settled(view)
  const named = await page.locator('.differences .chip').allInnerTexts()
  check(named.length === 1 && /^expert parallel/.test(named[0]), `B differs in ${named.join(', ')}`)
  await view.close()
}
