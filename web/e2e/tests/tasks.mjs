// Ten tasks in few actions: a click, a drop, a shortcut or filling a field is one. More than the limit is a step backwards.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, openPage, repository } from '../harness.mjs'
import { drop } from './hang.mjs'

const TRACES = 'fixtures/traces/generated_torch215_gloo_pp2dp2'
export const serve = [TRACES]
const BIG = '#/calculator?model=llama-3.1-70b&cluster=dgx-h100&gpus=64&tp=4&pp=2'

/** Actions on a page, counted. */
function counted(page) {
  const user = {
    actions: 0,
    click: (target) => (user.actions++, page.locator(target).first().click({ timeout: 60_000 })),
    fill: (target, text) => (user.actions++, page.locator(target).first().fill(text)),
    press: (key) => (user.actions++, page.keyboard.press(key)),
    choose: (target, value) => (user.actions++, page.locator(target).first().selectOption(value)),
  }
  return user
}

const TASKS = {
  'own config.json': [
    1,
    '#/calculator',
    async (page, user) => {
      user.actions++
      await drop(page, [{ name: 'config.json', text: readFileSync(join(repository, 'catalog/models/gemma-2-9b.json'), 'utf8') }])
      await page.waitForFunction(() => location.hash.includes('config.json'), null, { timeout: 30_000 })
      await page.waitForSelector('.headline .value')
    },
  ],
  'best layout': [
    1,
    '#/calculator?model=llama-3.1-70b&cluster=dgx-h100&gpus=256&global-batch=512',
    async (page, user) => {
      await user.click('text=Best layout')
      // An auto plan within the tie of the best stays.
      await page.waitForSelector('.toast:has-text("within the model error of the recommended")', { timeout: 120_000 })
    },
  ],
  'compare two': [
    2,
    '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=16&tp=2',
    async (page, user) => {
      await user.click('button:has-text("Compare")')
      await page.waitForSelector('.headlines.two')
      await user.click('[aria-label^="Tensor parallel"] button, button[aria-label*="Tensor parallel"]')
      await page.waitForFunction(() => /b\.tp=/.test(location.hash), null, { timeout: 10_000 })
    },
  ],
  'why it does not fit': [
    1,
    `${BIG}&recompute=none`,
    async (page, user) => {
      await page.waitForSelector('.run-verdict', { timeout: 60_000 })
      const before = await page.locator('.run-verdict .verdict').first().innerText()
      await user.click('.remedy-list button')
      await page.waitForFunction((old) => document.querySelector('.run-verdict .verdict')?.textContent !== old, before, { timeout: 30_000 })
    },
  ],
  'one micro batch': [
    2,
    '#/pipeline?model=llama-3.1-8b&cluster=dgx-h100&gpus=16&tp=2&pp=4&global-batch=32',
    async (page, user) => {
      await page.waitForSelector('[data-testid=timeline]', { timeout: 60_000 })
      await page.waitForTimeout(500)
      const box = await page.locator('[data-testid=timeline]').boundingBox()
      user.actions++
      await page.mouse.click(box.x + 168 + (box.width - 168) * 0.4, box.y + 34 + 26 + 14)
      await user.press('b')
      await page.waitForFunction(() => /p\.mb=/.test(location.hash))
    },
  ],
  straggler: [
    2,
    `#/traces?t.path=${TRACES}`,
    async (page, user) => {
      await user.click('text=Show on the timeline')
      await page.waitForSelector('[data-testid=timeline]', { timeout: 60_000 })
      await page.waitForSelector('.timeline-selected', { timeout: 60_000 })
    },
  ],
  SQL: [
    2,
    `#/traces?t.path=${TRACES}`,
    async (page, user) => {
      await user.click('role=tab[name="SQL"]')
      await user.click('.traces-choices button:has-text("Steps")')
      await page.waitForSelector('[aria-label=Answer] tbody tr', { timeout: 60_000 })
    },
  ],
  'network bill': [
    3,
    '#/calculator?model=llama-3.1-405b&cluster=dgx-h100&gpus=16384',
    async (page, user) => {
      await user.click('.views a:has-text("Network")')
      await user.click('role=tab[name="Cost"]')
      await page.waitForSelector('[aria-label=Costs] tbody tr', { timeout: 60_000 })
      await user.click('.picks-row button:has-text("rail-only")')
    },
  ],
  'chart for a boss': [
    2,
    '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=16',
    async (page, user) => {
      await page.waitForSelector('.headline .value')
      await user.click('section[aria-label="Memory by stage"] .menu-holder button, .panel:has-text("Memory by stage") .menu-holder button')
      const [download] = await Promise.all([page.waitForEvent('download'), user.click('role=menuitem[name*="PNG"]')])
      check(/\.png$/.test(download.suggestedFilename()), 'a PNG is saved')
    },
  ],
  'link for a colleague': [
    2,
    '#/calculator?model=llama-3-8b&cluster=dgx-h100&gpus=16',
    async (page, user) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await user.press('L')
      await user.click('text=Copy link')
      check((await page.evaluate(() => navigator.clipboard.readText())).includes('llama-3-8b'), 'the link has the run')
    },
  ],
}

export default async ({ browser, url }) => {
  const wrong = []
  for (const [name, [most, fragment, run]] of Object.entries(TASKS)) {
    const view = await openPage(browser, url, { fragment })
    const user = counted(view.page)
    try {
      await view.settled()
      await run(view.page, user)
      if (user.actions > most) wrong.push(`${name}: ${user.actions} actions, at most ${most}`)
      console.log(`     ${name}: ${user.actions} of ${most}`)
    } catch (error) {
      wrong.push(`${name}: ${String(error).split('\n')[0]}`)
    }
    await view.close().catch((error) => wrong.push(`${name}: ${error.message}`))
  }
  check(wrong.length === 0, wrong.join('\n'))
}
