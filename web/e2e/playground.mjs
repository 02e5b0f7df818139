// Tests the playground in a real Chromium: node web/e2e/playground.mjs FOLDER BINARY [STEP ...]; exit code 1 when one fails.
// FOLDER is what `scripts/playground.mjs` made, served by a static server; BINARY answers the same questions for comparison.
// Tests of single views run on it as they run on `railwright serve`. Every page fails when a request leaves its folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, openPage, repository, startBrowser, startServer } from './harness.mjs'
import { startStatic } from './static.mjs'
import calculator, { alone as sliders } from './tests/calculator.mjs'

const [folder, binary, ...names] = process.argv.slice(2)
if (!binary) {
  console.error('usage: node web/e2e/playground.mjs FOLDER BINARY [STEP ...]')
  process.exit(2)
}
const RUN = '#/calculator?model=llama-3.1-405b&cluster=dgx-h100&cp=2&global-batch=512&gpus=1024&pp=16&tokens=15.6T&tp=8&uneven-stages=true'
const SMALL = 'model=llama-3-8b&cluster=dgx-h100&gpus=32&global-batch=128'
const TRACES = join(repository, 'fixtures/traces/generated_torch215_gloo_pp2dp2')

const steps = { paints, equals, answers, calculates, searches, stops, networks, drops, traces, refuses }
const site = await startStatic(folder)
const server = await startServer(binary)
const browser = await startBrowser()
let failed = 0
for (const [name, step] of Object.entries(steps)) {
  if (names.length > 0 && !names.includes(name)) continue
  const since = performance.now()
  try {
    const remark = (await step()) ?? ''
    console.log(`ok   ${name} (${((performance.now() - since) / 1000).toFixed(1)} s) ${remark}`)
  } catch (error) {
    failed += 1
    console.log(`FAIL ${name}\n${String(error?.stack ?? error).replace(/^/gm, '     ')}`)
  }
}
// All requests were for files of the folder, by GET: no data of the user went to the server.
const strange = site.requests.filter((line) => !line.startsWith('GET /site/playground/') || line.includes('/api/'))
if (strange.length > 0) {
  failed += 1
  console.log(`FAIL requests beside the files of the page: ${[...new Set(strange)].join(', ')}`)
}
await browser.close()
await server.stop()
site.stop()
console.log(failed === 0 ? 'the playground holds' : `${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

/** First paint, and the first numbers, of a browser that has nothing kept. */
async function paints() {
  const view = await openPage(browser, site.url, { fragment: RUN })
  await view.page.waitForSelector('.headline .value', { timeout: 60_000 })
  const [paint, numbers] = await view.page.evaluate(() => [
    performance.getEntriesByName('first-contentful-paint')[0].startTime,
    performance.now(),
  ])
  await view.settled()
  await view.close()
  // The larger program is for files, which nobody dropped yet.
  check(!site.requests.some((line) => line.includes('railwright-files')), 'the readers of files were loaded without a file')
  const limit = Number(process.env.RAILWRIGHT_PAINT_MS ?? 1000)
  check(paint < limit, `first paint after ${paint.toFixed(0)} ms`)
  return `first paint ${paint.toFixed(0)} ms, numbers ${numbers.toFixed(0)} ms`
}

/** The headline of the calculator is that of the page of the binary. */
async function equals() {
  const texts = []
  for (const url of [site.url, server.url]) {
    const view = await openPage(browser, url, { fragment: RUN })
    await view.page.waitForSelector('.headline .value', { timeout: 60_000 })
    await view.settled()
    texts.push(await view.page.locator('.headline').allInnerTexts())
    await view.close()
  }
  check(texts[0].join('\n') === texts[1].join('\n'), `playground: ${texts[0].join(' ')}; binary: ${texts[1].join(' ')}`)
  return texts[0].join(' ').replace(/\s+/g, ' ').slice(0, 60)
}

/** Milliseconds from a question to its answer, in the page, of estimates that are new to it. */
async function answers() {
  const view = await openPage(browser, site.url, { fragment: RUN })
  await view.page.waitForSelector('.headline .value', { timeout: 60_000 })
  await view.settled()
  const large = {
    model: 'llama-3.1-405b',
    cluster: 'dgx-h100',
    gpus: 1024,
    tp: 8,
    cp: 2,
    pp: 16,
    'global-batch': 512,
    'uneven-stages': true,
  }
  const times = await view.page.evaluate(async (large) => {
    const name = performance.getEntriesByType('resource').find((one) => /assets\/transport\.js/.test(one.name))?.name
    const { respond } = await import(name)
    const taken = []
    for (let index = 0; index < 40; index += 1) {
      const run = { ...large, tokens: 1e12 + index }
      const since = performance.now()
      const response = await respond('estimate', { body: JSON.stringify({ arguments: run }) })
      await response.json()
      taken.push(performance.now() - since)
    }
    return taken.sort((a, b) => a - b)
  }, large)
  await view.close()
  const [median, late] = [times[20], times[37]]
  const limit = Number(process.env.RAILWRIGHT_SLIDER_MS ?? 50)
  check(median < limit, `an estimate takes ${median.toFixed(1)} ms`)
  return `estimate: median ${median.toFixed(1)} ms, p95 ${late.toFixed(1)} ms`
}

/** The calculator's own test, without its pictures: sliders, refusals, scenarios, explanations, exports, dropped files. */
async function calculates() {
  process.env.RAILWRIGHT_STEPS ??= 'opens,sliders,refusals,offers,verdicts,resets,scenarios,explanations,drops'
  await sliders({ browser, url: site.url })
  await calculator({ browser, url: site.url, binary })
}

/** A search has cards and a ranking, and its best is the binary's. */
async function searches() {
  const best = []
  const times = []
  for (const url of [site.url, server.url]) {
    const view = await openPage(browser, url, { fragment: `#/search?${SMALL}` })
    await view.page.waitForSelector('text=Search all layouts', { timeout: 60_000 })
    const since = performance.now()
    await view.page.keyboard.press('r')
    await view.page.waitForSelector('[aria-label=Ranking] tbody tr', { timeout: 300_000 })
    await view.page.waitForFunction(
      () => !document.querySelector('[aria-busy=true]') && !document.body.textContent.includes('looking for the rest'),
      null,
      { timeout: 300_000 },
    )
    times.push((performance.now() - since) / 1000)
    best.push(await view.page.locator('[aria-label=Ranking] tbody tr').first().innerText())
    await view.close()
  }
  check(best[0] === best[1], `playground: ${best[0]}; binary: ${best[1]}`)
  return `${times[0].toFixed(1)} s, binary ${times[1].toFixed(1)} s`
}

