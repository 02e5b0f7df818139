// Runs the end-to-end tests: node web/e2e/run.mjs BINARY [NAME ...]; exit code 1 when one fails.
// A test is a file in e2e/tests: `export default async ({ browser, url, binary }) => { ... }`, throwing when it fails;
// `export const serve = [...]` gives its server extra arguments.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startBrowser, startServer } from './harness.mjs'

const [binary, ...names] = process.argv.slice(2)
if (!binary) {
  console.error('usage: node web/e2e/run.mjs BINARY [NAME ...]')
  process.exit(2)
}
const folder = new URL('./tests/', import.meta.url)
const files = readdirSync(fileURLToPath(folder))
  .filter((name) => name.endsWith('.mjs') && (names.length === 0 || names.some((wanted) => name.includes(wanted))))
  .sort()
const browser = await startBrowser()
let failed = 0
for (const file of files) {
  const test = await import(new URL(file, folder))
  const since = performance.now()
  let server
  try {
    server = await startServer(binary, test.serve ?? [])
    await test.default({ browser, url: server.url, binary })
    console.log(`ok   ${file} (${((performance.now() - since) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed += 1
    console.log(`FAIL ${file}\n${String(error?.stack ?? error).replace(/^/gm, '     ')}`)
  } finally {
    await server?.stop()
  }
}
await browser.close()
console.log(failed === 0 ? `${files.length} passed` : `${failed} of ${files.length} failed`)
process.exit(failed === 0 && files.length > 0 ? 0 : 1)
