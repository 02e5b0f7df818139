// Settings of a job: devices of several kinds in every view, a range of steps, counters of devices beside a step,
// the map of ranks by layout, and waits of stages.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, openPage, repository, startServer } from '../harness.mjs'
import { manyRanks } from '../ranks.mjs'

const TRACES = join(repository, 'fixtures/traces')

export default async ({ browser, url, binary }) => {
  await kinds(browser, url)
  await waits(browser, url)
  await map(browser, binary)
  const folder = mkdtempSync(join(tmpdir(), 'railwright-counters-'))
  try {
    withCounters(folder)
    const server = await startServer(binary, [folder, TRACES])
    try {
      await counters(browser, server.url, folder)
      await steps(browser, server.url)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const RUN = 'model=llama-3-8b&cluster=dgx-h100&gpus=32&tp=4&pp=4&global-batch=64'

/** A second kind of devices is added, sized, named, kept by the other views, and removed. */
async function kinds(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/calculator?${RUN}` })
  const { page } = view
  await page.waitForSelector('.headline .value')
  await view.settled()
  const equal = await page.locator('.headline .value').first().innerText()
  check((await page.locator('.summary').innerText()).includes('32 × H100'), 'the job has another size')
  await page.locator('details.pools summary').click()
  const field = page.getByRole('combobox', { name: 'Devices of other kinds' })
  await field.click()
  await field.fill('dgx-a100')
  await page.keyboard.press('Enter')
  await view.settled()
  check((await page.evaluate(() => location.hash)).includes('pools=dgx-a100'), 'the kind is not in the address')
  const summary = await page.locator('.summary').innerText()
  check(/16 × H100.*\+ 16 × A100/.test(summary), `the job is called ${summary}`)
  check((await page.locator('details.pools').innerText()).includes('Ranks 16 to 31: A100'), 'the ranks of the kind are not named')
  const mixed = await page.locator('.headline .value').first().innerText()
  check(mixed !== equal, `the slower devices leave the step at ${equal}`)
  const amount = page.getByRole('spinbutton', { name: 'Number of dgx-a100 devices' })
  await amount.fill('8')
  await page.keyboard.press('Enter')
  await view.settled()
  check(/24 × H100.*\+ 8 × A100/.test(await page.locator('.summary').innerText()), 'the number of devices has no effect')
  check((await view.axe()).length === 0, `kinds of devices: ${await view.axe()}`)
  // The other views speak about the same job.
  for (const name of ['Pipeline', 'Search', 'What-if']) {
    await page.locator('.views').getByRole('link', { name, exact: true }).click()
    await view.settled()
    const hash = decodeURIComponent(await page.evaluate(() => location.hash))
    check(hash.includes('pools=dgx-a100:8'), `${name} loses the kind: ${hash}`)
  }
  await page.locator('.views').getByRole('link', { name: 'Calculator', exact: true }).click()
  await page.getByRole('button', { name: 'Remove dgx-a100' }).click()
  await view.settled()
  check((await page.locator('.headline .value').first().innerText()) === equal, 'without the kind the step is another one')
  await view.close()
}

/** Each stage of a simulated step has its compute and its waits, which together are the step. */
async function waits(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/network?n.desk=simulate&${RUN.replace('gpus=32', 'gpus=64')}` })
  const { page } = view
  const panel = page.locator('.panel', { hasText: 'Stage waits' })
  await panel.waitFor()
  await view.settled()
  const bars = panel.getByRole('button', { name: /^stage \d/ })
  check((await bars.count()) === 4, `${await bars.count()} stages have waits`)
  check(/Stage \d waits .*of the step: .* of stage \d/.test(await panel.innerText()), 'the waits of the worst stage are not named')
  await bars.first().click()
  check((await panel.innerText()).includes('Stage 0 waits'), 'a chosen stage is not described')
  check((await view.axe()).length === 0, `waits: ${await view.axe()}`)
  await view.close()
}

/** Traces of two ranks with readings of an exporter during them: a clock that falls, and a network card at 50 GB/s. */
function withCounters(folder) {
  const source = join(TRACES, 'megatron_tp2_v100')
  for (const name of readdirSync(source).filter((name) => name.includes('.pt.trace.json'))) cpSync(join(source, name), join(folder, name))
  // The recording starts 1,724,066,820.05 s after 1970 and takes 66 ms.
  const start = 1_724_066_820_000
  const lines = ['# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).', '# TYPE DCGM_FI_DEV_SM_CLOCK gauge']
  for (const at of [-1000, 0, 1000, 2000]) {
    lines.push(`DCGM_FI_DEV_SM_CLOCK{gpu="0"} ${at < 0 ? 1380 : 1230} ${start + at}`)
    lines.push(`node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",port="1"} ${1e12 + at * 5e7} ${start + at}`)
  }
  writeFileSync(join(folder, 'counters.prom'), `${lines.join('\n')}\n`)
}

async function counters(browser, url, folder) {
  const view = await openPage(browser, url, { fragment: `#/traces?t.path=${encodeURIComponent(folder)}&t.tab=timeline` })
  const { page } = view
  await page.waitForSelector('[data-testid=timeline]')
  await view.settled()
  const seen = await page.evaluate(() =>
    document
      .querySelector('[data-testid=timeline]')
      .controller.model.counters.map(({ group, name, unit, most }) => `${group}: ${name} ${Math.round(most)} ${unit}`),
  )
  check(seen.includes('rank 0: SM clock 1230 MHz'), `counters are ${seen.join('; ')}`)
  check(!seen.some((one) => one.startsWith('rank 1: SM clock')), 'a rank without readings has a clock')
  check(seen.includes('rank 0: network cards of the host, sent 50000000000 B/s'), `counters are ${seen.join('; ')}`)
  await view.shot('counters')
  await view.close()
}

/** With a layout the map of ranks has its dimensions; the ranks as they were recorded are one choice away. */
async function map(browser, binary) {
  const folder = mkdtempSync(join(tmpdir(), 'railwright-map-'))
  manyRanks(folder, 16)
  const server = await startServer(binary, [folder])
  try {
    const view = await openPage(browser, server.url, { fragment: `#/traces?t.path=${encodeURIComponent(folder)}&t.tab=ranks` })
    const { page } = view
    const chart = page.locator('.chart', { hasText: 'Ranks of the job' }).first()
    await chart.waitFor({ timeout: 60_000 })
    await view.settled()
    // The groups name one of the dimensions alone, so the map is in order.
    const isByLayout = async () =>
      (await chart.getByRole('button', { name: 'By layout' }).count()) > 0 &&
      (await chart.getByRole('button', { name: 'By layout' }).getAttribute('aria-pressed')) === 'true'
    check(!(await isByLayout()), 'there is no layout yet')
    await page.evaluate(() => (location.hash += '&t.layout=tp%3D2,dp%3D4,pp%3D2'))
    await chart.getByRole('button', { name: 'By layout' }).waitFor({ timeout: 60_000 })
    await view.settled()
    check(/DP3/.test(await chart.innerText()), `the map is ${await chart.innerText()}`)
    await view.shot('map-by-layout')
    check((await view.axe()).length === 0, `map by layout: ${await view.axe()}`)
    await chart.getByRole('button', { name: 'In order' }).click()
    await view.settled()
    check(!/DP3/.test(await chart.innerText()), 'the ranks are not in order')
    // A run with more FLOPs than the devices have splits no compute.
    const run = 'model=llama-3-8b&cluster=dgx-h100&gpus=16&tp=2&t.run=1'
    await page.evaluate((of) => (location.hash = `${location.hash.replace(/&t\.(layout|map|tab)=[^&]*/g, '')}&${of}`), run)
    await page.waitForSelector('.warn:has-text("there is no MFU")', { timeout: 60_000 })
    await page.waitForSelector('text=Step breakdown')
    await view.settled()
    const breakdown = await page.locator('.chart', { hasText: 'Step breakdown' }).first().innerText()
    check(/compute/.test(breakdown) && !/ideal/.test(breakdown), `FLOPs of another job split the step: ${breakdown}`)
    await view.close()
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** "This job is" takes a range of steps, and every part of the view follows. */
async function steps(browser, url) {
  const path = join(TRACES, 'torchrec_v100_4r/resnet18')
  const view = await openPage(browser, url, { fragment: `#/traces?t.path=${encodeURIComponent(path)}` })
  const { page } = view
  await page.waitForSelector('text=Step breakdown')
  await view.settled()
  await page.locator('.traces-job > summary').click()
  const end = async (name, value) => {
    await page.getByRole('spinbutton', { name }).fill(value)
    await page.keyboard.press('Enter')
    await view.settled()
  }
  await end('First step', '2')
  await end('Last step', '3')
  check((await page.evaluate(() => location.hash)).includes('t.only=2..3'), 'the range is not in the address')
  check((await page.locator('.traces-job > summary').innerText()).includes('steps 2..3'), 'the range is not named')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.waitForSelector('[data-testid=timeline]')
  await view.settled()
  const options = await page.locator('.traces-choices select').first().locator('option').allInnerTexts()
  check(options.length === 3 && options[1].startsWith('2 ') && options[2].startsWith('3 '), `the steps are ${options}`)
  await end('Last step', '9')
  await end('First step', '8')
  check(
    (await page.locator('.problem').first().innerText()).includes('there are no steps 8..9'),
    'steps that were not recorded are accepted',
  )
  await page.getByRole('button', { name: 'reset Steps to auto' }).click()
  await view.settled()
  check((await page.locator('.problem').count()) === 0, 'all steps are refused')
  await view.close()
}
