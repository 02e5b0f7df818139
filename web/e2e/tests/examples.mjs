// Every view of files opens its example without any file of one's own, and shows what the example is of.
import { join } from 'node:path'
import { check, openPage, pictures, repository, startServer } from '../harness.mjs'

const SNAPSHOT = join(repository, 'fixtures/memory_snapshot')
export const serve = [SNAPSHOT, join(repository, 'fixtures/traces/logs')]

export default async ({ browser, url, binary }) => {
  await single(browser, binary)
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
    fragment: `#/snapshot?y.path=${encodeURIComponent(join(SNAPSHOT, 'training.pickle'))}`,
    name: 'snapshot',
    ready: ({ page }) => page.waitForSelector('text=Allocation sites'),
  })
}

/** The only served job opens without a click, and Back leads to the list. */
async function single(browser, binary) {
  const server = await startServer(binary, [SNAPSHOT])
  const view = await openPage(browser, server.url, { fragment: '#/snapshot' })
  await view.page.waitForSelector('text=Allocation sites', { timeout: 60_000 })
  await view.page.goBack()
  await view.page.waitForSelector('text=Open an example')
  await view.close()
  await server.stop()
}
