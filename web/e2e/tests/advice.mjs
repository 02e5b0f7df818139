// Texts of the program lead on within the page: an advice to its tab, a comparison to its choices, a slow question to its answer.
import { join } from 'node:path'
import { check, openPage, repository } from '../harness.mjs'

const TRACES = join(repository, 'fixtures/traces/generated_torch215_gloo_pp2dp2')
export const serve = [join(repository, 'fixtures/traces')]

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: `#/traces?t.path=${TRACES}`, expectErrors: ['504'] })
  const { page } = view
  await page.waitForSelector('.traces-findings', { timeout: 60_000 })
  const findings = await page.locator('.traces-findings').innerText()
  check(!findings.includes('railwright '), `an advice names a command: ${/.*railwright .*/.exec(findings)?.[0]}`)
  check(!/\d us\b/.test(findings), `a unit of the terminal: ${/.*\d us\b.*/.exec(findings)?.[0]}`)
  const long = page.locator('.traces-advice', { hasText: 'inspect the long steps' }).getByRole('button', { name: 'Timeline' })
  await long.focus()
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.includes('t.tab=timeline') && location.hash.includes('t.path='))

  // Before a choice the comparison names what there is to compare with.
  await page.getByRole('tab', { name: 'Compare' }).click()
  const empty = page.locator('#traces-tab .state')
  await empty.waitFor()
  await empty.getByRole('button').first().waitFor()
  await view.shot('compare-empty')
  check((await view.axe()).length === 0, `comparison: ${await view.axe()}`)
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose a file…' }).click()])
  await chooser.setFiles({ name: 'other.toml', mimeType: 'text/plain', buffer: Buffer.from('[model]\nname = "llama-3-8b"\n') })
  await page.waitForFunction(() => location.hash.includes('t.other=upload'))

  // An answer that is too slow for a reply is waited for as a job.
  await page.route('**/api/v1/stragglers', (route) =>
    route.fulfill({ status: 504, json: { problems: [{ message: 'this took more than 120 s', hint: 'start it as a job' }] } }),
  )
  await page.getByRole('tab', { name: 'Stragglers' }).click()
  await page.waitForSelector('.traces-verdict', { timeout: 60_000 })
  await view.close()
}
