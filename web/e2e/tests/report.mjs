// A report saved as one HTML file: opens without a server, shows the same numbers, asks nobody, says what it does not hold;
// and what the page weighs.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { artifacts, check, openPage, repository } from '../harness.mjs'

export default async function ({ browser, binary }) {
  weight()
  const html = execFileSync(
    binary,
    [
      'estimate',
      'llama-3.1-70b',
      '--cluster',
      'dgx-h100',
      '--gpus',
      '64',
      '--tp',
      '8',
      '--pp',
      '2',
      '--tokens',
      '1T',
      '--format',
      'html',
      '--quiet',
    ],
    { maxBuffer: 1 << 26 },
  )
  mkdirSync(artifacts, { recursive: true })
  const file = join(artifacts, 'report.html')
  writeFileSync(file, process.env.RAILWRIGHT_PAGE === 'disk' ? onDiskPage(html.toString()) : html)
  const url = pathToFileURL(file).href
  for (const scheme of ['light', 'dark']) {
    const view = await openPage(browser, url, { scheme })
    await view.page.waitForSelector('.headline .value')
    await view.settled()
    check((await view.page.locator('.headline').count()) === 7, 'the report lacks headline numbers')
    check((await view.page.locator('[data-leaf]').count()) > 4, 'the report lacks the treemap')
    check((await view.page.locator('.problem').count()) === 0, 'the report shows a problem')
    check(await view.page.locator('.slider').first().isDisabled(), 'the report has sliders that do nothing')
    await view.shot(`report-${scheme}`, { fullPage: true })
    const cut = await view.cut([1440, 1024, 768, 390])
    check(cut.length === 0, `report: ${cut.join('\n')}`)
    const violations = await view.axe()
    check(violations.length === 0, `report: ${violations.join('\n')}`)
    await view.close()
  }
  // A view that it holds nothing of says so, and offers nothing that only a server can do.
  const beyond = await openPage(browser, url, { fragment: '#/pipeline' })
  await beyond.page.getByText('Not in this report').waitFor()
  check((await beyond.page.locator('main button').count()) === 0, 'the report offers what only a server can do')
  await beyond.close()
}

/** The same answers in the page as it lies on disk. */
function onDiskPage(html) {
  const answers = /id="railwright-report">(.*?)<\/script>/s.exec(html)?.[1] ?? ''
  return readFileSync(join(repository, 'web/dist/report.html'), 'utf8').replace('/*REPORT*/', () => answers)
}

/** All that the browser may load, compressed as the server does at its weakest. */
function weight() {
  const dist = join(repository, 'web/dist')
  const files = readdirSync(join(dist, 'assets')).map((name) => join(dist, 'assets', name))
  const bytes = [join(dist, 'index.html'), ...files].reduce((sum, path) => sum + gzipSync(readFileSync(path)).length, 0)
  console.log(`     the page is ${(bytes / 1000).toFixed(1)} KB compressed, in ${files.length + 1} files`)
  check(bytes < 500_000, `the page is ${bytes} bytes compressed, wanted below 500 KB`)
}
