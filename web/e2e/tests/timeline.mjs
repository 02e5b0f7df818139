// The timeline of the pipeline view: steered by keys and mouse, read by screen readers, saved as files; and its frames
// measured with a million spans: 16 stages of 2,560 micro-batches with their operators.
import { readFileSync } from 'node:fs'
import { check, openPage, pictures } from '../harness.mjs'

const RUN = 'model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&tp=8&pp=16&uneven-stages=true'
const SMALL = `#/pipeline?${RUN}&global-batch=256`
const LARGE = `#/pipeline?${RUN}&global-batch=20480&p.detail=operators`
const HOST = '[data-testid=timeline]'

/** What measures times. */
export const alone = async ({ browser, url }) => frames(browser, url)

export default async ({ browser, url }) => {
  await empty(browser, url)
  await steered(browser, url)
  await layers(browser, url)
  await files(browser, url)
  await pictures({ browser, url, fragment: SMALL, name: 'pipeline', ready: ({ page }) => page.waitForSelector(HOST, { timeout: 30_000 }) })
}

async function empty(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/pipeline' })
  await view.page.click('text=Show an example')
  await view.page.waitForSelector(HOST, { timeout: 30_000 })
  check((await view.page.evaluate(() => location.hash)).includes('pp=16'), 'the example is in the address')
  await view.close()
}

async function steered(browser, url) {
  const view = await openPage(browser, url, { fragment: SMALL })
  const { page } = view
  await page.waitForSelector(HOST, { timeout: 30_000 })
  await view.settled()
  const sight = () => page.evaluate((host) => ({ ...document.querySelector(host).controller.sight.view }), HOST)
  const said = () => page.locator('.timeline-spoken[aria-live]').textContent()
  const whole = await sight()
  const box = await page.locator(HOST).boundingBox()
  await page.mouse.move(box.x + box.width / 2, box.y + 120)
  await page.keyboard.down('w')
  // On a busy machine there are few frames; zooming goes by them.
  for (let wait = 0; wait < 50 && (await sight()).to > 0.7 * whole.to; wait++) await page.waitForTimeout(100)
  await page.keyboard.up('w')
  await page.waitForTimeout(400)
  const near = await sight()
  check(near.to - near.from < 0.8 * (whole.to - whole.from), 'w zooms in')
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2 - 200, box.y + 120, { steps: 5 })
  await page.mouse.up()
  check((await sight()).from > near.from, 'dragging to the left shows what is later')
  await page.keyboard.press('0')
  await page.waitForTimeout(400)
  await page.focus(HOST)
  await page.keyboard.press('ArrowRight')
  await page.waitForTimeout(300)
  const first = await said()
  check(/micro-batch|bubble/.test(first), `the selection is told: ${first}`)
  await page.keyboard.press('ArrowRight')
  await page.waitForTimeout(300)
  check((await said()) !== first, 'the next span is told')
  await page.keyboard.press('f')
  await page.waitForTimeout(400)
  const focused = await sight()
  check(focused.to - focused.from < 0.3 * (whole.to - whole.from), 'f focuses')
  await page.keyboard.press('m')
  await page.keyboard.press('/')
  await page.keyboard.type('attention')
  await page.keyboard.press('Enter')
  await page.waitForTimeout(300)
  check(/of/.test(await page.locator('.timeline-hits').textContent()), 'spans are found and counted')
  await page.keyboard.press('Escape')
  await page.keyboard.press('.')
  await page.waitForTimeout(300)
  check(/critical path/.test(await said()), `the critical path is followed: ${await said()}`)
  // A sequence of the page is the page's.
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForTimeout(300)
  check((await page.evaluate(() => location.hash)).startsWith('#/search'), 'g s opens the search')
  await page.goBack()
  await page.waitForSelector(HOST)
  // The table lists what is in view: all of the step again.
  await page.goto(`${url}${SMALL}`)
  await page.reload()
  await page.waitForSelector(HOST)
  await page.click('text=Table')
  await page.waitForSelector('.timeline-table tbody tr >> nth=50')
  check((await page.locator('.timeline-table tbody tr').count()) > 50, 'the table lists spans')
  await page.selectOption('.pipeline-switches select >> nth=0', 'zb-h1')
  await view.settled()
  check((await page.evaluate(() => location.hash)).includes('schedule=zb-h1'), 'the schedule is in the address')
  // What is set can be set back: auto shows the value of the plan.
  await page.getByRole('button', { name: 'reset Schedule to auto' }).click()
  await page.waitForFunction(() => !location.hash.includes('schedule='))
  await view.settled()
  check((await page.getByLabel('Schedule', { exact: true }).inputValue()) === '1f1b', 'auto does not show the schedule of the plan')
  await page.getByRole('button', { name: 'reset Global batch to auto' }).click()
  await page.waitForFunction(() => !location.hash.includes('global-batch='))
  await view.close()
}

