// Which ink is readable on a colour: dark or light, by the contrast that WCAG defines.
import { dark } from '../state/theme'
import { resolve } from './colours'

const known = new Map<string, string>()

/** Text colour for a filled shape; follows the theme. */
export function inkOn(colour: string): string {
  const key = `${dark.value} ${colour}`
  let ink = known.get(key)
  if (!ink) {
    ink = luminance(resolve(colour)) > 0.3 ? '#15171c' : '#ffffff'
    known.set(key, ink)
  }
  return ink
}

/** Relative luminance of `#rrggbb`; 1 for what is not written so. */
export function luminance(hex: string): number {
  const digits = /^#([0-9a-f]{6})$/i.exec(hex)?.[1]
  if (!digits) return 1
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const value = parseInt(digits.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
