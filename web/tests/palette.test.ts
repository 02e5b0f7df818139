// The palette by numbers: pairs of chart colours under colour blindness, text on every chart colour, text on every button state.
import { describe, expect, it } from 'vitest'
import { inkFor, luminance } from '../src/charts/contrast'
import sheet from '../src/styles/tokens.css?raw'

const [light = '', dark = ''] = sheet.split(":root[data-theme='dark']")

/** Variables of a theme; what dark does not set is as in light. */
function variables(theme: 'light' | 'dark'): Map<string, string> {
  const read = (text: string) => [...text.matchAll(/--([\w-]+): ([^;]+);/g)].map(([, name, value]) => [name!, value!] as const)
  return new Map([...read(light), ...(theme === 'dark' ? read(dark) : [])])
}

function colour(theme: Map<string, string>, name: string): string {
  const value = theme.get(name) ?? ''
  const other = /^var\(--([\w-]+)\)$/.exec(value)?.[1]
  return other ? colour(theme, other) : value
}

// Machado, Oliveira, Fernandes (2009), table of severity 1.0, on linear RGB.
const VISIONS: Readonly<Record<string, readonly (readonly number[])[]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
}

/** CIE L*a*b* (D65) of a colour as it is seen. */
function lab(hex: string, vision: string): readonly [number, number, number] {
  const linear = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  const [r = 0, g = 0, b = 0] = (VISIONS[vision] ?? []).map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, factor, at) => sum + factor * (linear[at] ?? 0), 0),
      ),
    ),
  )
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  const [x, y, z] = [
    f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047),
    f(0.2126 * r + 0.7152 * g + 0.0722 * b),
    f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883),
  ]
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

const contrast = (a: string, b: string) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

describe.each(['light', 'dark'] as const)('%s', (name) => {
  const theme = variables(name)
  it.each(['class', 'kind'])('every pair of a %s differs under each vision', (family) => {
    const colours = [...theme.keys()].filter((key) => key.startsWith(`${family}-`))
    expect(colours.length).toBeGreaterThan(12)
    const close: string[] = []
    for (const vision of Object.keys(VISIONS)) {
      for (const [at, a] of colours.entries()) {
        for (const b of colours.slice(at + 1)) {
          const [p, q] = [lab(colour(theme, a), vision), lab(colour(theme, b), vision)]
          const distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])
          if (distance < 14) close.push(`${vision}: ${a} and ${b} differ by ${distance.toFixed(1)}`)
        }
      }
    }
    expect(close).toEqual([])
  })

  it('text on every chart colour has 4.5:1', () => {
    for (const [key, value] of theme) {
      if (/^(class|kind)-/.test(key)) expect(contrast(inkFor(luminance(value)), value), key).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('the label of a button has 4.5:1 in every state', () => {
    const pairs = [
      ['text', 'button'],
      ['text', 'button-hover'],
      ['text', 'button-active'],
      ['on-accent', 'primary'],
      ['on-accent', 'primary-hover'],
      ['on-accent', 'primary-active'],
    ] as const
    for (const [label, back] of pairs)
      expect(contrast(colour(theme, label), colour(theme, back)), `${label} on ${back}`).toBeGreaterThanOrEqual(4.5)
    // WCAG asks nothing of what is disabled; 3:1 keeps it readable.
    expect(contrast(colour(theme, 'disabled-text'), colour(theme, 'disabled-back'))).toBeGreaterThanOrEqual(3)
  })
})
