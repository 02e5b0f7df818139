// Decides the contrast of texts that axe leaves undecided: on gradients, in SVG, of one letter. Runs in the page.

/** Lines of those that are too faint, of the selectors that axe gives. Colours are those of the text and of what is painted beneath its middle. */
export function decideContrast(targets) {
  const parse = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number)
    return { rgb: [r, g, b], a: text === 'none' || text === 'transparent' ? 0 : a }
  }
  const over = (top, bottom) => top.rgb.map((value, at) => value * top.a + bottom[at] * (1 - top.a))
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => value / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ratio = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a)
    return (high + 0.05) / (low + 0.05)
  }
  const paints = (element) => {
    const style = getComputedStyle(element)
    if (!(element instanceof SVGElement) || element instanceof SVGSVGElement) return parse(style.backgroundColor)
    if (!/^(rect|path|circle|polygon|ellipse)$/.test(element.tagName) || style.fill.startsWith('url')) return { rgb: [0, 0, 0], a: 0 }
    const fill = parse(style.fill)
    return { ...fill, a: fill.a * Number(style.fillOpacity) * Number(style.opacity) }
  }
  const faint = []
  for (const target of targets) {
    const element = document.querySelector(target)
    if (!element) continue
    // What a dialog covers is not read.
    if (document.querySelector('.overlay') && !element.closest('.overlay')) continue
    const isSvg = element instanceof SVGElement
    // Only where it is needed: scrolling closes open lists.
    const place = element.getBoundingClientRect()
    const isSeen = place.top >= 0 && place.left >= 0 && place.bottom <= innerHeight && place.right <= innerWidth
    if (!isSeen) element.scrollIntoView({ block: 'center', inline: 'center' })
    const box = element.getBoundingClientRect()
    const style = getComputedStyle(element)
    if (box.width === 0 || style.visibility === 'hidden') continue
    const stack = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2)
    const beneath = stack.slice(stack.findIndex((one) => one === element || element.contains(one)) + 1 || 0)
    let back = [255, 255, 255]
    const root = parse(getComputedStyle(document.body).backgroundColor)
    if (root.a > 0) back = root.rgb
    const layers = [element, ...beneath]
      .filter((one) => !(isSvg && one === element))
      .map(paints)
      .reverse()
    for (const layer of layers) if (layer.a > 0) back = over(layer, back)
    // A halo of the page's ground lies around labels on data.
    if (isSvg && style.paintOrder.startsWith('stroke') && parse(style.stroke).a > 0) back = parse(style.stroke).rgb
    const ink = parse(isSvg ? style.fill : style.color)
    let strength = ink.a
    for (let one = element; one; one = one.parentElement) strength *= Number(getComputedStyle(one).opacity)
    const text = over({ rgb: ink.rgb, a: strength }, back)
    const size = parseFloat(style.fontSize)
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    // Disabled controls are exempt.
    if (element.closest(':disabled, [aria-disabled=true]')) continue
    const found = ratio(text, back)
    if (found < (large ? 3 : 4.5))
      faint.push(`contrast ${found.toFixed(2)}: ${target} “${(element.textContent ?? '').trim().slice(0, 30)}”`)
  }
  return faint
}
