// Buttons under the pointer, in focus and pressed: their labels stay readable (4.5:1) in both themes. axe never hovers, so this does.
import { check, openPage } from '../harness.mjs'

const VIEWS = [
  '#/search?model=llama-3.1-8b&cluster=dgx-h100&gpus=64',
  '#/traces',
  '#/machines',
  '#/calculator?model=llama-3.1-8b&cluster=dgx-h100&gpus=64',
]

export default async function ({ browser, url }) {
  let seen = 0
  for (const scheme of ['light', 'dark']) {
    for (const fragment of VIEWS) {
      const view = await openPage(browser, url, { fragment, scheme })
      const { page } = view
      await page.waitForSelector('.button', { timeout: 60_000 })
      for (const button of await page.$$('.button:not(:disabled)')) {
        if (!(await button.isVisible())) continue
        const name = ((await button.textContent()) ?? '').trim()
        if (!name) continue
        await button.hover({ force: true })
        await page.waitForTimeout(30)
        const ratio = await button.evaluate(contrast)
        check(ratio >= 4.5, `${fragment} (${scheme}): the label of "${name}" has ${ratio.toFixed(2)}:1 under the pointer`)
        if (await button.evaluate((one) => one.classList.contains('primary'))) seen += 1
      }
      await view.close()
    }
  }
  check(seen >= 4, `only ${seen} primary buttons were seen`)
}

/** Contrast of a button's text with what is painted behind it (WCAG 2.2), its filter left out. */
function contrast(element) {
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  let behind = element
  let colour = parse(getComputedStyle(behind).backgroundColor)
  while (colour.length === 4 && colour[3] === 0 && behind.parentElement) {
    behind = behind.parentElement
    colour = parse(getComputedStyle(behind).backgroundColor)
  }
  const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(colour)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
