// A drawing with its caption in the colours of the page: title, scope, legend and source. Responsible for: reading the page's colours.
import { type Caption, captioned } from './export'
import { textWidth } from './fit-text'

/** `drawing` is a complete SVG of that size. */
export function captionedHere(drawing: string, size: { readonly width: number; readonly height: number }, caption: Caption) {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string) => style.getPropertyValue(name).trim()
  const inks = { back: read('--surface'), text: read('--text'), muted: read('--muted'), font: read('--font') }
  return captioned(drawing, size, caption, inks, (text, pixels) => textWidth(text, pixels))
}

/** A picture as a drawing. */
export const drawingOf = (canvas: HTMLCanvasElement, { width, height }: { readonly width: number; readonly height: number }): string =>
  `<svg width="${width}" height="${height}"><image width="100%" height="100%" href="${canvas.toDataURL()}"/></svg>`
