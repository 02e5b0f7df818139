// The layout of a job, as the program determines it from its process groups: in the panel "This job is", and as the shape of the map of ranks.
// `RAILWRIGHT_LAYOUT=tp,dp,pp` chooses other sizes than 2, 4, 8; `tp` is 2.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, openPage, startServer } from '../harness.mjs'
import { manyRanks } from '../ranks.mjs'

const [tp, dp, pp] = (process.env.RAILWRIGHT_LAYOUT ?? '2,4,8').split(',').map(Number)

export default async ({ browser, binary }) => {
  await described(browser, binary)
  await incomplete(browser, binary)
}

/** A server on a job of its own. */
async function withJob(binary, ranks, sizes, act) {
  const folder = mkdtempSync(join(tmpdir(), 'railwright-layout-'))
  let server
  try {
    manyRanks(folder, ranks, sizes)
    server = await startServer(binary, [folder])
    await act(server.url)
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function described(browser, binary) {
  await withJob(binary, tp * dp * pp, { tp, dp, pp }, async (url) => {
    const since = performance.now()
    const view = await openPage(browser, url, { fragment: '#/traces' })
    const { page } = view
    await page.waitForSelector('text=Step breakdown', { timeout: 240_000 })
    console.log(`     ${tp * dp * pp} ranks: overview after ${Math.round(performance.now() - since)} ms`)
    const summary = page.locator('.traces-job > summary')
    check((await summary.innerText()).includes(`layout TP${tp} DP${dp} PP${pp}`), `the panel reads "${await summary.innerText()}"`)
    await summary.click()
    const found = page.locator('.layout-found')
    await found.locator('summary').click()
    const groups = await found.locator('tbody tr').allInnerTexts()
    check(
      ['tensor', 'data', 'pipeline'].every((name) => groups.some((row) => row.startsWith(name) && row.includes('described'))),
      `the groups are ${groups.join('; ')}`,
    )
    await view.shot('job-layout')
    check((await view.axe()).length === 0, `layout: ${await view.axe()}`)
    // Nobody set a layout, and the map has its shape; a cell leads to its rank.
    await page.getByRole('tab', { name: 'Ranks' }).click()
    const map = page.locator('section[aria-label="Ranks of the job"], .chart:has-text("Ranks of the job")').first()
    await map.getByRole('button', { name: 'By layout' }).waitFor()
    check((await map.getByRole('button', { name: 'By layout' }).getAttribute('aria-pressed')) === 'true', 'the map is not by layout')
    const labels = (await map.locator('svg text').allTextContents()).map((label) => label.trim())
    check(
      labels.some((label) => label.startsWith('PP')) && labels.some((label) => /DP\d+ TP\d+|TP\d+/.test(label)),
      `the labels are ${labels.slice(0, 12)}`,
    )
    await map.getByRole('button', { name: 'In order' }).click()
    await page.waitForFunction(() => location.hash.includes('t.map=recorded'))
    await map.getByRole('button', { name: 'By layout' }).click()
    await map.locator('svg.chart-svg').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => /t\.tab=timeline/.test(location.hash) && /t\.rank=\d+/.test(location.hash))
    await page.waitForSelector('[data-testid=timeline]', { timeout: 240_000 })
    // What was determined can be changed: it becomes the layout that is set.
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.waitForFunction((text) => decodeURIComponent(location.hash).includes(text), `t.layout=tp=${tp},dp=${dp},pp=${pp}`)
    await view.close()
  })
}

/** Groups that join only some ranks determine no layout by name: the map stays in order until asked, and the reason is named. */
async function incomplete(browser, binary) {
  await withJob(binary, 32, null, async (url) => {
    const view = await openPage(browser, url, { fragment: '#/traces' })
    const { page } = view
    await page.waitForSelector('text=Step breakdown', { timeout: 240_000 })
    await page.locator('.traces-job > summary').click()
    const found = await page.locator('.layout-found').innerText()
    await page.getByRole('tab', { name: 'Ranks' }).click()
    await page.locator('.chart:has-text("Ranks of the job")').first().waitFor()
    check(/no process group (joins the 16 ranks of stride 2|has a known dimension)/.test(found), `the doubts are "${found}"`)
    const pressed = page.locator('.chart:has-text("Ranks of the job") [aria-pressed=true]', { hasText: 'By layout' })
    check((await pressed.count()) === 0, 'a map by an incomplete layout is shown unasked')
    await view.close()
  })
}
