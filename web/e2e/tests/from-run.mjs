// The network of a run: every desk has the domains that the run's plan uses, failures cost what the run's own step loses, and a price that
// surprises has its reason.
import { check, openPage } from '../harness.mjs'

// Segments of 64 of the 72 GPUs of each domain.
const RUN = 'model=llama-3.1-405b&cluster=gb200-nvl72&gpus=16384'
const SMALL = 'model=llama-3.1-70b&cluster=dgx-h100&gpus=64&tp=8'

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: `#/network?${RUN}` })
  const { page } = view
  for (const [desk, ready, text] of [
    ['topology', '.topology', '16,384 devices in domains of 64'],
    ['traffic', '.figure', '256 domains of 64'],
    ['simulate', '.drawing svg rect', 'domains of 64'],
    ['cost', '[aria-label=Costs] tbody tr', '16,384 devices'],
    ['failures', '[aria-label="Designs compared"] tbody tr', 'segments of 64 in domains of 72'],
  ]) {
    await page.evaluate((hash) => (location.hash = hash), `#/network?${RUN}&n.desk=${desk}`)
    await page.waitForSelector(ready, { timeout: 120_000 })
    await view.settled()
    const shown = await page.locator('main').innerText()
    const drawing = (await page.locator('.drawing').allTextContents()).join(' ')
    check(`${shown} ${drawing}`.includes(text), `${desk} lacks “${text}”`)
    check(!/16,416|in domains of 72\n/.test(shown), `${desk} speaks of whole domains: ${shown.match(/.*(16,416|domains of 72).*/)?.[0]}`)
  }
  await view.close()
  await failures(browser, url)
  await cables(browser, url)
  await strategies(browser, url)
}

async function failures(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/network?${SMALL}&n.desk=failures` })
  const { page } = view
  const step = async () => {
    await page.waitForSelector('[aria-label="Designs compared"] tbody tr', { timeout: 60_000 })
    await view.settled()
    return page.locator('[aria-label="Failures of rail-optimized by part"] tbody tr td').nth(3).innerText()
  }
  const ofRun = await step()
  check((await page.getByText('Slowdowns are those of the run').count()) === 1, 'it is not said that the slowdowns are those of the run')
  await page.evaluate(() => (location.hash += '&n.exposed=0.2'))
  await page.getByText('Slowdowns follow from the exposed share.').waitFor()
  const ofShare = await step()
  check(ofRun !== ofShare, `the run and a share of 20% lose the same: ${ofRun}`)
  // Designs of another size: the share again, and why.
  await page.evaluate(() => (location.hash = location.hash.replace('&n.exposed=0.2', '&n.gpus=128')))
  await page.getByText('without the run: the network has 128 devices, but the run uses 64').waitFor()
  await step()
  await view.close()
}

async function cables(browser, url) {
  const view = await openPage(browser, url, { fragment: `#/network?${SMALL}&n.desk=cost&n.more=links_per_cable%3D2` })
  const reason = await view.page.getByText('2 links share a cable').innerText({ timeout: 60_000 })
  check(/transceiver of 800 Gbit\/s costs \$[\d,]+, \$\d+ per link/.test(reason), `the reason of the price reads “${reason}”`)
  await view.page.evaluate(() => (location.hash = location.hash.replace(/&n.more=[^&]*/, '')))
  await view.settled()
  check((await view.page.getByText('links share a cable').count()) === 0, 'one link per cable shares it')
  await view.close()
}

/** The longest strategies end inside of their table at 1280 px. */
async function strategies(browser, url) {
  const view = await openPage(browser, url, {
    fragment: '#/network?model=llama-3.1-70b&cluster=dgx-h100&gpus=512&n.desk=design&n.domains=8&n.ran=1',
  })
  await view.page.waitForSelector('[aria-label=Networks] tbody tr', { timeout: 240_000 })
  await view.settled()
  const table = view.page.locator('[aria-label=Networks] .table-holder').first()
  check((await table.innerText()).includes('uneven stages'), 'no strategy is long')
  const over = await table.evaluate((one) => one.scrollWidth - one.clientWidth)
  check(over === 0, `the table of networks is ${over} px too wide`)
  await view.close()
}
