// Jobs of 64 and 512 ranks: every rank can be reached, progress is shown while files are read, no tab stays grey.
// `RAILWRIGHT_RANKS=64,512,4096` chooses the sizes, `RAILWRIGHT_RANKS_MS` bounds the time until 512 ranks are usable.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, openPage, startServer } from '../harness.mjs'
import { manyRanks } from '../ranks.mjs'

const SIZES = (process.env.RAILWRIGHT_RANKS ?? '64,512').split(',').map(Number)
/** For a release build on a machine that others use; the aim on two quiet cores is 2 s. A debug build needs ten times as long. */
const USABLE_MS = Number(process.env.RAILWRIGHT_RANKS_MS ?? 30_000)

/** It measures times. */
export const alone = async ({ browser, binary }) => {
  for (const ranks of SIZES) {
    const folder = mkdtempSync(join(tmpdir(), 'railwright-ranks-'))
    let server
    try {
      manyRanks(folder, ranks)
      server = await startServer(binary, [folder])
      await job(browser, server.url, ranks)
    } finally {
      await server?.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function job(browser, url, ranks) {
  // The only served job opens by itself.
  const since = performance.now()
  const view = await openPage(browser, url, { fragment: '#/traces' })
  const { page } = view
  await page.waitForSelector('text=Step breakdown', { timeout: 240_000 })
  check((await page.locator('.traces-head').innerText()).includes(ranks.toLocaleString('en')), `the overview lacks the ${ranks} ranks`)
  const overview = performance.now() - since
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.waitForSelector('[data-testid=timeline]', { timeout: 240_000 })
  const usable = performance.now() - since
  console.log(`     ${ranks} ranks: overview after ${Math.round(overview)} ms, timeline after ${Math.round(usable)} ms`)
  const other = performance.now()
  for (const [tab, ready] of [
    ['Communication', '#traces-tab table'],
    ['Stragglers', '.traces-verdict'],
  ]) {
    await page.getByRole('tab', { name: tab }).click()
    await page.waitForSelector(ready, { timeout: 240_000 })
  }
  console.log(`     communication and stragglers after further ${Math.round(performance.now() - other)} ms`)
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.waitForSelector('[data-testid=timeline]', { timeout: 240_000 })
  if (ranks === 512) check(overview < USABLE_MS, `512 ranks are usable after ${overview} ms, more than ${USABLE_MS} ms`)
  const found = await view.axe()
  check(found.length === 0, `timeline of ${ranks} ranks:\n  ${found.join('\n  ')}`)

  // Every rank is in the list, also those that are not drawn; the last one is shown alone.
  const list = page.locator('.traces-choices select').nth(1)
  const first = await list.locator('option').first().innerText()
  check(new RegExp(`^\\d+ notable of ${ranks.toLocaleString('en')}`).test(first), `the first choice reads "${first}"`)
  const drawnRanks = () =>
    page.evaluate(() => [
      ...new Set(
        document.querySelector('[data-testid=timeline]')?.controller?.model.groups.map((one) => /rank (\d+)$/.exec(one.name)?.[1]),
      ),
    ])
  const slowest = await list.locator('optgroup[label="Notable"] option').first().getAttribute('value')
  check((await drawnRanks())[0] === slowest, `rank ${slowest} is the slowest, and ranks ${await drawnRanks()} are drawn`)
  // The ranks of a host are drawn together.
  const set = await list.locator('optgroup[label="Ranks of a host"] option').nth(1).getAttribute('value')
  await list.selectOption(set)
  await page.waitForFunction(
    (wanted) => {
      const groups = document.querySelector('[data-testid=timeline]')?.controller?.model.groups ?? []
      return groups.map((one) => /rank (\d+)$/.exec(one.name)?.[1]).join() === wanted
    },
    set,
    { timeout: 240_000 },
  )
  check((await list.locator('optgroup[label="All ranks"] option').count()) === ranks, 'a rank is not in the list')
  check((await list.locator('optgroup[label="Notable"] option').count()) > 0, 'no rank is of interest')
  const last = String(ranks - 1)
  await list.selectOption(last)
  await page.waitForFunction((rank) => location.hash.includes(`t.rank=${rank}`), last)
  await page.waitForFunction(
    (rank) => {
      const model = document.querySelector('[data-testid=timeline]')?.controller?.model
      return model?.groups.some((group) => new RegExp(`rank ${rank}$`).test(group.name))
    },
    last,
    { timeout: 240_000 },
  )

  // A finding of a rank that is not drawn by itself: its rank is drawn, and a span of it selected.
  await page.evaluate(() => (location.hash = location.hash.replace(/&t\.(rank|tab|sel|view|mark)=[^&]*/g, '')))
  await page.waitForSelector('.traces-findings', { timeout: 240_000 })
  const straggler = page.locator('.traces-findings > li', { hasText: /rank \d+ is a straggler/ }).first()
  if ((await straggler.count()) > 0) {
    const named = Number(/rank (\d+) is/.exec(await straggler.innerText())[1])
    await straggler.locator('text=Show on the timeline').click()
    await page.waitForFunction(
      (rank) => {
        const controller = document.querySelector('[data-testid=timeline]')?.controller
        const place = controller?.selection.value
        return place && controller.track(place).rank === rank
      },
      named,
      { timeout: 240_000 },
    )
  } else await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.evaluate(() => (location.hash = location.hash.replace(/&t\.(rank|finding|sel|view|mark)=[^&]*/g, '')))

  // A cell of the map leads to its rank.
  await page.evaluate(() => (location.hash = location.hash.replace(/&t\.rank=\d+/, '').replace('t.tab=timeline', 't.tab=ranks')))
  const map = page.locator('section[aria-label="Ranks of the job"], .chart:has-text("Ranks of the job")').first()
  await map.getByRole('button', { name: 'Waiting', exact: true }).click()
  check((await page.evaluate(() => location.hash)).includes('t.heat=waiting'), 'the measure is in the address')
  await map.locator('svg.chart-svg').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => /t\.tab=timeline/.test(location.hash) && /t\.rank=\d/.test(location.hash))

  // A name with a space is found as it stands on the bar.
  await page.waitForSelector('[data-testid=timeline]', { timeout: 240_000 })
  const find = page.getByPlaceholder('Find a span')
  await find.click()
  await page.keyboard.type('data loading')
  check((await find.inputValue()) === 'data loading', 'the space is lost')
  await page.waitForFunction(() => !/\bnone\b/.test(document.querySelector('.timeline-find, .timeline-tools')?.textContent ?? ''))

  // No tab stays grey.
  for (const tab of ['Stragglers', 'Communication', 'Modules', 'Ranks']) {
    await page.getByRole('tab', { name: tab }).click()
    await page.waitForFunction(
      () =>
        document.querySelector('#traces-tab .panel, #traces-tab .chart, #traces-tab p') && !document.querySelector('#traces-tab .skeleton'),
      null,
      { timeout: 240_000 },
    )
    await view.shot(`ranks-${ranks}-${tab.toLowerCase()}`, { fullPage: true })
  }
  await view.close()
}
