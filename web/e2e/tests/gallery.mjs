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
