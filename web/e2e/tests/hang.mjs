// A job that hangs: dumps opened from the list, by a link and by dropping; the chain by key; files of another kind are refused by name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, openPage, pictures, repository } from '../harness.mjs'

const DUMPS = join(repository, 'examples/hang')
const WELL = join(repository, 'fixtures/traces/generated_torch215_gloo_pp2dp2')
const METRICS = join(repository, 'fixtures/traces/xpu_timer_metrics')
export const serve = [DUMPS, WELL, METRICS]

const at = (path) => `#/hang?h.path=${encodeURIComponent(path)}`

/** Drops files on the page as a user does. */
export async function drop(page, files) {
  const transfer = await page.evaluateHandle((list) => {
    const made = new DataTransfer()
    for (const { name, text } of list) made.items.add(new File([text], name))
    return made
  }, files)
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
}

export default async ({ browser, url }) => {
  const view = await openPage(browser, url)
  const { page } = view
  await page.waitForSelector('nav.views a[aria-current=page]')
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForSelector('text=Open the dumps of a hung job')
  check((await view.axe()).length === 0, `nothing open: ${await view.axe()}`)
  // By key alone: the list of what the server was given, Enter opens.
  await page.locator('.open-jobs tbody tr', { hasText: 'hang' }).first().focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('.hang-verdict.bad >> text=rank 3 never entered')
  await page.locator('.hang-box').last().focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('section.hang-panel.chosen')
  check((await page.evaluate(() => location.hash)).includes('h.at='), 'what is chosen is in the address')
  await page.goBack()
  await page.waitForSelector('section.hang-panel.chosen', { state: 'detached' })
  await page.goBack()
  await page.waitForSelector('text=Open the dumps of a hung job')

  await page.goto(`${url}#/search`)
  await drop(
    page,
    [0, 1, 2, 3].map((rank) => ({ name: `dump_rank_${rank}.json`, text: readFileSync(join(DUMPS, `dump_rank_${rank}.json`), 'utf8') })),
  )
  await page.waitForSelector('.hang-verdict.bad >> text=rank 3 never entered', { timeout: 20_000 })
  check((await page.evaluate(() => location.hash)).includes('h.files=upload'), 'dropped dumps are in the address')

  for (const [name, text] of [
    ['notes.txt', 'nothing that anybody knows'],
    ['settings.json', '{"colour": "blue"}'],
    ['training.log', 'hello\nworld\n'],
  ]) {
    await drop(page, [{ name, text }])
    const said = page.locator('.toast', { hasText: `${name} is not a known format` })
    await said.waitFor({ timeout: 20_000 })
    check(
      /config\.json.*launch file.*training log.*flight-recorder dumps/s.test(await said.innerText()),
      `${name}: what was expected is said: ${await said.innerText()}`,
    )
    await said.getByRole('button').first().click()
  }
  await page.evaluate((hash) => (location.hash = hash), at(join(repository, 'fixtures/nothing')).slice(1))
  await page.waitForSelector('.hang .problem')
  check((await view.axe()).length === 0, `refused: ${await view.axe()}`)
  await page.evaluate((hash) => (location.hash = hash), at(METRICS).slice(1))
  await page.waitForSelector('.hang-verdict.fine >> text=No rank is flagged')
  await view.close()
  await pictures({ browser, url, fragment: at(DUMPS), name: 'hang', ready: ({ page: shown }) => shown.waitForSelector('.hang-chain') })
  await pictures({ browser, url, fragment: '#/hang', name: 'hang-open', ready: ({ page: shown }) => shown.waitForSelector('.open-jobs') })
}
