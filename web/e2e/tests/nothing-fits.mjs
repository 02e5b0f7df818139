// A run that fits in no layout: the page has the search's changes that make it fit, as the command line has.
import { execFileSync } from 'node:child_process'
import { check, openPage } from '../harness.mjs'

const RUN = { model: 'llama-3.1-405b', cluster: 'dgx-h100', gpus: '64' }

export default async ({ browser, url, binary }) => {
  const fragment = `#/calculator?model=${RUN.model}&cluster=${RUN.cluster}&gpus=${RUN.gpus}`
  const view = await openPage(browser, url, { fragment })
  const list = view.page.locator('.remedy-list li')
  await list.first().waitFor({ timeout: 120_000 })
  const texts = await list.allInnerTexts()
  const flags = ['--cluster', RUN.cluster, '--gpus', RUN.gpus, '--global-batch', '2048', '--top', '1', '--json']
  const found = JSON.parse(nothing(binary, ['search', RUN.model, ...flags]))
  const { remedies } = found.nothing_fits
  check(texts.length === remedies.length, `${texts.length} changes, the program has ${remedies.length}`)
  for (const [at, { layout }] of remedies.entries()) {
    const tp = /--tp (\d+)/.exec(layout)?.[1] ?? '1'
    check(new RegExp(`\\bTP${tp}\\b`).test(texts[at] ?? ''), `change ${at} of the page is not ${layout}: ${texts[at]}`)
  }
  await view.close()
}

/** Output of a command that finds nothing, which has exit code 1. */
function nothing(program, words) {
  try {
    return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch (error) {
    return error.stdout
  }
}
