// The network view: every desk opened by key, the heat map walked, a dimension chosen, designs compared, the co-design stopped and loaded.
import { readFile } from 'node:fs/promises'
import { check, openPage, pictures } from '../harness.mjs'

const RUN = 'model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&tp=8&pp=16&uneven-stages=true&global-batch=512'
const SMALL = 'model=llama-3.1-8b&cluster=dgx-h100&gpus=64&global-batch=512&n.space=vp=1+cp=1&n.domains=8,64'

const DESKS = [
  { desk: 'topology', ready: '.drawing svg rect' },
  { desk: 'traffic', ready: '[aria-roledescription="heat map"] image' },
  { desk: 'cost', ready: '[aria-label=Costs] tbody tr' },
  { desk: 'simulate', ready: '[aria-label=Links] tbody tr' },
  { desk: 'failures', ready: '[aria-label="Designs compared"] tbody tr' },
  { desk: 'paper', ready: '[aria-label=Targets] tbody tr' },
]

export default async function ({ browser, url }) {
  await byKeys(browser, url)
  await heatMap(browser, url)
  await codesign(browser, url)
  await byControls(browser, url)
  await fault(browser, url)
  await remedies(browser, url)
  await breakEven(browser, url)
  await linksOverTime(browser, url)
  for (const { desk, ready } of DESKS) {
    await pictures({
      browser,
      url,
      fragment: `#/network?${RUN}&n.desk=${desk}`,
      name: `network-${desk}`,
      ready: ({ page }) => page.waitForSelector(ready, { timeout: 60_000 }),
    })
  }
  await pictures({
    browser,
    url,
    fragment: `#/network?${SMALL}&n.desk=design&n.ran=1`,
    name: 'network-design',
    ready: ({ page }) => page.waitForSelector('[aria-label=Networks] tbody tr', { timeout: 120_000 }),
  })
}

async function byKeys(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/network?${RUN}` })
  const { page } = view
  await page.waitForSelector(DESKS[0].ready, { timeout: 60_000 })
  for (const [key, at] of [
    ['2', 1],
    ['3', 2],
    ['4', 3],
    ['5', 4],
    ['7', 5],
  ]) {
    await page.keyboard.press(key)
    await page.waitForSelector(DESKS[at].ready, { timeout: 60_000 })
  }
  await page.goBack()
  await page.waitForSelector(DESKS[4].ready, { timeout: 60_000 })
  // A design that cannot be: the problem is told, the page lives on.
  await page.goto(`${url}#/network?n.more=radix=many`)
  await page.waitForSelector('.problem', { timeout: 60_000 })
  await page.goto(`${url}#/network?n.kind=dragonfly&n.gpus=4096`)
  await page.waitForSelector('.drawing svg circle, .drawing svg rect', { timeout: 60_000 })
  await view.close()
}

async function heatMap(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/network?${RUN}&n.desk=traffic` })
  const { page } = view
  await page.waitForSelector('[aria-roledescription="heat map"] image', { timeout: 60_000 })
  await page.focus('[aria-roledescription="heat map"]')
  await page.keyboard.press('Home')
  await page.keyboard.press('Control+ArrowRight')
  const tip = (await page.textContent('.chart-tip:not([hidden])')) ?? ''
  check(/ranks 0 to 3 to ranks 4 to 7/.test(tip) && /GB|TB|MB/.test(tip), `the next cell with bytes is not told: ${tip}`)
  await page.click('[aria-label=Dimension] >> text=pipeline')
  await page.waitForFunction(() => location.hash.includes('n.of=pipeline'))
  await page.click('[aria-label=Cells] >> text=domains')
  await page.waitForFunction(
    () => document.querySelector('[aria-roledescription="heat map"]')?.getAttribute('aria-label')?.includes('128 by 128'),
    null,
    { timeout: 60_000 },
  )
  await page.click('[aria-label=Cells] >> text=rails')
  await page.waitForFunction(
    () => document.querySelector('[aria-roledescription="heat map"]')?.getAttribute('aria-label')?.includes('8 by 8'),
    null,
    { timeout: 60_000 },
  )
  for (const [title, caption] of [
    ['pair', 'Pairs of ranks'],
    ['domain', 'Scale-up domains'],
    ['rail', 'Rails'],
    ['link', 'Links by layer'],
  ]) {
    await page.click(`[aria-label="Traffic by"] >> text=${title}`)
    await page.waitForSelector(`[role=region][aria-label="${caption}"] tbody tr`, { timeout: 60_000 })
  }
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.click('[aria-label="Save “Traffic matrix”"]').then(() => page.click('text=Save as SVG')),
  ])
  check(saved.suggestedFilename() === 'traffic.svg', `saved as ${saved.suggestedFilename()}`)
  await view.close()
}

async function codesign(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/network?${SMALL}&n.desk=design` })
  const { page } = view
  await page.waitForSelector('text=Search networks and layouts together')
  await page.keyboard.press('r')
  await page.waitForSelector('[aria-label=Networks] tbody tr', { timeout: 120_000 })
  await page.focus('[aria-roledescription="scatter plot"]')
  await page.keyboard.press('Home')
  check(/domains of/.test((await page.textContent('.chart-tip:not([hidden])')) ?? ''), 'no network is told')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#/calculator') && location.hash.includes('tp='))
  await view.close()
}

