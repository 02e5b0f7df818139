// By keyboard alone: what is opened has the focus, Back and Escape give it back to where it was; a refusal that names jobs offers them.
import { join } from 'node:path'
import { check, openPage, repository } from '../harness.mjs'

const TRACES = join(repository, 'fixtures/traces')
export const serve = [TRACES]

const focused = (page) =>
  page.evaluate(() => {
    const one = document.activeElement
    return one === document.body || !one
      ? 'body'
      : `${one.tagName.toLowerCase()} ${one.dataset?.row ?? ''} ${one.getAttribute('aria-label') ?? ''} ${one.textContent?.trim().slice(0, 60) ?? ''}`
  })

async function until(page, what, holds) {
  for (let tries = 0; tries < 80; tries++) {
    const now = await focused(page)
    if (holds(now)) return now
    await page.waitForTimeout(50)
  }
  throw new Error(`${what}: the focus is on ${await focused(page)}`)
}

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: '#/traces' })
  const { page } = view
  await page.waitForSelector('.open-jobs tbody tr')
  // A row, what it opens, and the row again.
  const row = page.locator('section[aria-label=Jobs] tbody tr', { hasText: 'megatron_tp2_v100' }).first()
  await row.focus()
  const key = await row.getAttribute('data-row')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=Step breakdown', { timeout: 60_000 })
  await until(page, 'what was opened', (now) => now.startsWith('strong') && now.includes('megatron_tp2_v100'))
  await page.keyboard.press('Tab')
  check((await focused(page)).includes('Open other files'), 'the next stop is not behind the heading')
  await page.goBack()
  await until(page, 'Back to the list', (now) => now.includes(key))
  await page.goForward()
  await until(page, 'Forward', (now) => now !== 'body')
  // Closing the files leaves no button to stand on.
  await page.getByRole('button', { name: 'Open other files' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('.open-jobs tbody tr')
  await until(page, 'the list', (now) => now !== 'body')
  // What the filter says holds for all lists.
  await page.keyboard.press('/')
  await page.keyboard.type('no such job')
  await page.waitForFunction(() => document.querySelectorAll('.open-jobs tbody tr').length === 0)
  // Dialogs: by a button, and by a key.
  await page.getByRole('button', { name: 'Keys' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('[role=dialog]')
  await page.keyboard.press('Escape')
  await until(page, 'after the keys', (now) => now.includes('Keys'))
  // Jobs beneath a refusal, in every view that opens files.
  const at = (text) => page.evaluate((hash) => (location.hash = hash), text)
  const all = encodeURIComponent(TRACES)
  const one = encodeURIComponent(join(TRACES, 'generated_torch215_gloo_pp2dp2/rank*_step5.pt.trace.json.gz'))
  for (const [name, hash, key, choose] of [
    ['traces', `#/traces?t.path=${all}`, 't.path', 'megatron_tp2_v100'],
    ['pipeline', `#/pipeline?p.trace=${all}`, 'p.trace', 'primus_pp8_mi300'],
    ['compare', `#/traces?t.path=${one}&t.tab=compare&t.other=${all}`, 't.other', 'megatron_tp2_v100'],
  ]) {
    await at(hash)
    const rows = page.locator('section[aria-label="Jobs"] tbody tr', { hasText: choose })
    await rows
      .first()
      .waitFor({ timeout: 60_000 })
      .catch(() => check(false, `${name}: no jobs beneath the refusal`))
    await rows.first().focus()
    await page.keyboard.press('Enter')
    await page.waitForFunction(
      ([key, choose]) => new URLSearchParams(location.hash.split('?')[1]).get(key)?.includes(choose),
      [key, choose],
    )
    await until(page, `${name}: after choosing`, (now) => now !== 'body')
  }
  await view.settled()
  // A link that contradicts itself says which of its values counts, until something is changed.
  await at('#/calculator?model=llama-3.1-8b&cluster=dgx-h100&gpus=64&tp=8&tp=4')
  await page.getByText('The link sets tp twice: 8, then 4. The last value applies: 4.').waitFor()
  await view.settled()
  check((await view.axe()).length === 0, `${await view.axe()}`)
  await view.close()
}
