// Every view of files opens its example without any file of one's own, and shows what the example is of.
import { check, openPage, pictures } from '../harness.mjs'

export const serve = ['fixtures/memory_snapshot']

export default async ({ browser, url }) => {
  for (const [home, ready] of [
    ['traces', 'text=rank 2 is a straggler'],
    ['log', 'text=typical iteration'],
    ['hang', '.hang-chain'],
    ['snapshot', 'text=Allocation sites'],
  ]) {
    const view = await openPage(browser, url, { fragment: `#/${home}` })
    await view.page.click('text=Open an example')
    await view.page.waitForSelector(ready, { timeout: 60_000 })
    check((await view.page.evaluate(() => location.hash)).includes('upload:'), `${home} is opened as an upload`)
    await view.close()
  }
  await pictures({
    browser,
    url,
    fragment: '#/snapshot?y.path=fixtures/memory_snapshot/training.pickle',
    name: 'snapshot',
    ready: ({ page }) => page.waitForSelector('text=Allocation sites'),
  })
}