/** A search that is stopped ends at once, and the page goes on. */
async function stops() {
  const view = await openPage(browser, site.url, {
    fragment: '#/search?model=llama-3.1-405b&cluster=dgx-h100&gpus=16384&global-batch=2048',
  })
  const { page } = view
  await page.waitForSelector('text=Search all layouts', { timeout: 60_000 })
  await page.keyboard.press('r')
  await page.getByRole('button', { name: /^Stop/ }).first().click({ timeout: 60_000 })
  await page.waitForSelector('text=stopped before a result', { timeout: 10_000 })
  await page.goto(`${site.url}${RUN}`)
  await page.waitForSelector('.headline .value', { timeout: 60_000 })
  await view.close()
}

/** The network's desks, and a table that is the binary's. */
async function networks() {
  const tables = []
  for (const url of [site.url, server.url]) {
    const view = await openPage(browser, url, { fragment: '#/network?model=llama-3.1-405b&cluster=dgx-h100&gpus=16384&n.desk=cost' })
    await view.page.waitForSelector('[aria-label=Costs] tbody tr', { timeout: 60_000 })
    await view.settled()
    tables.push(await view.page.locator('[aria-label=Costs] tbody tr').allInnerTexts())
    await view.close()
  }
  check(tables[0].length > 2 && tables[0].join('\n') === tables[1].join('\n'), 'the costs of networks differ')
  const view = await openPage(browser, site.url, { fragment: `#/network?${SMALL}&n.desk=traffic` })
  await view.page.waitForSelector('[aria-roledescription="heat map"] image', { timeout: 60_000 })
  await view.page.goto(`${site.url}#/network?${SMALL}&n.desk=simulate`)
  await view.page.waitForSelector('[aria-label=Links] tbody tr', { timeout: 60_000 })
  await view.close()
}

function file(path, name) {
  return { name, buffer: readFileSync(join(repository, path)) }
}

/** Hands files to the page as a drop does. */
async function drop(page, files) {
  const transfer = await page.evaluateHandle(
    (all) => {
      const transfer = new DataTransfer()
      for (const { name, text } of all) transfer.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name))
      return transfer
    },
    files.map(({ name, buffer }) => ({ name, text: buffer.toString('base64') })),
  )
  await page.dispatchEvent('body', 'dragenter', { dataTransfer: transfer })
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
}

/** A launch file, a config.json and a log open where they belong. */
async function drops() {
  const view = await openPage(browser, site.url, { fragment: '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=64' })
  const { page } = view
  await page.waitForSelector('.headline .value', { timeout: 60_000 })
  await drop(page, [file('examples/launch/llama3_70b.sh', 'llama3_70b.sh')])
  await page.waitForFunction(() => location.hash.includes('llama3_70b.sh'), null, { timeout: 30_000 })
  await page.waitForSelector('.headline .value', { timeout: 30_000 })
  await drop(page, [file('catalog/models/gemma-2-9b.json', 'config.json')])
  await page.waitForFunction(() => location.hash.includes('config.json'), null, { timeout: 30_000 })
  await page.waitForSelector('.headline .value', { timeout: 30_000 })
  await drop(page, [file('fixtures/traces/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz', 'train.log.gz')])
  await page.waitForFunction(() => location.hash.includes('train.log.gz'), null, { timeout: 30_000 })
  await page.click('text=Step times of this log')
  await page.waitForFunction(() => location.hash.startsWith('#/log'), null, { timeout: 30_000 })
  await page.waitForSelector('.opened', { timeout: 30_000 })
  await view.settled()
  await view.close()
}

/** Dropped traces of four ranks are profiled here; SQL is not offered. */
async function traces() {
  const view = await openPage(browser, site.url, { fragment: '#/traces' })
  const { page } = view
  await page.waitForSelector('text=Files are read in this browser', { timeout: 60_000 })
  const names = [0, 1, 2, 3].map((rank) => `rank${rank}_step5.pt.trace.json.gz`)
  await drop(
    page,
    names.map((name) => file(join(TRACES, name).slice(repository.length), name)),
  )
  await page.waitForSelector('text=Step breakdown', { timeout: 120_000 })
  check((await page.getByRole('tab', { name: 'SQL' }).count()) === 0, 'SQL is offered')
  await page.getByRole('tab', { name: 'Stragglers' }).click()
  await page.waitForSelector('text=All ranks', { timeout: 60_000 })
  await view.close()
}

/** What is not read in a browser is named. */
async function refuses() {
  const view = await openPage(browser, site.url, { fragment: '#/traces' })
  const { page } = view
  await page.waitForSelector('text=Files are read in this browser', { timeout: 60_000 })
  await drop(page, [{ name: 'report.sqlite', buffer: Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(4096)]) }])
  await page.waitForSelector('text=Parquet and SQLite files are not read in the browser', { timeout: 60_000 })
  await view.close()
}
