// Text that fits a width: measured once, shortened at the end, omitted if too little would remain.

let context: CanvasRenderingContext2D | null | undefined
let family = ''
const known = new Map<string, number>()
const REMEMBERED = 4000

/** Width of a text in the font of charts. */
export function textWidth(text: string, size = 11, weight = 400): number {
  const key = `${weight} ${size} ${text}`
  const before = known.get(key)
  if (before !== undefined) return before
  context ??= typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d')
  if (!context) return text.length * size * 0.6
  // Read once, because reading styles between writes forces a layout.
  family ||= getComputedStyle(document.body).fontFamily
  const font = `${weight} ${size}px ${family}`
  if (context.font !== font) context.font = font
  const width = context.measureText(text).width
  if (known.size > REMEMBERED) known.clear()
  known.set(key, width)
  return width
}

/** Text shortened to a width with an ellipsis; empty if fewer than three letters would remain. */
export function fitText(text: string, width: number, size = 11, weight = 400): string {
  return fitted(text, width, size, weight, (length) => `${text.slice(0, length).trimEnd()}…`)
}

/** Name shortened in the middle, because names in a column often differ only at their ends. */
export function fitName(text: string, width: number, size = 11, weight = 400): string {
  return fitted(text, width, size, weight, (length) => {
    const end = Math.floor(length / 2)
    return `${text.slice(0, length - end).trimEnd()}…${text.slice(text.length - end).trimStart()}`
  })
}

function fitted(text: string, width: number, size: number, weight: number, shorten: (length: number) => string): string {
  if (width < size * 1.6) return ''
  const whole = textWidth(text, size, weight)
  if (whole <= width) return text
  for (let length = Math.floor((text.length * width) / whole) - 1; length >= 3; length -= 1) {
    const short = shorten(length)
    if (textWidth(short, size, weight) <= width) return short
  }
  return ''
}