/** Detail of layers: every layer's operators and collectives are spans of their own, with the layer in the columns. */
async function layers(browser, url) {
  const view = await openPage(browser, url, {
    fragment: '#/pipeline?model=llama-3.1-8b&cluster=dgx-h100&gpus=16&tp=2&pp=4&global-batch=32',
  })
  const { page } = view
  await page.waitForSelector(HOST, { timeout: 60_000 })
  const spans = () => page.evaluate((host) => document.querySelector(host).controller.model.spans, HOST)
  const before = await spans()
  await page.getByRole('combobox', { name: /^Detail/ }).selectOption('layers')
  await page.waitForFunction(
    ([host, least]) => location.hash.includes('p.detail=layers') && document.querySelector(host)?.controller.model.spans > least,
    [HOST, 5 * before],
    { timeout: 60_000 },
  )
  await view.settled()
  const found = await view.axe()
  check(found.length === 0, `layers:\n  ${found.join('\n  ')}`)
  await view.close()
}

async function files(browser, url) {
  const view = await openPage(browser, url, { fragment: SMALL })
  const { page } = view
  await page.waitForSelector(HOST, { timeout: 30_000 })
  for (const [suffix, begins] of [
    ['PNG', '\x89PNG'],
    ['SVG', '<svg'],
    ['CSV', '# Timeline: '],
  ]) {
    await page.click('.timeline-save button')
    const [file] = await Promise.all([page.waitForEvent('download'), page.click(`text=Save as ${suffix}`)])
    const text = readFileSync(await file.path(), 'latin1')
    check(text.startsWith(begins) && text.length > 1000, `${suffix}: ${text.slice(0, 40)}`)
    // A file is read alone: its title, colours, run and date.
    if (suffix === 'PNG') continue
    const today = new Date().toISOString().slice(0, 10)
    for (const part of [
      'Timeline',
      'model llama',
      `(Railwright, ${today})`,
      ...(suffix === 'SVG' ? ['>forward<', '>bubble<'] : ['\ngroup,track']),
    ])
      check(text.includes(part), `${suffix} lacks ${part}: ${text.slice(0, 400)}`)
  }
  await view.close()
}

/** Median and 95th percentile of sorted numbers. */
function quantiles(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return [at(0.5), at(0.95)]
}

async function frames(browser, url) {
  const view = await openPage(browser, url, { fragment: LARGE })
  const { page } = view
  await page.waitForSelector(HOST, { timeout: 120_000 })
  await view.settled()
  const spans = await page.evaluate(
    (host) => document.querySelector(host).controller.model.tracks.reduce((sum, track) => sum + track.count, 0),
    HOST,
  )
  check(spans > 1_000_000, `${spans} spans are too few for this measurement`)
  const box = await page.locator(HOST).boundingBox()
  await page.mouse.move(box.x + box.width * 0.4, box.y + 150)
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busy = async () => (await client.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value * 1000
  console.log(`     timeline: ${spans.toLocaleString('en')} spans; frame interval and drawing, median / p95; main thread a frame`)
  const costs = []
  for (const open of [false, true]) {
    if (open) await page.keyboard.press('e')
    await page.waitForTimeout(300)
    for (const [name, key] of [
      ['zooming in', 'w'],
      ['panning', 'd'],
      ['zooming out', 's'],
    ]) {
      await page.evaluate((host) => {
        const times = []
        const { controller } = document.querySelector(host)
        globalThis.measured = { times, on: true, first: controller.frames }
        const tick = (time) => {
          times.push(time)
          if (globalThis.measured.on) requestAnimationFrame(tick)
        }
        requestAnimationFrame(tick)
      }, HOST)
      const before = await busy()
      await page.keyboard.down(key)
      await page.waitForTimeout(1500)
      await page.keyboard.up(key)
      const after = await busy()
      const found = await page.evaluate((host) => {
        const { controller } = document.querySelector(host)
        const { times, first } = globalThis.measured
        globalThis.measured.on = false
        const drawn = Math.min(controller.frames - first, controller.costs.length)
        return {
          intervals: times.slice(1).map((time, at) => time - times[at]),
          costs: Array.from({ length: drawn }, (_, at) => controller.costs[(controller.frames - 1 - at) % controller.costs.length]),
        }
      }, HOST)
      const [interval, slow] = quantiles(found.intervals)
      const [cost, dear] = quantiles(found.costs)
      costs.push(cost)
      console.log(
        `     ${open ? 'all streams' : 'passes'}, ${name}: ${interval.toFixed(1)} / ${slow.toFixed(1)} ms, drawing ${cost.toFixed(2)} / ${dear.toFixed(2)} ms, ${((after - before) / Math.max(1, found.costs.length)).toFixed(2)} ms`,
      )
    }
    await page.keyboard.press('0')
    await page.waitForTimeout(400)
  }
  // A frame has 16.7 ms; the median must leave room even on a busy machine.
  check(Math.max(...costs) < 12, `drawing takes ${Math.max(...costs).toFixed(1)} ms`)
  await view.close()
}
