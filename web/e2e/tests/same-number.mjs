// The same quantity in two views is the same text: step time and memory of a plan, waiting and ranks of a job.
import { join } from 'node:path'
import { check, openPage, repository } from '../harness.mjs'

const TRACES = join(repository, 'fixtures/traces/generated_torch215_gloo_pp2dp2')
export const serve = [TRACES]
const RUN = 'model=llama-3.1-8b&cluster=dgx-h100&gpus=16&tp=2&pp=4&global-batch=32'

export default async ({ browser, url }) => {
  await ofAPlan(browser, url)
  await ofAJob(browser, url)
}

async function ofAPlan(browser, url) {
  const text = async (view, selector) => {
    const page = await openPage(browser, url, { fragment: `#/${view}` })
    await page.page.waitForSelector(selector, { timeout: 60_000 })
    await page.settled()
    const found = (await page.page.locator(selector).first().innerText()).trim()
    await page.close()
    return found
  }
  const step = (await text(`calculator?${RUN}`, '.headline .value')).split('\n')[0]
  check(/^[\d.]+ (s|ms)$/.test(step), `the calculator has no step time: ${step}`)
  const others = {
    'what-if': await text(`whatif?${RUN}`, '.baseline'),
    pipeline: await text(`pipeline?${RUN}`, '.pipeline-body'),
    simulate: await text(`network?${RUN}&n.desk=simulate`, '.figures'),
  }
  for (const [view, found] of Object.entries(others)) check(found.includes(step), `the step is ${step}, in ${view}: ${found.slice(0, 200)}`)
  const memory = /[\d.]+ GiB/.exec(await text(`calculator?${RUN}`, '.headline:has-text("Memory") .value'))?.[0]
  check(memory !== undefined && others['what-if'].includes(memory), `the memory is ${memory}, in what-if: ${others['what-if']}`)
}

async function ofAJob(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/traces?t.path=${TRACES}` })
  const { page } = view
  await page.waitForSelector('text=Step breakdown', { timeout: 60_000 })
  const head = await page.locator('.traces-head').innerText()
  const step = /step time\s+([\d.]+ ms)/i.exec(head)?.[1]
  await page.getByRole('tab', { name: 'Stragglers' }).click()
  const verdict = page.locator('.traces-verdict')
  await verdict.waitFor({ timeout: 60_000 })
  check((await verdict.innerText()).includes(step), `the step is ${step}, in Stragglers: ${await verdict.innerText()}`)
  // Sums of a recording and shares of a step are other quantities, and are called so.
  await page.getByRole('tab', { name: 'Communication' }).click()
  const tables = page.locator('#traces-tab section')
  await tables.first().waitFor()
  for (const index of [0, 1])
    check(/recording/.test(await tables.nth(index).locator('h2').innerText()), `table ${index} of Communication does not name its scope`)
  const columns = async () => (await page.locator('#traces-tab thead').allInnerTexts()).join(' ').split(/\s{2,}|\t|\n/)
  check(!(await columns()).includes('Communication'), 'one name for communication with and without bubbles')
  await view.close()
}
