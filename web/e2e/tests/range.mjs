// Sums of a marked range of the measured and the modelled timeline: marked by key and by mouse, other rows, the table, the flame graph, files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, openPage, pictures, repository } from '../harness.mjs'

const TRACES = join(repository, 'fixtures/traces/generated_torch215_gloo_pp2dp2')
export const serve = [TRACES]

const FRAGMENT = `#/traces?t.path=${encodeURIComponent(TRACES)}&t.tab=timeline&t.host=1`
const HOST = '[data-testid=timeline]'
const SUMS = '[data-testid=range-sums]'

export default async ({ browser, url }) => {
  await modelled(browser, url)
  const view = await openPage(browser, url, { fragment: FRAGMENT })
  const { page } = view
  await page.waitForSelector(HOST, { timeout: 60_000 })
  await view.settled()
  // By key: without a selection all that is in sight, on all rows that are shown.
  await page.focus(HOST)
  await page.keyboard.press('m')
  await page.waitForSelector(`${SUMS} tbody tr`, { timeout: 60_000 })
  await view.settled()
  const summary = () => page.locator(`${SUMS} p.muted`).first().innerText()
  check(/spans on \d+ rows of 4 ranks/.test(await summary()), `all rows: ${await summary()}`)
  const first = () => page.locator(`${SUMS} tbody tr`).first().innerText()
  // Another kind of rows is another answer.
  const before = await first()
  await page.locator(`${SUMS} select`).selectOption('threads')
  await page.waitForFunction(([at, old]) => document.querySelector(at)?.innerText !== old, [`${SUMS} tbody tr`, before], {
    timeout: 60_000,
  })
  await view.settled()
  const deep = await page.evaluate(
    (at) => Math.max(...[...document.querySelectorAll(`${at} [data-depth]`)].map((one) => Number(one.dataset.depth))),
    SUMS,
  )
  check(deep >= 4, `the flame graph of threads is ${deep} deep`)
  // The flame graph zooms by key, the table sorts by its heads.
  await page.locator(`${SUMS} [data-depth="0"]`).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Count/ }).click()
  const counts = await page.locator(`${SUMS} tbody tr td:nth-child(3)`).allInnerTexts()
  const numbers = counts.map((text) => Number(text.replaceAll(',', '')))
  check(numbers.length > 3 && numbers.every((count, at) => at === 0 || count <= numbers[at - 1]), `sorted by count: ${counts.slice(0, 5)}`)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.locator(SUMS).getByRole('button', { name: 'Save as CSV' }).first().click(),
  ])
  const csv = readFileSync(await file.path(), 'utf8')
  check(csv.startsWith('name,class,count,total_ns,self_ns,mean_ns,longest_ns,share\n'), csv.slice(0, 80))
  // A row of the table finds its spans.
  await page.locator(`${SUMS} tbody tr`).first().focus()
  await page.keyboard.press('Enter')
  check((await page.locator('.timeline-find input').inputValue()) !== '', 'the name is in the search')
  // By mouse: a range of time over some rows.
  await page.evaluate((host) => document.querySelector(host).scrollIntoView({ block: 'center' }), HOST)
  const box = await page.locator(HOST).boundingBox()
  await page.keyboard.down('Shift')
  await page.mouse.move(box.x + box.width * 0.4, box.y + 70)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.7, box.y + 110, { steps: 6 })
  await page.mouse.up()
  await page.keyboard.up('Shift')
  const range = await page.evaluate((host) => document.querySelector(host).controller.range.value, HOST)
  check(range.tracks?.length > 0 && range.to > range.from, 'a drag marks rows')
  await page.locator(`${SUMS} select`).selectOption('marked')
  await view.settled()
  await page.waitForFunction(
    ([at, rows]) => new RegExp(`spans on ${rows} rows?`).test(document.querySelector(at)?.innerText ?? ''),
    [`${SUMS} p.muted`, range.tracks.length],
    { timeout: 60_000 },
  )
  await page.getByRole('button', { name: 'Remove the mark' }).click()
  check((await page.locator(SUMS).count()) === 0, 'the mark is removed')
  await view.close()
  await pictures({
    browser,
    url,
    fragment: FRAGMENT,
    name: 'traces-range',
    ready: async (shown) => {
      await shown.page.waitForSelector(HOST, { timeout: 60_000 })
      await shown.settled()
      await shown.page.focus(HOST)
      await shown.page.keyboard.press('m')
      await shown.page.waitForSelector(`${SUMS} tbody tr`, { timeout: 60_000 })
      await shown.page.locator(`${SUMS} select`).selectOption('threads')
      await shown.page.waitForTimeout(500)
    },
  })
}

/** A modelled step has the same table and flame graph; the table finds spans. */
async function modelled(browser, url) {
  const view = await openPage(browser, url, {
    fragment: '#/pipeline?model=llama-3-8b&cluster=dgx-h100&gpus=16&tp=2&pp=4&global-batch=32',
  })
  const { page } = view
  await page.waitForSelector(HOST, { timeout: 60_000 })
  await view.settled()
  await page.focus(HOST)
  await page.keyboard.press('m')
  await page.waitForSelector(`${SUMS} tbody tr`)
  await page.locator(`${SUMS} select`).selectOption('passes')
  await page.waitForFunction((at) => /spans on 4 rows of 4 ranks/.test(document.querySelector(at)?.innerText ?? ''), `${SUMS} p.muted`)
  const rows = await page.locator(`${SUMS} tbody tr`).allInnerTexts()
  check(rows.some((row) => /^forward/.test(row)) && rows.some((row) => /^backward/.test(row)), `the rows are ${rows.join('; ')}`)
  const shares = rows.map((row) => Number(/([\d.]+)%$/.exec(row.trim())?.[1] ?? 0))
  check(shares.reduce((all, one) => all + one, 0) <= 100.5, `the shares of four rows are ${shares}`)
  check((await page.locator(`${SUMS} [data-depth]`).count()) > 3, 'there is no flame graph')
  await view.shot('pipeline-range', { fullPage: true })
  check((await view.axe()).length === 0, `marked range: ${await view.axe()}`)
  await view.close()
}
