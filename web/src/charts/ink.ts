// Text colour with sufficient contrast on a colour: dark or light, by WCAG.
import { dark } from '../state/theme'
import { resolve } from './colours'
import { inkFor, luminance } from './contrast'

const known = new Map<string, string>()

/** Text colour for a filled shape; follows the theme. */
export function inkOn(colour: string): string {
  const key = `${dark.value} ${colour}`
  let ink = known.get(key)
  if (!ink) {
    ink = inkFor(luminance(resolve(colour)))
    known.set(key, ink)
  }
  return ink
}
