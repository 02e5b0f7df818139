// Links that survive a restart, a state that opens in any running page, a lost server, and files that cannot be read.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, openPage, startServer } from '../harness.mjs'

/** Two models of one file name. */
const config = (layers) =>
  JSON.stringify({
    model_type: 'llama',
    hidden_size: 4096,
    intermediate_size: 14336,
    num_attention_heads: 32,
    num_hidden_layers: layers,
    vocab_size: 32000,
  })

const STATE = '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=16&tp=2&b.on=1&b.tp=4&c.stage=0'

export default async ({ browser, url, binary }) => {
  await joins(browser, url)
  await reasons(browser, url)
  await foreign(browser, url, binary)
  if (process.env.RAILWRIGHT_PAGE !== 'disk') await survives(browser, binary)
}

async function joins(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/reference' })
  const { page } = view
  await page.waitForSelector('.tools button')
  await page.keyboard.press('L')
  const field = page.getByLabel('Open a link or state')
  await field.fill('tp=8')
  await page.keyboard.press('Enter')
  await page.waitForSelector('[role=alert]:has-text("starts with #/")')
  check((await view.axe()).length === 0, `link dialog: ${await view.axe()}`)
  await view.shot('link-dialog')
  // A link of another server, whose port and token are gone.
  await field.fill(`http://127.0.0.1:1/0123456789abcdef/${STATE}`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('.headlines.two')
  check((await page.evaluate(() => location.hash)) === STATE, `the state became ${await page.evaluate(() => location.hash)}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.keyboard.press('L')
  await page.getByRole('button', { name: 'Copy link' }).click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  check(copied === `${url}${STATE}`, `copied ${copied}`)
  await view.close()
}

/** What cannot be read gets its reader's own reason. */
async function reasons(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=16' })
  const { page } = view
  await page.waitForSelector('.headline .value')
  const drop = (name, text) =>
    page.setInputFiles('.open-file input[type=file]', { name, mimeType: 'application/json', buffer: Buffer.from(text) })
  await drop('config.json', '{"model_type": "llama", "hidden_size": 40')
  await page.waitForSelector('.toast:has-text("ends too early"):has-text("config.json")')
  await drop('config.json', '{"model_type": "my_own", "hidden_size": 4096}')
  await page.waitForSelector('.toast:has-text("unknown model type")')
  await drop('run.toml', '[plan]\ntensor_paralel = 8\n')
  await page.waitForSelector('.toast:has-text("tensor_paralel")')
  // An error inside a run file leaves the open run, and offers no button that a flag cannot mend.
  await drop('run.toml', '[model]\nname = "llama-3-8b"\n[cluster]\npreset = "dgx-h100"\ndevices = 16\n[plan]\ntensor_paralel = 4\n')
  await page.waitForSelector('.toast.refused:has-text("did you mean")')
  check((await page.evaluate(() => location.hash)).includes('llama-3-8b'), 'a broken run file replaced the run')
  check((await page.locator('.refused-banner').count()) === 0, 'the open run is marked as rejected')
  await view.shot('unreadable')
  await view.close()
}

/** A link to a dropped file finds the same content, never another file of that name. */
async function foreign(browser, url, binary) {
  const at = (layers) => ({ name: 'config.json', mimeType: 'application/json', buffer: Buffer.from(config(layers)) })
  const start = '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=16'
  const first = await openPage(browser, url, { fragment: start })
  await first.page.waitForSelector('.headline .value')
  await first.page.setInputFiles('.open-file input[type=file]', at(20))
  await first.page.waitForFunction(() => /model=upload:/.test(decodeURIComponent(location.hash)))
  const link = await first.page.evaluate(() => location.hash)
  await first.close()
  const other = await startServer(binary)
  const second = await openPage(browser, other.url, { fragment: start })
  const { page } = second
  await page.waitForSelector('.headline .value')
  await page.setInputFiles('.open-file input[type=file]', at(30))
  await page.waitForSelector('.rail:has-text("30 layers")')
  await page.evaluate((to) => (location.hash = to), link)
  await page.waitForSelector('.missing-files:has-text("config.json")')
  await second.shot('missing-file')
  check((await page.locator('.first:not(.outdated) .headline .value').count()) === 0, 'another model is shown for that of the link')
  await page.setInputFiles('.missing-files input[type=file]', at(20))
  await page.waitForSelector('.rail:has-text("20 layers")')
  check((await page.evaluate(() => location.hash)) === link, 'the state of the link is lost')
  check((await page.locator('.missing-files').count()) === 0, 'the file is there')
  await second.close()
  await other.stop()
}

/** The same port and token file: the same address. */
async function survives(browser, binary) {
  const folder = mkdtempSync(join(tmpdir(), 'railwright-link-'))
  const file = join(folder, 'token')
  try {
    const first = await startServer(binary, ['--token-file', file])
    const { port } = new URL(first.url)
    const view = await openPage(browser, first.url, {
      fragment: STATE,
      expectErrors: ['ERR_CONNECTION_REFUSED', 'Failed to load resource', 'Failed to fetch dynamically', 'preload'],
    })
    await view.page.waitForSelector('.headlines.two')
    await first.stop()
    await view.page.getByRole('textbox', { name: 'Tensor parallel', exact: true }).fill('8')
    await view.page.keyboard.press('Enter')
    await view.page.waitForSelector('.server-gone')
    await view.shot('lost-server')
    check((await view.axe()).length === 0, `lost server: ${await view.axe()}`)
    const second = await startServer(binary, ['--token-file', file, '--port', port])
    check(second.url === first.url, `${second.url} is not ${first.url}`)
    // The page goes on by itself, as it was.
    await view.page.waitForSelector('.server-gone', { state: 'detached' })
    await view.page.waitForSelector('.headlines.two')
    check((await view.page.locator('.server-gone').count()) === 0, 'the page still says that the server is gone')
    await view.close()
    await second.stop()
    writeFileSync(file, 'guess')
    let refused = ''
    await startServer(binary, ['--token-file', file]).then(
      (server) => server.stop(),
      (error) => (refused = String(error)),
    )
    check(/32 hexadecimal digits/.test(refused), `a token that can be guessed was taken: ${refused}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
