// Charts as files: SVG with inlined colours, PNG at twice the size, CSV from the chart's rows.
import * as texts from '../words/charts'

export interface Rows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null | undefined)[])[]
}

const WRITTEN_OUT = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'paint-order',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
  'font-variant-numeric',
] as const

/** Stand-alone text of an SVG, with the computed styles written into every element. */
export function svgText(svg: SVGSVGElement, title: string): string {
  const clone = svg.cloneNode(true) as SVGSVGElement
  const originals = [svg, ...svg.querySelectorAll('*')]
  const copies = [clone, ...clone.querySelectorAll('*')]
  originals.forEach((original, index) => {
    const copy = copies[index]
    if (!copy) return
    const style = getComputedStyle(original)
    for (const property of WRITTEN_OUT) {
      const value = style.getPropertyValue(property)
      if (value) copy.setAttribute(property, value)
    }
    for (const name of ['class', 'style', 'tabindex', 'role']) copy.removeAttribute(name)
  })
  const { width, height } = svg.getBoundingClientRect()
  clone.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  clone.setAttribute('width', String(Math.ceil(width)))
  clone.setAttribute('height', String(Math.ceil(height)))
  if (!clone.getAttribute('viewBox')) clone.setAttribute('viewBox', `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`)
  const back = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  back.setAttribute('width', '100%')
  back.setAttribute('height', '100%')
  back.setAttribute('fill', getComputedStyle(document.documentElement).getPropertyValue('--surface').trim())
  const heading = document.createElementNS('http://www.w3.org/2000/svg', 'title')
  heading.textContent = title
  clone.prepend(heading, back)
  return new XMLSerializer().serializeToString(clone)
}

/** Renders an SVG text as PNG. */
export async function pngFromSvg(text: string, width: number, height: number, scale = 2): Promise<Blob> {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = Math.ceil(width * scale)
  canvas.height = Math.ceil(height * scale)
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return pngFromCanvas(canvas)
}

function pngFromCanvas(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(texts.theBrowserReturnedNoImage))), 'image/png'),
  )
}

/** Formats rows as CSV with exact numbers; fields with commas, quotes or line ends are quoted. */
export function csvText(table: Rows): string {
  const field = (value: string | number | null | undefined) => {
    const text = value === null || value === undefined ? '' : String(value)
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return `${[table.columns, ...table.rows].map((row) => row.map(field).join(',')).join('\n')}\n`
}

/** Caption of a saved chart, so that it can be read alone. */
export interface Caption {
  readonly title: string
  /** Scope and unit. */
  readonly about: string
  readonly legend: readonly { readonly title: string; readonly colour: string }[]
  /** Run or files, and the date. */
  readonly source: string
}

const EDGE = 16
const LINE = 18

/** Adds title, scope, legend and source to a drawing. `drawing` is a complete SVG; `measure` returns the width of a text. */
export function captioned(
  drawing: string,
  size: { readonly width: number; readonly height: number },
  caption: Caption,
  inks: { readonly back: string; readonly text: string; readonly muted: string; readonly font: string },
  measure: (text: string, size: number) => number,
): { readonly text: string; readonly width: number; readonly height: number } {
  const width = Math.ceil(Math.max(size.width, 320) + 2 * EDGE)
  const room = width - 2 * EDGE
  const parts: string[] = []
  let y = EDGE + 14
  const write = (text: string, pixels: number, fill: string, weight = 400) => {
    for (const line of wrapped(text, room, (part) => measure(part, pixels))) {
      parts.push(`<text x="${EDGE}" y="${y}" font-size="${pixels}" font-weight="${weight}" fill="${fill}">${escaped(line)}</text>`)
      y += LINE
    }
  }
  write(caption.title, 15, inks.text, 600)
  if (caption.about) write(caption.about, 12, inks.muted)
  let x = EDGE
  for (const { title, colour } of caption.legend) {
    const wide = 16 + measure(title, 12) + 14
    if (x > EDGE && x + wide > width - EDGE) {
      x = EDGE
      y += LINE
    }
    parts.push(
      `<rect x="${x}" y="${y - 9}" width="10" height="10" rx="2" fill="${escaped(colour)}"/><text x="${x + 15}" y="${y}" font-size="12" fill="${inks.text}">${escaped(title)}</text>`,
    )
    x += wide
  }
  if (caption.legend.length > 0) y += LINE
  const top = y - 8
  parts.push(drawing.replace(/^<svg/, `<svg x="${EDGE}" y="${top}"`))
  y = top + Math.ceil(size.height) + LINE
  write(caption.source, 11, inks.muted)
  const height = y - LINE + EDGE
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(inks.font)}"><title>${escaped(caption.title)}</title><rect width="100%" height="100%" fill="${inks.back}"/>${parts.join('')}</svg>`
  return { text, width, height }
}

/** Wraps a text into lines of whole words; a word that is too long has a line of its own. */
function wrapped(text: string, room: number, measure: (text: string) => number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word
    if (line && measure(longer) > room) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return line ? [...lines, line] : lines
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** Caption of a CSV as comment lines. */
export function csvHead(caption: Pick<Caption, 'title' | 'about' | 'source'>): string {
  return [`${caption.title}${caption.about ? `: ${caption.about}` : ''}`, caption.source]
    .map((line) => `# ${line.replaceAll(/[\r\n]+/g, ' ')}\n`)
    .join('')
}
