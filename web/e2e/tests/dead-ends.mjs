// Where a mistake must not end: a folder in place of a snapshot lists what lies in it, and a wide screen leaves no table cut beside free room.
import { join } from 'node:path'
import { check, openPage, repository } from '../harness.mjs'

const FOLDER = join(repository, 'fixtures/memory_snapshot')
export const serve = [join(repository, 'fixtures')]

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: `#/snapshot?y.path=${FOLDER}` })
  await view.page.waitForSelector('.problem')
  await view.page.getByRole('row', { name: /training\.pickle/ }).click()
  await view.page.waitForSelector('text=peak allocated')
  await view.close()

  // One stage has no table of stages: communication has the room of both.
  const wide = await openPage(browser, url, { fragment: '#/calculator?model=llama-3.1-8b&cluster=dgx-h100&gpus=64', size: 'wide' })
  await wide.page.waitForSelector('.panels > .communication', { timeout: 60_000 })
  await wide.settled()
  const [panel, all] = await wide.page.evaluate(() =>
    ['.panels > .communication', '.panels'].map((one) => document.querySelector(one).getBoundingClientRect().width),
  )
  check((await wide.page.locator('.panels > .stage-table').count()) === 0, 'the run has several stages')
  check(panel > all * 0.95, `communication has ${panel} of ${all} px`)
  await wide.close()
}
