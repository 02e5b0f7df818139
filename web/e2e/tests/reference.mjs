// The reference: every tab, a filter, one row by key, the way into the calculator, measured runs predicted, laws fitted, a launch file read.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, openPage, pictures, repository } from '../harness.mjs'

// A few measured runs, because thousands take long on a shared machine.
const few = mkdtempSync(join(tmpdir(), 'railwright-'))
writeFileSync(
  join(few, 'runs.csv'),
  readFileSync(join(repository, 'catalog/evidence/measured_runs.csv'), 'utf8').split('\n').slice(0, 120).join('\n'),
)
const NCCL = join(repository, 'fixtures/nccl_tests')
const LAUNCH = join(repository, 'examples/launch')
export const serve = [few, NCCL, LAUNCH]

const at = (tab, more = '') => `#/reference?r.tab=${tab}${more}`

export default async ({ browser, url }) => {
  const view = await openPage(browser, url)
  const { page } = view
  await page.waitForSelector('nav.views a[aria-current=page]')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.waitForSelector('section[aria-label=Models] tbody tr')
  await page.keyboard.press('/')
  await page.keyboard.type('405b')
  await page.waitForFunction(() => document.querySelectorAll('section[aria-label=Models] tbody tr').length < 6)
  await page.locator('section[aria-label=Models] tbody tr').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('.reference-details >> text=active per token')
  check((await page.evaluate(() => location.hash)).includes('r.at='), 'what is chosen is in the address')
  check((await view.axe()).length === 0, `a model: ${await view.axe()}`)
  await page.getByRole('button', { name: 'Use it in the calculator' }).click()
  await page.waitForFunction(() => location.hash.startsWith('#/calculator') && location.hash.includes('405b'))
  await page.goBack()
  await page.goBack()
  await page.waitForFunction(() => location.hash.startsWith('#/reference'))
  for (const [tab, text] of [
    ['accelerators', 'H100 SXM5 80GB'],
    ['clusters', 'dgx-h100'],
    ['examples', 'deepseek-v3'],
    ['words', 'The plan does not fit'],
    ['keys', 'model.layers'],
  ]) {
    await page.evaluate((hash) => (location.hash = hash), at(tab).slice(1))
    await page.waitForSelector(`#reference-panel >> text=${text} >> nth=0`)
    check((await view.axe()).length === 0, `${tab}: ${await view.axe()}`)
  }
  await page.evaluate(
    (hash) => (location.hash = hash),
    at('detected', `&r.file=${encodeURIComponent(join(LAUNCH, 'mixtral_8x7b.log'))}`).slice(1),
  )
  await page.waitForSelector('text=num_layers 32')
  await page.evaluate((hash) => (location.hash = hash), at('detected', `&r.file=${encodeURIComponent(join(LAUNCH, 'README.md'))}`).slice(1))
  await page.waitForSelector('text=Unknown file')
  await page.evaluate(
    (hash) => (location.hash = hash),
    at('calibration', `&r.nccl=${encodeURIComponent(join(NCCL, 'h100-all_reduce-8.log'))}`).slice(1),
  )
  await page.waitForSelector('section[aria-label="Fitted constants"], [role=alert]', { timeout: 20_000 })
  // Without a table of one's own: the bundled runs, held-out first, one publication alone by key.
  await page.evaluate((hash) => (location.hash = hash), at('validation').slice(1))
  await page.waitForSelector('[aria-label="By publication"] tbody tr')
  const held = await page.locator('.numbers-row').innerText()
  check(/2,7\d\d/.test(held), `the bundled runs are ${held}`)
  await page.click('button:has-text("Fitted")')
  await page.waitForFunction((before) => document.querySelector('.numbers-row').innerText !== before, held)
  check((await page.evaluate(() => location.hash)).includes('r.fitted=1'), 'the address does not hold which constants are shown')
  await page.locator('[aria-label="By publication"] tbody tr').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.includes('r.source='))
  check((await view.axe()).length === 0, `accuracy: ${await view.axe()}`)
  await page.evaluate((hash) => (location.hash = hash), at('validation', `&r.table=${encodeURIComponent(join(few, 'runs.csv'))}`).slice(1))
  await page.waitForSelector('text=step time, median error', { timeout: 60_000 })
  check((await view.axe()).length === 0, `validation: ${await view.axe()}`)
  await view.shot('reference-validation', { fullPage: true })
  await page.evaluate((hash) => (location.hash = hash), at('validation', '&r.table=/no/such.csv').slice(1))
  await page.waitForSelector('[role=alert]')
  await view.close()
  await pictures({
    browser,
    url,
    fragment: at('accelerators', '&r.at=h100-sxm5-80gb'),
    name: 'reference',
    ready: ({ page: shown }) => shown.waitForSelector('.reference-details'),
  })
}