/** A question of the co-design by controls alone: domains, speeds, topologies, a price, a restriction; the answer is a sentence. */
async function byControls(browser, url) {
  const view = await openPage(browser, url, {
    fragment: '#/network?model=llama-3.1-8b&cluster=dgx-h100&gpus=64&global-batch=512&n.desk=design',
  })
  const { page } = view
  await page.waitForSelector('text=Search networks and layouts together')
  const add = async (name, values) => {
    const group = page.getByRole('group', { name, exact: true })
    for (const value of values) {
      await group.getByRole('spinbutton').fill(value)
      await group.getByRole('button', { name: `Add to ${name}` }).click()
    }
  }
  await add('Domains', ['8', '64'])
  await add('NIC speeds', ['200', '400'])
  await page.getByRole('spinbutton', { name: 'Oversubscription' }).fill('1')
  await page.keyboard.press('Enter')
  for (const name of ['Clos', 'rail-only'])
    await page.getByRole('group', { name: 'Topologies' }).getByRole('button', { name, exact: true }).click()
  for (const name of ['vp', 'cp']) {
    await page.getByLabel('Restrict layouts to').last().selectOption(name)
    await page.getByRole('group', { name, exact: true }).getByRole('button', { name: '1', exact: true }).click()
  }
  const hash = decodeURIComponent(await page.evaluate(() => location.hash))
  for (const part of ['n.domains=8,64', 'n.speeds=200G,400G', 'n.oversubscriptions=1', 'n.topologies=clos,rail-only', 'n.space=vp=1+cp=1'])
    check(hash.includes(part), `${hash} lacks ${part}`)
  await page
    .getByRole('button', { name: /^Search/ })
    .first()
    .click()
  const answer = page.getByRole('region', { name: 'Answer' })
  await answer.waitFor({ timeout: 120_000 })
  const sentence = await answer.innerText()
  check(/Lowest cost per token: Clos, rail-only with domains of 8 at 200 Gbit\/s/.test(sentence), `the answer is ${sentence}`)
  check(/cannot distinguish/.test(sentence) && !sentence.includes('--'), `the answer is ${sentence}`)
  // Networks without a price for their domain have no cost per token beside the cheapest.
  const lines = page.getByRole('region', { name: 'Networks', exact: true })
  const row = lines.locator('tbody tr', { hasText: '≥' }).first()
  check(/unknown/.test(await row.innerText()), `a domain without a price has a cost: ${await row.innerText()}`)
  check((await lines.locator('details').count()) === 1, 'what decides nothing is not folded')
  await page.getByRole('button', { name: 'Add their prices' }).click()
  await page.getByLabel('Extra price per device in domains of 64').fill('2500')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.includes('n.scale-up=64=2500') || location.hash.includes('n.scale-up=64%3D2500'))
  await page.getByRole('button', { name: 'Search again' }).click()
  await page.waitForFunction(() => !document.querySelector('.outdated') && !document.body.textContent.includes('no known price'), null, {
    timeout: 120_000,
  })
  check((await lines.locator('tbody tr', { hasText: '≥' }).count()) === 0, 'a price is not taken')
  // The strategy of a network is loaded with the network that it was found on.
  await answer.getByRole('button', { name: 'Load its layout' }).click()
  await page.waitForFunction(
    () =>
      location.hash.startsWith('#/calculator') &&
      location.hash.includes('network-bandwidth=200G') &&
      location.hash.includes('scale-up-domain='),
  )
  await page.waitForSelector('.headline, [aria-label="Step"], .problem', { timeout: 60_000 })
  check((await page.locator('.problem').count()) === 0, 'the calculator refuses the strategy of a network')
  await view.close()
}

