// A training log: opened by a link and by dropping, its chart by arrow keys, what it ran on, and the way to a prediction of its run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, openPage, pictures, repository } from '../harness.mjs'
import { drop } from './hang.mjs'

const LOG = join(repository, 'fixtures/traces/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz')
export const serve = [join(repository, 'fixtures/traces/logs')]

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: `#/log?l.path=${encodeURIComponent(LOG)}` })
  const { page } = view
  await page.waitForSelector('text=typical iteration')
  // Pauses have the cause that the log records, as on the command line.
  check((await page.locator('.numbers-row').innerText()).includes('21 times: evaluation'), 'the cause of the pauses is missing')
  await page.locator('svg[aria-roledescription="line chart"]').first().focus()
  await page.keyboard.press('ArrowRight')
  await page.waitForSelector('.chart-plot >> text=iteration')
  await page.selectOption('.log-gpu select', 'h100-sxm5-80gb')
  await view.settled()
  check((await page.evaluate(() => location.hash)).includes('l.gpu=h100-sxm5-80gb'), 'the accelerator is in the address')
  await page.goBack()
  await page.getByRole('button', { name: 'Open other files' }).click()
  await page.waitForSelector('text=Open a training log')
  // The only served log does not open again by itself.
  await view.settled()
  check(await page.locator('text=Open a training log').isVisible(), 'the closed log opened again')
  // A log whose arguments nobody knows is still a log.
  const lines = Array.from(
    { length: 40 },
    (_, at) =>
      ` iteration ${at * 10 + 10}/ 1000 | consumed samples: ${at * 2560} | elapsed time per iteration (ms): ${(512 + (at % 3)).toFixed(1)} | learning rate: 1.0E-04 | global batch size: 256 | lm loss: 2.1E+00 |`,
  )
  await drop(page, [{ name: 'train.log', text: lines.join('\n') }])
  await page.waitForFunction(() => location.hash.includes('upload') && !document.querySelector('.drop-target'), null, { timeout: 20_000 })
  await view.close()
  check(readFileSync(LOG).length > 0, 'the fixture is there')
  await pictures({
    browser,
    url,
    fragment: `#/log?l.path=${encodeURIComponent(LOG)}`,
    name: 'log',
    ready: ({ page: shown }) => shown.waitForSelector('text=typical iteration'),
  })
}
