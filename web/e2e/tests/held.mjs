// Sizes of an auto plan: moving one holds the others, no control is dead, and the pipeline shows the schedule of the plan.
import { check, openPage } from '../harness.mjs'

const RUNS = {
  'llama-3.1-405b': 'model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&global-batch=512',
  'llama-3.1-70b': 'model=llama-3.1-70b&cluster=dgx-h100&gpus=256&global-batch=1024',
  'deepseek-v3': 'model=deepseek-v3&cluster=dgx-h100&gpus=2048&global-batch=7680',
}
const SIZES = ['Tensor parallel', 'Pipeline stages', 'Context parallel', 'Expert parallel']

export default async ({ browser, url }) => {
  await holds(browser, url)
  for (const [model, run] of Object.entries(RUNS)) await alive(browser, url, model, run)
  await schedule(browser, url)
  await chosen(browser, url)
}

const openRun = async (browser, url, fragment) => {
  const view = await openPage(browser, url, { fragment })
  await view.page.waitForSelector('.headline .value')
  await view.settled()
  return view
}

const size = (page, label) => page.getByRole('textbox', { name: label, exact: true })

async function holds(browser, url) {
  const view = await openRun(browser, url, `#/calculator?${RUNS['llama-3.1-405b']}`)
  const { page } = view
  const before = await Promise.all(['Tensor parallel', 'Pipeline stages', 'Virtual stages'].map((label) => size(page, label).inputValue()))
  const context = Number(await size(page, 'Context parallel').inputValue())
  await page.getByRole('button', { name: 'Context parallel: more' }).click()
  await page.waitForSelector('.toast:has-text("The other sizes keep")')
  await view.settled()
  const after = await Promise.all(['Tensor parallel', 'Pipeline stages', 'Virtual stages'].map((label) => size(page, label).inputValue()))
  check(before.join() === after.join(), `the sizes ${before} became ${after}`)
  check(Number(await size(page, 'Context parallel').inputValue()) === 2 * context, 'the context-parallel size is not the next one')
  check((await page.locator('.field:has-text("kept")').count()) >= 3, 'held sizes are not marked')
  check(!(await page.locator('.results').innerText()).includes('does not fit'), 'one step leaves the plan')
  await view.shot('held-sizes')
  check((await view.axe()).length === 0, `held sizes: ${await view.axe()}`)
  // A held size that is set is the user's.
  await page.getByRole('button', { name: 'Tensor parallel: less' }).click()
  await view.settled()
  check(
    !(await page.locator('.field:has-text("Tensor parallel")').first().innerText()).includes('kept'),
    'a set size is still marked as held',
  )
  await page.keyboard.press('Escape')
  await view.close()
}

/** Every size has other valid values, and one that is typed is accepted. */
async function alive(browser, url, model, run) {
  const view = await openRun(browser, url, `#/calculator?${run}`)
  const { page } = view
  for (const label of SIZES.filter((one) => model === 'deepseek-v3' || one !== 'Expert parallel')) {
    const slider = page.getByLabel(`${label} slider`, { exact: true })
    check(Number(await slider.getAttribute('max')) >= 1 && (await slider.isEnabled()), `${model}: ${label} has no other value`)
  }
  await size(page, 'Pipeline stages').fill('4')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.toast:has-text("The other sizes keep"), .headline .value')
  await view.settled()
  check(
    (await page.locator('.refused-banner').count()) === 0,
    `${model}: PP4 is rejected: ${await page.locator('.refused-banner').allInnerTexts()}`,
  )
  check((await size(page, 'Pipeline stages').inputValue()) === '4', `${model}: PP4 was not taken`)
  await view.close()
}

async function schedule(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/pipeline?${RUNS['llama-3.1-70b']}` })
  const { page } = view
  const chunks = page.getByLabel('Virtual stages')
  await page.waitForFunction(() => Number(document.querySelectorAll('.pipeline-switches select')[1]?.value) > 1)
  await page.waitForFunction(() => document.querySelectorAll('.pipeline-switches select')[1].options.length > 2)
  const shown = await page
    .locator('.pipeline-switches select')
    .first()
    .evaluate((list) => list.selectedOptions[0].textContent)
  check(shown === 'Interleaved 1F1B', `an interleaved plan is shown as ${shown}`)
  const count = Number(await chunks.inputValue())
  await chunks.selectOption('2')
  await view.settled()
  const hash = await page.evaluate(() => location.hash)
  check(count > 2 && /vp=2/.test(hash) && /tp=\d/.test(hash) && /pp=\d/.test(hash), `other chunks leave the plan: ${hash}`)
  await view.close()
}

/** A size that is set back to auto beside another is chosen by the program; one that is 1 beside others is marked as a default. */
async function chosen(browser, url) {
  const view = await openRun(browser, url, '#/calculator?model=llama-3.1-70b&cluster=dgx-h100&gpus=64&tp=4&pp=8')
  const { page } = view
  const verdict = () => page.locator('.run-verdict .verdict').first().innerText()
  check((await verdict()) !== 'does not fit', `the run ${await verdict()}`)
  const context = page.getByRole('button', { name: 'default; set Context parallel to auto' })
  check((await context.count()) === 1, 'a size of 1 beside others is not marked as a default')
  await page.getByRole('button', { name: 'reset Pipeline stages to auto' }).click()
  await view.settled()
  check((await page.evaluate(() => location.hash)).includes('pp=auto'), 'the program does not choose the stages')
  check((await verdict()) !== 'does not fit', 'auto leads to a plan that does not fit')
  await context.click()
  await view.settled()
  check((await page.evaluate(() => location.hash)).includes('cp=auto'), 'the default does not become auto')
  await view.shot('size-on-auto')
  check((await view.axe()).length === 0, `sizes on auto: ${await view.axe()}`)
  // Without another size, nothing is left of it.
  await page.getByRole('button', { name: 'reset Tensor parallel to auto' }).click()
  await view.settled()
  check(!/[?&](tp|pp|cp)=/.test(await page.evaluate(() => location.hash)), 'sizes are left in the address')
  await view.close()
}