/** A simulated fault by controls alone: the parts are those of the design, and a number beyond them is not taken. */
async function fault(browser, url) {
  const view = await openPage(browser, url, {
    fragment: '#/network?model=llama-3.1-70b&cluster=dgx-h100&gpus=256&tp=8&pp=4&global-batch=512&n.desk=simulate',
  })
  const { page } = view
  await page.waitForSelector('[aria-label=Links] tbody tr', { timeout: 60_000 })
  const before = await page.locator('[aria-label=Step] .figures').innerText()
  const add = page.getByLabel('Failed parts').last()
  await page.waitForFunction(() => [...document.querySelectorAll('option')].some((one) => one.value === 'leaf'))
  await add.selectOption('leaf')
  await page.waitForFunction(() => /n.fail=leaf(:|%3A)0/.test(location.hash))
  await page.waitForFunction((text) => document.querySelector('[aria-label=Step] .figures')?.innerText !== text, before, {
    timeout: 60_000,
  })
  await page.waitForSelector('text=failed parts')
  const number = page.getByLabel('Number of the failed leaf')
  await number.fill('9999')
  await page.keyboard.press('Enter')
  check((await number.getAttribute('aria-invalid')) === 'true', 'a leaf that the network lacks is taken')
  check(!(await page.evaluate(() => location.hash)).includes('9999'), 'a leaf that the network lacks is in the address')
  await page.getByRole('button', { name: 'Repair leaf 0' }).click()
  await page.waitForFunction((text) => document.querySelector('[aria-label=Step] .figures')?.innerText === text, before, {
    timeout: 60_000,
  })
  await view.close()
}

/** A refused run and a speed without a price: the page names its own controls, and its buttons apply the remedy. */
async function remedies(browser, url) {
  const view = await openPage(browser, url, {
    fragment: '#/network?model=llama-3.1-405b&cluster=dgx-h100&gpus=64&tp=8&pp=8&global-batch=64&n.desk=simulate',
  })
  const { page } = view
  const problem = page.locator('.problem')
  await problem.waitFor({ timeout: 60_000 })
  check(!(await problem.innerText()).includes('--'), `a refusal names a flag: ${await problem.innerText()}`)
  await problem.getByRole('button', { name: /uneven stages/ }).click()
  await page.waitForFunction(() => location.hash.includes('uneven-stages=true'))
  await page.goto(`${url}#/network?model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&n.desk=cost&n.speed=3200G`)
  await problem.waitFor({ timeout: 60_000 })
  check(/price list/.test(await problem.innerText()), `no price list is named: ${await problem.innerText()}`)
  const list = 'item,part,usd\nswitch-port,3200,5000\nnic,3200,9000\ntransceiver,3200,4000\nswitch-port,800,1100\n'
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: /Open a price list/ }).click()])
  await chooser.setFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from(list) })
  await page.getByRole('button', { name: 'Remove mine.csv' }).waitFor({ timeout: 60_000 })
  await page.waitForFunction(() => !document.querySelector('.problem')?.textContent.includes('switch port of 3200'), null, {
    timeout: 60_000,
  })
  await view.close()
}

/** The chart marks today's prices, and there it has the table's figures. */
async function breakEven(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/network?model=llama-3.1-405b&cluster=dgx-h100&gpus=16384&n.desk=cost' })
  const { page } = view
  await page.waitForSelector('[aria-label=Break-even] text:has-text("today")', { timeout: 60_000 })
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.click('[aria-label="Save “Break-even”"]').then(() => page.click('[role=menuitem]:has-text("Save as CSV")')),
  ])
  const rows = (await readFile(await file.path(), 'utf8'))
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split(','))
  const at = rows[0].indexOf('dual-plane')
  const charted = `${(Number(rows.find(([factor]) => factor === '1')[at]) * 100).toFixed(1)}%`
  const told = await page.locator('[aria-label=Costs] tbody tr', { hasText: 'dual-plane' }).innerText()
  check(told.includes(charted), `the chart has ${charted} at today’s prices, the table ${told}`)
  await view.close()
}

/** Links over the step: rows of each layer, values by arrow keys, all listed links, the file. */
async function linksOverTime(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/network?${RUN}&n.desk=simulate` })
  const { page } = view
  const chart = page.locator('.chart', { hasText: 'Links over the step' })
  const map = chart.locator('svg.chart-svg')
  await map.waitFor({ timeout: 60_000 })
  const rows = async () => Number(/: (\d+) rows/.exec((await map.getAttribute('aria-label')) ?? '')?.[1])
  const few = await rows()
  await map.focus()
  await page.keyboard.press('ArrowRight')
  check(/capacity|load/.test(await chart.locator('.chart-tip').innerText()), 'the tip lacks the load')
  await page.keyboard.press('Escape')
  await chart.getByRole('button', { name: 'all listed' }).click()
  await page.waitForFunction(() => location.hash.includes('n.links=all'))
  check((await rows()) > few, 'all listed links are no more than the busiest')
  await page.click('[aria-label="Save “Links over the step”"]')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[role=menuitem]:has-text("Save as CSV")')])
  const lines = (await readFile(await download.path(), 'utf8')).split('\n')
  check(
    lines.some((line) => line.startsWith('layer,link,from_s,to_s,busy')),
    `the file begins with ${lines[0]}`,
  )
  await view.close()
}
