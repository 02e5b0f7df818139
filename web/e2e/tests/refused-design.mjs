// A design that cannot be built: every desk of the network greys the answer of the one before, and the program's remedies are buttons.
import { check, openPage } from '../harness.mjs'

const RUN = 'model=llama-3.1-8b&cluster=dgx-h100&gpus=64&tp=8'
/** What shows the answer, per desk. */
const DESKS = { topology: '.topology', cost: '[aria-label=Costs]', failures: '[aria-label="Designs compared"]' }

export default async ({ browser, url }) => {
  for (const [desk, shown] of Object.entries(DESKS)) {
    const view = await openPage(browser, url, { fragment: `#/network?${RUN}&n.desk=${desk}` })
    const { page } = view
    await page.waitForSelector(shown, { timeout: 60_000 })
    check((await page.locator(`.stale ${shown}`).count()) === 0, `${desk}: an answer is dimmed before anything is refused`)
    await page.evaluate(() => (location.hash += '&n.gpus=1001'))
    const problem = page.locator('.problem')
    await problem.waitFor({ timeout: 60_000 })
    await page.waitForSelector(`.stale ${shown}`)
    check((await page.getByText('belong to the last valid settings').count()) === 1, `${desk}: the answer shown is not named as an old one`)
    const filter = await page
      .locator('.stale')
      .first()
      .evaluate((one) => getComputedStyle(one).filter)
    check(filter === 'grayscale(1)', `${desk}: the old answer keeps its colours: ${filter}`)
    check(!(await problem.innerText()).includes('--'), `${desk}: a refusal names a flag: ${await problem.innerText()}`)
    if (desk === 'topology') check(await page.locator('.stale .drawing svg').isVisible(), 'the old answer lost its diagram')
    await view.shot(`refused-${desk}`)
    const found = await view.axe()
    check(found.length === 0, `${desk} refused:\n  ${found.join('\n  ')}`)
    await problem.getByRole('button', { name: 'GPUs 1,008' }).click()
    await page.waitForFunction(() => location.hash.includes('n.gpus=1008') && !document.querySelector('.problem'))
    await page.waitForFunction((one) => !document.querySelector(`.stale ${one}`), shown)
    await view.close()
  }
}
