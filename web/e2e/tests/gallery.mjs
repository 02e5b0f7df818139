// Every component in every state and both themes: text that can be read at rest, under the pointer, focused and pressed; axe; pictures.
// Needs no program: Vite serves web/gallery.
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { check, openPage } from '../harness.mjs'

/** WCAG 2.2 for text; disabled controls are exempt there and held to 3:1 here. */
const TEXT = 4.5
const DISABLED = 3

export default async ({ browser }) => {
  const server = await createServer({
    configFile: false,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    logLevel: 'error',
    server: { port: 0, hmr: false },
  })
  await server.listen()
  const url = `http://localhost:${server.httpServer.address().port}/gallery/`
  try {
    for (const scheme of ['light', 'dark']) {
      for (const size of ['desktop', 'phone']) {
        const view = await openPage(browser, url, { scheme, size, expectErrors: ['a request left'] })
        await view.page.waitForSelector('section[aria-label="Chart colours"]')
        if (size === 'desktop') await states(view.page, scheme)
        if (size === 'desktop' && scheme === 'light') await controls(view.page)
        await view.shot(`gallery-${size}-${scheme}`, { fullPage: true })
        const found = await view.axe()
        check(found.length === 0, `${size} ${scheme}:\n  ${[...new Set(found)].join('\n  ')}`)
        await view.close()
      }
    }
  } finally {
    await server.close()
  }
}

/** What controls keep, by keyboard: numbers with units, sets, names, settings with the control of their kind. */
async function controls(page) {
  const section = page.getByRole('region', { name: 'Controls' })
  const kept = async () => JSON.parse(await section.getByLabel('Address').innerText())
  const share = section.getByLabel('Share')
  check((await share.inputValue()) === '20', 'a share of 0.2 is not 20 %')
  await share.fill('35')
  await page.keyboard.press('Enter')
  check((await kept()).amount === '0.35', 'a percentage is not kept as a share')
  await share.fill('135')
  await page.keyboard.press('Enter')
  check((await kept()).amount === '0.35', 'a share above 100 % is taken')
  check((await share.getAttribute('aria-invalid')) === 'true', 'a share above 100 % is not marked')
  await share.fill('35')
  // A set: a number added by Enter, one of another form removed, none twice.
  const speeds = section.getByRole('group', { name: 'Speeds' })
  check((await speeds.getByRole('button', { pressed: true }).allInnerTexts()).join() === '200 Gbit/s ✕,400 Gbit/s ✕,fast ✕', 'the set')
  await speeds.getByRole('button', { name: 'Remove fast' }).click()
  await speeds.getByRole('spinbutton').fill('800')
  await page.keyboard.press('Enter')
  await speeds.getByRole('spinbutton').fill('400')
  await page.keyboard.press('Enter')
  check((await kept()).set === '200G,50 GB/s,800G', `the set is ${(await kept()).set}`)
  // Names: what the list lacks can be removed and does not come back.
  const names = section.getByRole('group', { name: 'Names' })
  await names.getByRole('button', { name: 'unknown' }).click()
  await names.getByRole('button', { name: 'torus' }).focus()
  await page.keyboard.press('Space')
  check((await kept()).names === 'clos,torus', `names are ${(await kept()).names}`)
  check(!(await names.innerText()).includes('unknown'), 'a removed name is still offered')
  // Settings: each by the control of its kind.
  const row = (name) => section.getByRole('group', { name, exact: true })
  await row('tiers').getByRole('spinbutton').fill('3')
  await page.keyboard.press('Enter')
  await row('tiers').getByLabel('Change of tiers').selectOption('x')
  await row('routing').locator('select').selectOption('spray')
  await row('latency').getByLabel('Unit of latency').selectOption('ms')
  await row('recompute').getByLabel('Number of recompute').fill('9')
  await page.keyboard.press('Tab')
  await row('older').getByRole('button', { name: 'Remove older' }).click()
  const { pairs } = await kept()
  check(pairs.join() === 'tiers=x2,routing=spray,latency=5ms,recompute=full:9,sides=4,4', `settings are ${pairs.join()}`)
  await row('tiers').getByRole('button', { name: 'Remove tiers' }).click()
  await section.getByRole('combobox', { name: 'Settings' }).click()
  await page.keyboard.type('tier')
  await page.keyboard.press('Enter')
  check((await kept()).pairs.at(-1) === 'tiers=', 'a setting is not added by typing its name')
}

async function states(page, scheme) {
  const all = page.locator('button, a, input, select, .swatch-text, .verdict')
  const low = []
  let measured = 0
  const measure = async (one, state) => {
    const found = await one.evaluate(contrast)
    if (found === null) return
    measured += 1
    const least = found.disabled ? DISABLED : TEXT
    if (found.ratio < least) low.push(`${scheme} ${state}: ${found.name} has ${found.ratio.toFixed(2)}:1`)
  }
  for (const one of await all.all()) {
    if (!(await one.isVisible())) continue
    await measure(one, 'at rest')
    const enabled = await one.isEnabled()
    if (!(await one.evaluate((element) => element.matches('button, a')))) continue
    await one.hover({ force: true })
    await measure(one, 'hover')
    if (!enabled) continue
    await page.mouse.down()
    await measure(one, 'active')
    // Let go elsewhere: nothing is clicked.
    await page.mouse.move(1, 1)
    await page.mouse.up()
    await one.focus()
    await measure(one, 'focus')
    const outline = await one.evaluate((element) => getComputedStyle(element).outlineStyle)
    if ((await one.evaluate((element) => element.matches(':focus-visible'))) && outline === 'none')
      low.push(`${scheme}: no outline on ${await one.innerText()}`)
  }
  check(measured > 80, `only ${measured} states were measured`)
  check(low.length === 0, `contrast:\n  ${low.join('\n  ')}`)
}

/** Contrast of a text with what is painted behind it, opacity of ancestors included; null for what has no text. */
function contrast(element) {
  const text = element.value || element.textContent?.trim() || element.placeholder
  if (!text || element.type === 'range' || element.classList.contains('hidden-visually')) return null
  const parse = (colour) => {
    const numbers = (colour.match(/[\d.]+/g) ?? []).map(Number)
    const scale = colour.startsWith('color(srgb') ? 255 : 1
    return { rgb: numbers.slice(0, 3).map((one) => one * scale), alpha: numbers[3] ?? 1 }
  }
  const over = (top, alpha, below) => top.map((one, at) => one * alpha + below[at] * (1 - alpha))
  const chain = []
  for (let at = element; at; at = at.parentElement) chain.unshift(at)
  let back = [255, 255, 255]
  let opacity = 1
  for (const at of chain) {
    const style = getComputedStyle(at)
    opacity *= Number(style.opacity)
    const { rgb, alpha } = parse(style.backgroundColor)
    back = over(rgb, alpha * opacity, back)
  }
  const { rgb, alpha } = parse(getComputedStyle(element).color)
  const ink = over(rgb, alpha * opacity, back)
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const [a, b] = [luminance(ink), luminance(back)]
  return {
    ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
    name: `${element.tagName.toLowerCase()}.${element.className} "${text.slice(0, 30)}"`,
    disabled: element.matches(':disabled'),
  }
}
