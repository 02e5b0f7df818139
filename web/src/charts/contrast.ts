// Luminance of a colour, and a readable text colour on it (WCAG 2.2). Pure.

/** Relative luminance at which black and white text have the same contrast, 4.58:1: (1.05 / 4.58) - 0.05. */
const EQUAL = 0.179

/** Black or white, whichever has more contrast with a luminance: at least 4.58:1, above the 4.5:1 of WCAG 2.2. */
export function inkFor(luminance: number): string {
  return luminance > EQUAL ? '#000000' : '#ffffff'
}

/** Relative luminance of `#rrggbb`; 1 for other formats. */
export function luminance(hex: string): number {
  const digits = /^#([0-9a-f]{6})$/i.exec(hex)?.[1]
  if (!digits) return 1
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const value = parseInt(digits.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
