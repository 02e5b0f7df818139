// Runs the end-to-end tests: node web/e2e/run.mjs BINARY [NAME ...]; exit code 1 when one fails.
// A test is a file in e2e/tests: `export default async ({ browser, url, binary }) => { ... }`, throwing when it fails;
// `export const serve = [...]` gives its server extra arguments; `export const alone = async ({ browser, url, binary }) => { ... }` is the part
// that measures times: it runs first, with nothing beside it; the rest shares the machine.
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { repository, startBrowser, startServer } from './harness.mjs'

const [given, ...names] = process.argv.slice(2)
if (!given) {
  console.error('usage: node web/e2e/run.mjs BINARY [NAME ...]')
  process.exit(2)
}
// Tests name files from the root of the repository.
const binary = resolve(given)
process.chdir(repository)
const folder = new URL('./tests/', import.meta.url)
const files = readdirSync(fileURLToPath(folder))
  .filter((name) => name.endsWith('.mjs') && (names.length === 0 || names.some((wanted) => name.includes(wanted))))
  .sort()
const tests = await Promise.all(files.map(async (file) => ({ file, ...(await import(new URL(file, folder))) })))
const failed = []

async function run(browser, one) {
  const { file, serve = [], test } = one
  const since = performance.now()
  let server
  try {
    server = await startServer(binary, serve)
    await test({ browser, url: server.url, binary })
    console.log(`ok   ${file} (${((performance.now() - since) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed.push(one)
    console.log(`FAIL ${file}\n${String(error?.stack ?? error).replace(/^/gm, '     ')}`)
  } finally {
    await server?.stop()
  }
}

/** Runs the tests of a queue, one after the other, in a browser of its own. */
async function worker(queue) {
  const browser = await startBrowser()
  for (let test = queue.shift(); test; test = queue.shift()) await run(browser, test)
  await browser.close()
}

// What measures times has the machine to itself; of the rest, two share it, since each mostly waits. The longest start first.
const LONG = ['every-view.mjs', 'calculator.mjs']
await worker(tests.filter(({ alone }) => alone).map((one) => ({ ...one, test: one.alone, file: `${one.file}, measured` })))
const queue = tests
  .filter((one) => one.default)
  .map((one) => ({ ...one, test: one.default }))
  .sort((one, other) => Number(LONG.includes(other.file)) - Number(LONG.includes(one.file)))
const ahead = failed.splice(0)
await Promise.all([worker(queue), worker(queue)])
// What fails beside another test may have waited too long on a busy machine: alone it must pass.
await worker(failed.splice(0))
failed.push(...ahead)
console.log(failed.length === 0 ? `${files.length} passed` : `${failed.length} of ${files.length} failed`)
process.exit(failed.length === 0 && files.length > 0 ? 0 : 1)
