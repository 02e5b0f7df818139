// Makes the pictures of docs/pictures from the page as it is: node web/e2e/docs-pictures.mjs BINARY, from the repository's root, so that paths
// read as anybody's would. Look at them before they are committed.
import { join } from 'node:path'
import { repository, startBrowser, startServer } from './harness.mjs'

const binary = process.argv[2]
if (!binary) {
  console.error('usage: node web/e2e/docs-pictures.mjs BINARY')
  process.exit(2)
}
process.chdir(repository)
const RANKS = 'fixtures/traces/generated_torch215_gloo_pp2dp2'
const server = await startServer(binary, [RANKS, 'examples/hang'])
const browser = await startBrowser()
const pictures = [
  { name: 'page-calculator', fragment: '', height: 1000, ready: '.panels canvas, .panels svg' },
  {
    name: 'page-pipeline',
    fragment: '#/pipeline?model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&tp=8&cp=2&pp=16&uneven-stages=true&global-batch=512',
    height: 900,
    ready: '[data-testid=timeline]',
  },
  { name: 'page-traces', fragment: `#/traces?t.path=${RANKS}&t.tab=timeline`, height: 900, ready: '[data-testid=timeline]' },
  { name: 'page-hang', fragment: '#/hang?h.path=examples/hang', height: 760, ready: '.hang-chain' },
]
for (const { name, fragment, height, ready } of pictures) {
  const page = await browser.newPage({ viewport: { width: 1440, height }, colorScheme: 'light' })
  await page.goto(`${server.url}${fragment}`)
  await page.waitForSelector(ready, { timeout: 120_000 })
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'), null, { timeout: 60_000 })
  await page.waitForTimeout(800)
  await page.screenshot({ path: join(repository, 'docs/pictures', `${name}.png`) })
  await page.close()
}
await browser.close()
await server.stop()
