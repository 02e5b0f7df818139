// axe, cut and overlapping texts and the widths of a screen for every view, desk and tab, in light and dark, with everything open that can be
// folded.
import { join } from 'node:path'
import { check, drawn, openPage, repository } from '../harness.mjs'

const FIXTURES = join(repository, 'fixtures')
const TRACES = join(FIXTURES, 'traces/generated_torch215_gloo_pp2dp2')
export const serve = [FIXTURES]

const RUN = 'model=llama-3.1-70b&cluster=dgx-h100&gpus=64&tp=4&pp=2&tokens=1T'
const desks = ['topology', 'traffic', 'cost', 'simulate', 'failures', 'design', 'paper']
const tabs = ['overview', 'timeline', 'ranks', 'origins', 'communication', 'stragglers', 'roofline', 'query', 'compare']
const pages = ['models', 'accelerators', 'clusters', 'examples', 'words', 'keys', 'detected', 'validation', 'calibration']
const PLACES = [
  ...['calculator', 'search', 'whatif', 'machines', 'pipeline'].flatMap((view) => [`${view}`, `${view}?${RUN}`]),
  `calculator?${RUN}&b.tp=8`,
  'calculator?model=no-such-model&cluster=dgx-h100',
  ...desks.map((desk) => `network?${RUN}&n.desk=${desk}`),
  ...tabs.map((tab) => `traces?t.path=${TRACES}&t.tab=${tab}`),
  `traces?${RUN}&t.path=${TRACES}&t.run=1`,
  ...['traces', 'log', 'snapshot', 'hang'].flatMap((view) => [
    view,
    `${view}?${{ traces: 't', log: 'l', snapshot: 'y', hang: 'h' }[view]}.path=/nowhere/megatron_deepspeed_gpt3_0.125B_of_a_long_name.log.gz`,
  ]),
  ...pages.map((tab) => `reference?r.tab=${tab}`),
]

/** What the check of texts is for, planted: it must find each of these, and nothing that can be read. */
async function planted(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/reference' })
  await view.settled()
  const text = 'a text of some length that has no room'
  await view.page.evaluate((text) => {
    const holder = document.createElement('div')
    const tight = 'overflow-y:hidden;width:60px;white-space:nowrap'
    holder.innerHTML = `
      <p style="${tight};overflow-x:hidden">${text}</p>
      <p style="${tight};overflow-x:hidden" title="${text}">${text}</p>
      <p style="${tight};overflow-x:auto">${text}</p>
      <input placeholder="${text}" style="width:60px" aria-label="field">
      <div style="position:relative;height:40px"><span style="position:absolute">one</span><span style="position:absolute">two</span></div>`
    document.querySelector('main').replaceChildren(holder)
  }, text)
  const found = await view.cut()
  const kinds = found.map((line) => line.split(' ')[2] + (/input/.test(line) ? 'field' : ''))
  check(kinds.sort().join() === 'cut:,cut:field,over:', `of the planted faults were found:\n  ${found.join('\n  ')}`)
  await view.close()
}

export default async ({ browser, url }) => {
  await planted(browser, url)
  const wrong = []
  for (const [size, scheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ]) {
    const view = await openPage(browser, url, { size, scheme })
    const { page } = view
    for (const place of PLACES) {
      const name = `${place.replace(TRACES, '…')} ${size} ${scheme}`
      await page.evaluate((to) => (location.hash = to), `#/${place}`)
      await view.settled().catch(() => wrong.push(`${name}: busy`))
      await page
        .waitForFunction(() => !document.querySelector('.skeleton'), null, { timeout: 60_000 })
        .catch(() => wrong.push(`${name}: grey`))
      await page.evaluate(() => document.querySelectorAll('main details').forEach((one) => (one.open = true)))
      await drawn(page)
      // Before axe, whose checks scroll.
      wrong.push(...(await view.cut(size === 'desktop' ? [1440, 1024] : [768])).map((line) => `${name}: ${line}`))
      wrong.push(...(await view.axe()).map((line) => `${name}: ${line}`))
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      if (over > 0) wrong.push(`${name}: ${over} px wider than the screen`)
    }
    await view.close()
  }
  check(wrong.length === 0, [...new Set(wrong)].join('\n'))
}
