// The machines view: asked by keyboard, the knee and the chosen number marked, a point picked, a goal that nothing meets.
import { readFile } from 'node:fs/promises'
import { check, openPage, pictures } from '../harness.mjs'

const RUN =
  '#/machines?model=llama-3.1-8b&tokens=2T&cluster=dgx-h100&m.clusters=dgx-h100,dgx-a100&m.gpus=32,64,128,256,512&m.space=vp=1+cp=1'
const answered = (page) => page.waitForSelector('[aria-label="Cluster sizes"] tbody tr', { timeout: 120_000 })

export default async function ({ browser, url }) {
  const view = await openPage(browser, url, { fragment: `${RUN}&m.deadline=30d` })
  const { page } = view
  await page.waitForSelector('text=Deadline or budget')
  await page.keyboard.press('r')
  await answered(page)
  check(
    /cheapest by deadline/.test((await page.textContent('[aria-label="Cluster sizes"]')) ?? ''),
    'no count is the cheapest by the deadline',
  )
  // Points alone, and the frontier as steps.
  check(
    (await page.locator('[aria-label="Days"] .line').evaluateAll((all) => all.every((one) => !one.getAttribute('d')))) === true,
    'a line',
  )
  check((await page.locator('.front-line').count()) === 1, 'no frontier')
  await page.focus('[aria-roledescription="line chart"]')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  const tip = (await page.textContent('.chart-tip:not([hidden])')) ?? ''
  check(/64 GPUs of H100/.test(tip) && /rent/.test(tip), `the second number is not told: ${tip}`)
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#/calculator') && location.hash.includes('gpus=64'))
  await view.close()

  // A finer grid: the counts between, in the same question.
  const finer = await openPage(browser, url, { fragment: `${RUN.replace('32,64,128,256,512', '64,128')}&m.deadline=30d&m.ran=1` })
  await answered(finer.page)
  await finer.page.click('text=Add 1 size between these')
  await finer.page.waitForFunction(
    () => [...document.querySelectorAll('[aria-label="Cluster sizes"] tbody tr')].some((row) => row.textContent.startsWith('96')),
    null,
    { timeout: 120_000 },
  )
  check((await finer.page.evaluate(() => location.hash)).includes('m.gpus=64,96,128'), 'the address lacks the counts')
  await finer.close()

  // A chart to take away: no goal is named that nobody set, nor one number of GPUs for all of them.
  const alone = await openPage(browser, url, { fragment: `${RUN.replace('32,64,128,256,512', '64,128')}&gpus=512&m.ran=1` })
  await answered(alone.page)
  await alone.page.locator('.chart:has-text("training time at each") .menu-holder button').first().click()
  const [file] = await Promise.all([alone.page.waitForEvent('download'), alone.page.getByRole('menuitem', { name: /SVG/ }).click()])
  const svg = await readFile(await file.path(), 'utf8')
  check(
    svg.includes('model llama-3.1-8b') && !/gpus 512|misses the goal/.test(svg),
    `the chart says ${svg.match(/gpus 512|[^<>]*misses[^<>]*/)?.[0]}`,
  )
  await alone.close()

  const none = await openPage(browser, url, { fragment: `${RUN}&m.deadline=2d&m.budget=1K&m.ran=1` })
  await none.page.waitForSelector('text=No size meets the goal', { timeout: 120_000 })
  await none.close()
  await pictures({ browser, url, fragment: `${RUN}&m.deadline=30d&m.ran=1`, name: 'machines', ready: ({ page }) => answered(page) })
}
