// The modelled timeline beyond bars: what a bubble waits for, one micro batch on all stages, a pinned row, memory as a counter; and all of it
// in the address, so that a link shows the same.
import { check, openPage } from '../harness.mjs'

const RUN = '#/pipeline?model=llama-3.1-8b&cluster=dgx-h100&gpus=16&tp=2&pp=4&global-batch=32'
const HOST = '[data-testid=timeline]'

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: `${RUN}&p.detail=operators` })
  const { page } = view
  await page.waitForSelector(HOST, { timeout: 60_000 })
  await view.settled()
  await page.keyboard.press('e')
  const seen = await page.evaluate((host) => {
    const { controller } = document.querySelector(host)
    const { model } = controller
    const kinds = [...model.arrows.kind].map((kind) => model.arrows.kinds[kind])
    const bubble = [...model.arrows.kind.keys()].find((at) => kinds[at] === 'awaited')
    if (bubble !== undefined) controller.select({ track: model.arrows.toTrack[bubble], span: model.arrows.toSpan[bubble] }, true)
    return {
      kinds: [...new Set(kinds)],
      tracks: [...new Set(model.tracks.map((track) => track.name))],
      counters: model.counters.map((counter) => `${counter.name} ${counter.unit} ${counter.most > 1e9}`),
      awaited:
        bubble === undefined
          ? null
          : { rank: model.tracks[model.arrows.fromTrack[bubble]].rank, own: model.tracks[model.arrows.toTrack[bubble]].rank },
    }
  }, HOST)
  check(seen.kinds.includes('message') && seen.kinds.includes('awaited'), `arrows are ${seen.kinds}`)
  check(seen.tracks.includes('passes'), `tracks are ${seen.tracks}`)
  check(seen.counters.length === 4 && seen.counters.every((one) => one === 'memory B true'), `counters are ${seen.counters}`)
  check(seen.awaited.rank !== seen.awaited.own, 'a bubble waits for another rank')
  await page.waitForSelector('.timeline-links:has-text("waits for") button')
  const link = await page.locator('.timeline-links:has-text("waits for") button').first().innerText()
  check(/^(forward|backward) \d+, stage \d+$/.test(link), `a bubble waits for “${link}”, which is no pass`)
  await view.shot('timeline-bubble')
  // Along the arrow to what was waited for: a pass, whose micro batch is lit on all rows.
  await page.locator('.timeline-links:has-text("waits for") button').first().click()
  await page.waitForSelector('.timeline-do button:has-text("Micro-batch")')
  await page.keyboard.press('b')
  await page.keyboard.press('p')
  await page.waitForFunction(() => /p\.mb=\d+/.test(location.hash) && /p\.pins=\d+/.test(location.hash) && /p\.sel=/.test(location.hash))
  const lit = await page.evaluate((host) => {
    const { controller } = document.querySelector(host)
    return new Set(controller.model.tracks.filter((track) => track.flags.some((flag) => flag & 4)).map((track) => track.stage)).size
  }, HOST)
  check(lit === 4, `the micro batch is lit on ${lit} of 4 stages`)
  await view.shot('timeline-lit')
  // A link of it shows the same in another window.
  const hash = await page.evaluate(() => location.hash)
  const other = await openPage(browser, url, { fragment: hash, scheme: 'dark' })
  await other.page.waitForSelector('.timeline-selected', { timeout: 60_000 })
  await other.settled()
  const state = (one) =>
    one.evaluate((host) => {
      const { lit: batch, pins, selection } = document.querySelector(host).controller
      // The arrow that was followed to the span is not part of the link.
      return JSON.stringify([batch.value, pins.value, selection.value?.track, selection.value?.span])
    }, HOST)
  check((await state(other.page)) === (await state(page)), `${await state(other.page)} is not ${await state(page)}`)
  check((await other.axe()).length === 0, `timeline: ${await other.axe()}`)
  await other.close()
  // Escape puts it out, and the address follows.
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !/p\.mb=/.test(location.hash))
  await view.close()
}
