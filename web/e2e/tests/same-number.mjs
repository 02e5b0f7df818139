// The same quantity in two views is the same text: step time and memory of a plan, waiting and ranks of a job.
import { join } from 'node:path'
import { check, openPage, repository } from '../harness.mjs'

const TRACES = join(repository, 'fixtures/traces/generated_torch215_gloo_pp2dp2')
export const serve = [TRACES]
const RUN = 'model=llama-3.1-8b&cluster=dgx-h100&gpus=16&tp=2&pp=4&global-batch=32'

export default async ({ browser, url }) => {
  await ofAPlan(browser, url)
  await ofAJob(browser, url)
  await whatIsMissing(browser, url)
  await ofAChange(browser, url)
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

/** What a layout needs, less what a device has, is what it lacks. */
async function whatIsMissing(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/search?model=llama-3.1-405b&cluster=dgx-h100&gpus=8' })
  const { page } = view
  await page
    .getByRole('button', { name: /^Search/ })
    .first()
    .click()
  const panel = page.locator('section[aria-label="Nothing fits"]')
  await panel.waitFor({ timeout: 240_000 })
  const text = await panel.locator('p').first().innerText()
  const [needed, lacking, has] = [...text.matchAll(/([\d.,]+) GiB/g)].map(([, number]) => Number(number.replaceAll(',', '')))
  check(Math.abs(needed - has - lacking) <= 1, `${needed} less ${has} is not ${lacking}: ${text}`)
  check(!(await panel.innerText()).includes('--'), `a layout has flags: ${await panel.innerText()}`)
  await view.close()
}

/** A change has the words of its button in the chart and the table. */
async function ofAChange(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/whatif?${RUN}` })
  const { page } = view
  await page.getByRole('button', { name: '2× network' }).click()
  const row = page.locator('tbody tr', { hasText: '2× network' })
  await row.waitFor({ timeout: 60_000 })
  check(!(await page.locator('main').innerText()).includes('nic=x2'), 'the table has another name for the change')
  await view.close()
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
