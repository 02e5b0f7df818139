// The trace explorer on real traces of four ranks: every tab, the way from a finding to its place, questions in SQL.
import { join } from 'node:path'
import { check, openPage, pictures, repository } from '../harness.mjs'

const TRACES = join(repository, 'fixtures/traces/generated_torch215_gloo_pp2dp2')
const PIPELINE = join(repository, 'fixtures/traces/primus_pp8_mi300')
export const serve = [TRACES, PIPELINE]

const at = (tab, more = '') => `#/traces?t.path=${encodeURIComponent(TRACES)}${tab === 'overview' ? '' : `&t.tab=${tab}`}${more}`

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: '#/traces' })
  const { page } = view
  // The jobs that the given folders hold: profiler's traces, dumps and timers each where they belong.
  await page.waitForSelector('.open-jobs tbody tr')
  check((await view.axe()).length === 0, `jobs: ${await view.axe()}`)
  await page.locator('section[aria-label=Jobs] tbody tr', { hasText: 'rank*_step5' }).first().focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=Step breakdown', { timeout: 60_000 })
  const tree = page.locator('[role=tree]')
  const before = await tree.locator('[role=treeitem]').count()
  await tree.locator('[role=treeitem]').first().focus()
  await page.keyboard.press('ArrowRight')
  check((await tree.locator('[role=treeitem]').count()) > before, 'the tree opens by key')
  await page.locator('text=Show on the timeline').first().click()
  await page.waitForSelector('[data-testid=timeline]', { timeout: 60_000 })
  await page.waitForFunction((host) => document.querySelector(host)?.controller?.range.value, '[data-testid=timeline]')
  await view.settled()
  check((await page.evaluate(() => location.hash)).includes('t.finding='), 'the finding is in the address')
  const range = await page.evaluate(() => document.querySelector('[data-testid=timeline]').controller.range.value)
  check(range !== null && range.to > range.from, 'the place of the finding is marked')
  await page.goBack()
  await page.waitForSelector('text=Step breakdown')
  for (const [tab, text] of [
    ['ranks', 'Labels over ranks'],
    ['origins', 'of the step has a module'],
    ['communication', 'By group and operation'],
    ['stragglers', 'All ranks'],
    ['compare', 'Against'],
  ]) {
    await page.evaluate((hash) => (location.hash = hash), at(tab).slice(1))
    await page.waitForSelector(`text=${text}`, { timeout: 60_000 })
  }
  // What the job is: the layout and the run of the calculator, as options of the command line.
  await page.evaluate((hash) => (location.hash = hash), at('overview', '&model=llama-3-8b&cluster=dgx-h100&gpus=4').slice(1))
  await page.waitForSelector('.traces-head')
  check(!(await page.locator('.traces-head').innerText()).includes('MFU'), 'there is an MFU without a run')
  await page.locator('.traces-job > summary').click()
  await page.getByLabel(/The calculator’s run/).check()
  // The FLOPs of that run exceed what the devices of this job can do, so they are not its own.
  await page.waitForSelector('text=there is no MFU', { timeout: 60_000 })
  // Sizes of the layout by controls, the innermost first.
  for (const name of ['DP', 'PP']) {
    await page.getByRole('combobox', { name: 'Layout' }).click()
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await page.getByRole('group', { name, exact: true }).getByRole('spinbutton').fill('2')
    await page.keyboard.press('Enter')
  }
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('t.layout=dp=2,pp=2'))
  await view.settled()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy as command' }).click()
  const line = await page.evaluate(() => navigator.clipboard.readText())
  for (const part of ['railwright profile', '--run llama-3-8b', '--cluster dgx-h100', '--gpus 4', '--layout dp=2,pp=2'])
    check(line.includes(part), `${line} lacks ${part}`)
  // A launch file as the run of the job: its cluster is a field, and the prediction is drawn beneath.
  await page.getByLabel(/The calculator’s run/).uncheck()
  await page.locator('.traces-job input[type=file]').setInputFiles(join(repository, 'examples/launch/llama3_70b.sh'))
  await page.waitForSelector('.job-file:has-text("llama3_70b.sh")')
  await page.getByRole('combobox', { name: 'Cluster' }).click()
  await page.keyboard.type('dgx-h100')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => /t\.file=/.test(location.hash) && location.hash.includes('t.cluster=dgx-h100'))
  await view.settled()
  check((await page.locator('.traces-job > summary').innerText()).includes('llama3_70b.sh'), 'the file is not named')
  for (const end of ['First step', 'Last step']) {
    await page.getByLabel(end, { exact: true }).fill('3')
    await page.keyboard.press('Enter')
    await view.settled()
  }
  await page.waitForFunction(() => location.hash.includes('t.only=3'))
  await view.settled()
  check((await view.axe()).length === 0, `job: ${await view.axe()}`)
  await page.getByRole('button', { name: 'Copy as command' }).click()
  const own = await page.evaluate(() => navigator.clipboard.readText())
  for (const part of ['llama3_70b.sh', '--cluster dgx-h100', '--step 3']) check(own.includes(part), `${own} lacks ${part}`)
  await page.getByRole('button', { name: 'Remove llama3_70b.sh' }).click()
  await page.waitForFunction(() => !/t\.(file|cluster)=/.test(location.hash))
  // Measured against the calculator's run, without a path.
  await page.getByRole('tab', { name: 'Compare' }).click()
  await page.getByRole('button', { name: 'The calculator’s run' }).click()
  await page.waitForSelector('.traces-verdict', { timeout: 60_000 })
  // Ranks over steps: another measure is in the address, and a cell leads to its place by key.
  await page.evaluate((hash) => (location.hash = hash), at('ranks').slice(1))
  const map = page.locator('section[aria-label="Ranks over steps"]')
  await map.getByRole('button', { name: 'Waits caused' }).click()
  check((await page.evaluate(() => location.hash)).includes('t.heat=waiting_caused'), 'the measure is in the address')
  await map.locator('svg.chart-svg').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.waitForFunction(
    () => /t\.tab=timeline/.test(location.hash) && /t\.rank=/.test(location.hash) && /t\.step=/.test(location.hash),
  )
  // Time by module: annotations stand for modules here; no line of Python was recorded.
  await page.evaluate((hash) => (location.hash = hash), at('origins').slice(1))
  await page.locator('[aria-label="Time by location"] tbody tr', { hasText: 'train_step/forward_backward' }).first().waitFor()
  await page.getByRole('button', { name: 'Source lines' }).click()
  await page.waitForSelector('text=No source lines were recorded', { timeout: 60_000 })
  check((await page.evaluate(() => location.hash)).includes('t.by=source'), 'the kind is in the address')
  await page.evaluate((hash) => (location.hash = hash), at('query').slice(1))
  await page.waitForSelector('#traces-sql')
  await page.fill('#traces-sql', 'SELECT rank, count(*) AS n FROM gpu GROUP BY rank')
  await page.keyboard.press('Control+Enter')
  await page.waitForSelector('section[aria-label=Answer]', { timeout: 60_000 })
  await page.fill('#traces-sql', 'SELEKT 1')
  await page.keyboard.press('Control+Enter')
  await page.waitForSelector('[role=alert]', { timeout: 60_000 })
  await page.waitForSelector('section[aria-label=Answer].stale:has-text("of the previous query")')
  // A part under its title, and one that does not exist.
  await page.evaluate((hash) => (location.hash = hash), at('sql').slice(1))
  await page.waitForSelector('#traces-sql')
  await page.evaluate((hash) => (location.hash = hash), at('nowhere').slice(1))
  await page.waitForSelector('text=the tab “nowhere”, which does not exist')
  // A cost that several findings contain is marked, and the sum has it once.
  await page.waitForSelector('.traces-cost:has-text("is also in other findings")')
  check(/findings together: at most .* per step/.test(await page.locator('.traces-joint').innerText()), 'the joint cost is not shown')
  check((await page.locator('.traces-head').innerText()).includes('limited by'), 'the limiting parts are not shown')
  await view.close()
  for (const tab of ['overview', 'timeline', 'ranks', 'origins', 'communication', 'stragglers', 'query']) {
    await pictures({
      browser,
      url,
      fragment: at(tab),
      name: `traces-${tab}`,
      ready: async ({ page: shown }) => {
        await shown.waitForSelector('#traces-tab', { timeout: 60_000 })
        await shown.waitForFunction(() => !document.querySelector('#traces-tab .skeleton'), null, { timeout: 60_000 })
      },
    })
  }
  const measured = `#/pipeline?p.trace=${encodeURIComponent(PIPELINE)}`
  await pictures({
    browser,
    url,
    fragment: measured,
    name: 'pipeline-measured',
    ready: ({ page: shown }) => shown.waitForSelector('[data-testid=timeline]', { timeout: 60_000 }),
  })
}
