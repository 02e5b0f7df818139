// Decides the contrast of texts that axe leaves undecided: on gradients, in SVG, of one letter. Runs in the page.

/** Lines of those that are too faint, of the selectors that axe gives. Colours are those of the text and of what is painted beneath its middle. */
export function decideContrast(targets) {
  // The browser itself turns any notation into what it paints: rgb(), color(srgb ...), color-mix().
  const brush = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const parse = (text) => {
    if (text === 'none' || text === 'transparent') return { rgb: [0, 0, 0], a: 0 }
    brush.clearRect(0, 0, 1, 1)
    brush.fillStyle = text
    brush.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data
    return { rgb: [r, g, b], a: a / 255 }
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
  // A picture beneath a text, such as the cells of a heat map: its pixel there.
  const pixel = (image, x, y) => {
    const box = image.getBoundingClientRect()
    const canvas = new OffscreenCanvas(Math.max(1, Math.round(box.width)), Math.max(1, Math.round(box.height)))
    const context = canvas.getContext('2d')
    context.imageSmoothingEnabled = false
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    const [r, g, b, a] = context.getImageData(Math.floor(x - box.left), Math.floor(y - box.top), 1, 1).data
    return { rgb: [r, g, b], a: a / 255 }
  }
  const paints = (element, x, y) => {
    const style = getComputedStyle(element)
    if (element instanceof SVGImageElement) return pixel(element, x, y)
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
    const middle = () => {
      const place = element.getBoundingClientRect()
      return document.elementsFromPoint(place.left + place.width / 2, place.top + place.height / 2)
    }
    const style = getComputedStyle(element)
    // Only where it is needed: scrolling closes open lists. Outside the window, or of the box that scrolls it, nothing of it is at its place.
    const isSeen = () => middle().some((one) => one === element || element.contains(one))
    const place = element.getBoundingClientRect()
    const isInside = place.top >= 0 && place.left >= 0 && place.bottom <= innerHeight && place.right <= innerWidth
    if (!isInside || (style.pointerEvents !== 'none' && !isSeen())) element.scrollIntoView({ block: 'center', inline: 'center' })
    const box = element.getBoundingClientRect()
    if (box.width === 0 || style.visibility === 'hidden') continue
    const stack = middle()
    // Nor what lies beneath an open list, a menu or an explanation.
    const above = stack[0]?.closest('[role=tooltip], [role=dialog], [role=menu], [role=listbox]')
    if (above && !above.contains(element)) continue
    const beneath = stack.slice(stack.findIndex((one) => one === element || element.contains(one)) + 1 || 0)
    let back = [255, 255, 255]
    const root = parse(getComputedStyle(document.body).backgroundColor)
    if (root.a > 0) back = root.rgb
    const layers = [element, ...beneath]
      .filter((one) => !(isSvg && one === element))
      .map((one) => paints(one, box.left + box.width / 2, box.top + box.height / 2))
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
