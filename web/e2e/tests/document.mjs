// Any view as a document: saved as one file, opened without a server, with its title, notes and the same numbers; it asks nobody.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { artifacts, check, openPage } from '../harness.mjs'

const TRACES = 'fixtures/traces/generated_torch215_gloo_pp2dp2'
export const serve = [TRACES]

export default async ({ browser, url }) => {
  const cases = [
    {
      name: 'traces',
      fragment: `#/traces?t.path=${TRACES}&t.note-straggler=ask+the+owner+of+rank+2`,
      ready: '.traces-findings',
      words: 'ask the owner of rank 2',
    },
    {
      name: 'timeline',
      fragment: `#/traces?t.path=${TRACES}&t.tab=timeline&t.step=3`,
      ready: '[data-testid=timeline]',
      words: 'rank 2 is a straggler',
    },
    {
      name: 'network',
      fragment: '#/network?model=llama-3.1-405b&cluster=dgx-h100&gpus=1024',
      ready: '.topology svg',
      words: '1,024 devices',
    },
    { name: 'machine', fragment: '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=16&tp=2', ready: '.headline .value', words: 'MFU' },
  ]
  for (const { name, fragment, ready, words } of cases) {
    const view = await openPage(browser, url, { fragment })
    await view.page.waitForSelector(ready, { timeout: 60_000 })
    await view.settled()
    await view.page.keyboard.press('Shift+R')
    check((await view.axe()).length === 0, `report dialog: ${await view.axe()}`)
    await view.page.getByRole('textbox', { name: 'Title' }).fill(`Report of ${name}`)
    await view.page.getByRole('textbox', { name: 'Notes' }).fill('For the review on Friday')
    const [download] = await Promise.all([view.page.waitForEvent('download'), view.page.click('text=Save HTML')])
    const file = join(artifacts, `document-${name}.html`)
    await download.saveAs(file)
    await view.close()
    check(!readFileSync(file, 'utf8').includes('/*REPORT*/'), 'the report has no answers')
    const saved = await openPage(browser, pathToFileURL(file).href, { scheme: name === 'timeline' ? 'dark' : 'light' })
    await saved.page.waitForSelector(ready, { timeout: 30_000 })
    await saved.settled()
    const text = await saved.page.locator('main').innerText()
    check(text.includes(`Report of ${name}`) && text.includes('For the review on Friday'), `${name}: title or notes are missing`)
    check(text.includes(words), `${name}: “${words}” is missing`)
    check((await saved.page.locator('.problem').count()) === 0, `${name}: ${await saved.page.locator('.problem').allInnerTexts()}`)
    await saved.shot(`document-${name}`)
    check((await saved.axe()).length === 0, `${name}: ${await saved.axe()}`)
    await saved.close()
  }
  await onPaper(browser, url)
}

/** In print a view has its title, run and date, no controls, and nothing wider than its panel. */
async function onPaper(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/traces?t.path=${TRACES}` })
  const { page } = view
  await page.waitForSelector('.traces-findings', { timeout: 60_000 })
  await page.emulateMedia({ media: 'print' })
  await page.setViewportSize({ width: 1040, height: 700 })
  const head = await page.locator('.report-head').innerText()
  const today = new Date().toISOString().slice(0, 10)
  for (const part of ['Traces', TRACES, today]) check(head.includes(part), `the head of a print lacks ${part}: ${head}`)
  check((await page.getByRole('button', { name: 'Show on the timeline' }).count()) === 0, 'a print has buttons')
  const wide = await page.evaluate(
    () =>
      [...document.querySelectorAll('.panel svg')].filter((one) => {
        const [own, panel] = [one.getBoundingClientRect(), one.closest('.panel').getBoundingClientRect()]
        return own.width > 0 && own.right > panel.right + 1
      }).length,
  )
  check(wide === 0, `${wide} charts are wider than their panel on paper`)
  const breaks = await page.evaluate(() => getComputedStyle(document.querySelector('section[aria-label=Findings]')).breakInside)
  check(breaks === 'auto', 'a list is kept whole and leaves the page before it empty')
  await view.close()
}
