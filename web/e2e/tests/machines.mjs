// The machines view: asked by keyboard, the knee and the chosen number marked, a point picked, a goal that nothing meets.
import { check, openPage, pictures } from '../harness.mjs'

const RUN =
  '#/machines?model=llama-3.1-8b&tokens=2T&cluster=dgx-h100&m.clusters=dgx-h100,dgx-a100&m.gpus=32,64,128,256,512&m.space=vp=1+cp=1'
const answered = (page) => page.waitForSelector('[aria-label="Numbers of machines"] tbody tr', { timeout: 120_000 })

export default async function ({ browser, url }) {
  const view = await openPage(browser, url, { fragment: `${RUN}&m.deadline=30d` })
  const { page } = view
  await page.waitForSelector('text=Deadline or budget')
  await page.keyboard.press('r')
  await answered(page)
  check(/chosen/.test((await page.textContent('[aria-label="Numbers of machines"]')) ?? ''), 'no number is chosen')
  await page.focus('[aria-roledescription="line chart"]')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  const tip = (await page.textContent('.chart-tip:not([hidden])')) ?? ''
  check(/64 × H100/.test(tip) && /rent/.test(tip), `the second number is not told: ${tip}`)
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#/calculator') && location.hash.includes('gpus=64'))
  await view.close()

  const none = await openPage(browser, url, { fragment: `${RUN}&m.deadline=2d&m.budget=1K&m.ran=1` })
  await none.page.waitForSelector('text=No number meets the goal', { timeout: 120_000 })
  await none.close()
  await pictures({ browser, url, fragment: `${RUN}&m.deadline=30d&m.ran=1`, name: 'machines', ready: ({ page }) => answered(page) })
}
