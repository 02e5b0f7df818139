// The what-if view: the tornado by keyboard, rehearsals alone and together, a change opened as scenario B, both solvers loaded.
import { check, openPage, pictures } from '../harness.mjs'

const RUN = '#/whatif?model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&tp=8&pp=16&uneven-stages=true&global-batch=512'

export default async function ({ browser, url }) {
  await rehearse(browser, url)
  await composed(browser, url)
  await solve(browser, url)
  await refused(browser, url)
  await pictures({
    browser,
    url,
    fragment: `${RUN}&w.change=precision=fp8;nic=x2;slow.rank=0.8;tp=3`,
    name: 'whatif',
    ready: ({ page }) => page.waitForSelector('text=Effect by part', { timeout: 60_000 }),
  })
}

async function rehearse(browser, url) {
  const view = await openPage(browser, url, { fragment: RUN })
  const { page } = view
  await page.waitForSelector('[aria-roledescription="tornado chart"]', { timeout: 60_000 })
  await page.focus('[aria-roledescription="tornado chart"]')
  await page.keyboard.press('ArrowDown')
  check((await page.textContent('.chart-tip:not([hidden])'))?.includes('peak FLOP/s'), 'the first figure is not told')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('w.change=peak.bf16=x2'))
  await page.click('button[title="precision=fp8"]')
  await page.waitForSelector('.interaction', { timeout: 60_000 })
  check(/Speedup combined/.test((await page.textContent('.interaction')) ?? ''), 'the interaction is not told')
  await page.click('tr:has(th :text-is("FP8 GEMMs")) >> text=Open as scenario B')
  await page.waitForFunction(() => location.hash.startsWith('#/calculator') && location.hash.includes('b.precision'))
  await page.goBack()
  await page.waitForSelector('.interaction', { timeout: 60_000 })
  await view.close()
}

/** A change of two settings by controls alone: values are those that are valid, a number changes by a factor. */
async function composed(browser, url) {
  const view = await openPage(browser, url, { fragment: RUN })
  const { page } = view
  await page.waitForSelector('[aria-roledescription="tornado chart"]', { timeout: 60_000 })
  const add = async (text) => {
    await page.getByRole('combobox', { name: 'Any other change' }).click()
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
  }
  await add('tensor parallel')
  await page.getByRole('group', { name: 'tensor parallel', exact: true }).locator('select').last().selectOption('4')
  await add('network bandwidth')
  const row = page.getByRole('group', { name: 'network bandwidth', exact: true })
  await row.getByLabel('Change of network bandwidth').selectOption('x')
  await page.getByRole('button', { name: 'Compare it' }).click()
  await page.waitForFunction(() =>
    decodeURIComponent(location.hash).includes('w.change=plan.tensor_parallel=4,cluster.network.bandwidth=x2'),
  )
  await page.waitForSelector('.picks >> text=tensor parallel 4, network bandwidth × 2')
  await page.waitForSelector('text=Effect by part', { timeout: 60_000 })
  await view.close()
}

async function solve(browser, url) {
  const view = await openPage(browser, url, { fragment: RUN })
  const { page } = view
  await page.click('[aria-label="Selective recompute"] >> text=Solve', { timeout: 60_000 })
  await page.click('[aria-label="Selective recompute"] >> text=Load it into the calculator', { timeout: 60_000 })
  await page.waitForFunction(
    () => location.hash.startsWith('#/calculator') && location.hash.includes('stage-recompute=') && location.hash.includes('tp=8'),
  )
  await page.goBack()
  await page.click('[aria-label="Pipeline balance"] >> text=with recompute', { timeout: 60_000 })
  await page.click('[aria-label="Pipeline balance"] >> text=Solve')
  await page.click('[aria-label="Pipeline balance"] >> text=Load it into the calculator', { timeout: 60_000 })
  await page.waitForFunction(() => location.hash.startsWith('#/calculator') && location.hash.includes('layers-per-stage=7,8'))
  await view.close()
}

async function refused(browser, url) {
  const view = await openPage(browser, url, { fragment: RUN.replace('&uneven-stages=true', '') })
  await view.page.click('text=Allow uneven stages', { timeout: 60_000 })
  await view.page.waitForSelector('[aria-roledescription="tornado chart"]', { timeout: 60_000 })
  await view.close()
}
