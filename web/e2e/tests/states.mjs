// States between the views: open menus, dialogs, lists, explanations, messages, refusals; each by keyboard alone, each accessible.
import { check, openPage } from '../harness.mjs'
import { drop } from './hang.mjs'

const RUN = 'model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&tp=8&pp=16&uneven-stages=true&recompute=full'

export default async ({ browser, url }) => {
  for (const [size, scheme] of [
    ['desktop', 'light'],
    ['phone', 'dark'],
  ]) {
    const view = await openPage(browser, url, { fragment: `#/calculator?${RUN}`, size, scheme })
    const { page } = view
    const clean = async (state) => {
      const found = await view.axe()
      check(found.length === 0, `${state}, ${size} ${scheme}:\n  ${[...new Set(found)].join('\n  ')}`)
      await view.shot(`state-${state.replaceAll(' ', '-')}-${size}-${scheme}`)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      check(over <= 0, `${state}: ${over} px wider than the window`)
    }
    await page.waitForSelector('.headline .value')
    await view.settled()

    // A menu: Enter opens, arrows move, Escape closes and gives the focus back.
    const more = page.getByRole('button', { name: 'More', exact: true })
    await more.focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('[role=menu] [role=menuitem]:focus')
    await page.keyboard.press('ArrowDown')
    await clean('menu open')
    await page.keyboard.press('Escape')
    check(await more.evaluate((button) => button === document.activeElement), 'a closed menu gives the focus back')

    // Where a number comes from: focus shows, Enter pins, Escape closes.
    const hfu = page.getByRole('button', { name: /^HFU/ })
    await hfu.focus()
    await page.waitForSelector('#why[role=tooltip]')
    await clean('explanation shown')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#why[role=dialog] >> text=causal')
    await clean('explanation pinned')
    await page.keyboard.press('Escape')
    await page.waitForSelector('#why', { state: 'detached' })

    // A dialog: the focus stays in it.
    await page.keyboard.press('e')
    await page.waitForSelector('[role=dialog] pre')
    await clean('export dialog')
    for (let n = 0; n < 12; n += 1) await page.keyboard.press('Tab')
    check(await page.evaluate(() => document.querySelector('[role=dialog]').contains(document.activeElement)), 'Tab leaves the dialog')
    await page.keyboard.press('Escape')
    await page.waitForSelector('[role=dialog]', { state: 'detached' })

    // A list that is typed into.
    if (size === 'phone') await page.getByRole('button', { name: 'Change the run' }).click()
    const model = page.getByRole('combobox', { name: /model/i }).first()
    await model.focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.type('70b')
    await page.waitForSelector('[role=listbox] [role=option]')
    await clean('list open')
    await page.keyboard.press('Escape')

    // All keys.
    await page.evaluate(() => document.activeElement?.blur?.())
    await page.keyboard.press('?')
    await page.waitForSelector('[role=dialog] >> text=Views')
    await clean('all keys')
    await page.keyboard.press('Escape')

    // A reason with very many names is folded, and unfolds.
    await drop(page, [{ name: 'config.json', text: '{"model_type": "my_own", "hidden_size": 4096}' }])
    const reason = page.locator('.toast', { hasText: 'unknown model type' })
    await reason.waitFor({ timeout: 30_000 })
    await clean('long reason')
    const short = (await reason.innerText()).length
    check(short < 300, `the reason has ${short} letters`)
    await reason.getByRole('button', { name: /and \d+ more/ }).click()
    check((await reason.innerText()).length > 3 * short, 'the names do not unfold')
    await page.keyboard.press('Escape')

    // Unknown names: every name that is near is a button.
    await page.evaluate(() => (location.hash = '#/calculator?model=llama-3.1-405x&cluster=dgx-h100'))
    await page.waitForSelector('[role=alert] button')
    check((await page.locator('[role=alert] button').count()) >= 2, 'names that are near are buttons')
    await clean('unknown model')
    await page.locator('[role=alert] button').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => location.hash.includes('model=llama-3.1-405b'))
    await page.goBack()
    await page.waitForSelector('[role=alert] button')

    for (const [state, fragment, text] of [
      ['unknown view', '#/nowhere', 'There is no view'],
      ['traces refused', '#/traces?t.path=/no/such/folder', 'no/such/folder'],
      ['log refused', '#/log?l.path=/no/such.log', 'no/such.log'],
      ['no run to search', '#/search', 'Search'],
      ['pipeline without a run', '#/pipeline', 'No step yet'],
      ['machines without tokens', `#/machines?${RUN}`, 'How many tokens'],
    ]) {
      await page.goto(`${url}${fragment}`)
      await page.reload()
      await page.waitForSelector(`text=${text} >> visible=true >> nth=0`, { timeout: 20_000 })
      await clean(state)
    }
    await view.close()
  }
  await keysOnly(browser, url)
}

/** From the first paint to a strategy in the calculator, and a number's source, without a mouse. */
async function keysOnly(browser, url) {
  const view = await openPage(browser, url)
  const { page } = view
  await page.waitForSelector('.headline .value')
  await page.keyboard.press('Tab')
  check((await page.evaluate(() => document.activeElement?.textContent)) === 'Skip to the content', 'the first stop skips the header')
  await page.keyboard.press('Enter')
  check((await page.evaluate(() => document.activeElement?.id)) === 'main', 'skipping goes to the content')
  const stops = new Set()
  for (let n = 0; n < 90; n += 1) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(() => {
      const at = document.activeElement
      if (!at || at === document.body) return null
      const style = getComputedStyle(at)
      const box = at.getBoundingClientRect()
      return {
        name: at.getAttribute('aria-label') ?? at.textContent?.slice(0, 30) ?? at.tagName,
        seen: style.outlineStyle !== 'none' || at.matches('svg, [role=slider], input, select') || at.closest('.hang-box') !== null,
        size: box.width * box.height,
      }
    })
    if (!stop) break
    check(stop.seen, `“${stop.name}” has the focus and does not show it`)
    check(stop.size > 0, `“${stop.name}” has the focus and is not there`)
    stops.add(stop.name)
  }
  check(stops.size > 25, `only ${stops.size} stops of the keyboard`)
  for (const [keys, text] of [
    ['gs', 'Objective'],
    ['gw', 'What-if'],
    ['gm', 'Deadline'],
    ['gp', 'Schedule'],
    ['gt', 'Open the traces'],
    ['gl', 'Open a training log'],
    ['gh', 'Open the dumps'],
    ['gn', 'Topology'],
    ['gr', 'Models'],
    ['gc', 'Step time'],
  ]) {
    await page.evaluate(() => document.activeElement?.blur?.())
    for (const key of keys) await page.keyboard.press(key)
    await page.waitForSelector(`text=${text} >> visible=true >> nth=0`, { timeout: 20_000 })
  }
  await view.close()
}
