// Colours of classes from the style sheet, as numbers for pixels and as text for shapes.
// Responsible for: reading them once per theme. The style sheet defines them.

import { inkFor } from '../charts/contrast'

export interface Palette {
  readonly css: readonly string[]
  /** Red, green and blue of every class, consecutively. */
  readonly rgb: Float32Array
  /** Text colour on every class: dark or light, by contrast. */
  readonly ink: readonly string[]
  readonly bubble: number
  readonly back: readonly [number, number, number]
  readonly backCss: string
  readonly surface: string
  readonly sunken: string
  readonly line: string
  readonly strong: string
  readonly text: string
  readonly muted: string
  readonly accent: string
  readonly bad: string
  readonly warn: string
  readonly good: string
  readonly font: string
  readonly hatch: string
}

function parse(colour: string): [number, number, number] {
  const match = /^#([0-9a-f]{6})$/i.exec(colour.trim())
  if (match) {
    const value = parseInt(match[1]!, 16)
    return [value >> 16, (value >> 8) & 255, value & 255]
  }
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(colour.trim())
  if (short) return [1, 2, 3].map((at) => parseInt(short[at]! + short[at]!, 16)) as [number, number, number]
  const numbers = colour.match(/[\d.]+/g)?.map(Number) ?? []
  return [numbers[0] ?? 128, numbers[1] ?? 128, numbers[2] ?? 128]
}

/** Mix of two colours with a share of the second, as text. */
function mixed(one: readonly number[], other: readonly number[], share: number): string {
  const parts = one.map((value, at) => Math.round(value + (other[at]! - value) * share))
  return `#${parts.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function luminance([r, g, b]: readonly [number, number, number]): number {
  const linear = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!
}

/** Hues of the names without a known purpose: mixed into the grey of their class, so that they stay paler than classes. */
const TINTS: readonly (readonly [number, number, number])[] = [
  [70, 120, 220],
  [210, 120, 40],
  [60, 150, 90],
  [170, 80, 170],
  [200, 170, 40],
]

/** Reads the current palette of an element. */
export function palette(element: Element, classes: readonly string[]): Palette {
  const style = getComputedStyle(element)
  const read = (name: string, fallback: string) => style.getPropertyValue(name).trim() || fallback
  const back = parse(read('--surface', '#ffffff'))
  const css = classes.map((name, at) => {
    const own = read(`--class-${name}`, read('--class-other', '#999999'))
    // Repeated classes, for names, are shades: each one is closer to the background.
    const shade = classes.slice(0, at).filter((other) => other === name).length
    if (shade === 0) return own
    const tint = name === 'other' ? TINTS[shade - 1] : undefined
    return tint ? mixed(parse(own), tint, 0.38) : mixed(parse(own), back, shade * 0.11)
  })
  const rgb = new Float32Array(classes.length * 3)
  const ink = css.map((colour, at) => {
    const parts = parse(colour)
    rgb.set(parts, at * 3)
    return inkFor(luminance(parts))
  })
  const backCss = read('--surface', '#ffffff')
  return {
    css,
    rgb,
    ink,
    bubble: classes.indexOf('bubble'),
    back: parse(backCss),
    backCss,
    surface: backCss,
    sunken: read('--sunken', '#f1f1f4'),
    line: read('--line', '#dddddd'),
    strong: read('--line-strong', '#bbbbbb'),
    text: read('--text', '#222222'),
    muted: read('--muted', '#666666'),
    accent: read('--accent', '#4250d8'),
    bad: read('--bad', '#b3261e'),
    warn: read('--warn', '#8a5300'),
    good: read('--good', '#17703c'),
    font: read('--font', 'system-ui, sans-serif'),
    hatch: read('--timeline-hatch', read('--line-strong', '#bbbbbb')),
  }
}

/** Hatching of bubbles, so that colour is never the only sign. */
export function hatching(context: CanvasRenderingContext2D, colours: Palette, ratio: number): CanvasPattern | null {
  const size = Math.round(6 * ratio)
  const tile = document.createElement('canvas')
  tile.width = tile.height = size
  const pen = tile.getContext('2d')!
  pen.fillStyle = colours.sunken
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = colours.hatch
  pen.lineWidth = Math.max(1, ratio)
  for (const shift of [-size, 0, size]) {
    pen.beginPath()
    pen.moveTo(shift - 1, size + 1)
    pen.lineTo(shift + size + 1, -1)
    pen.stroke()
  }
  return context.createPattern(tile, 'repeat')
}
