// A chart as a file: SVG with its colours written out, PNG at twice the size, CSV from the chart's own rows.

export interface Rows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null | undefined)[])[]
}

const WRITTEN_OUT = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'paint-order', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline', 'font-variant-numeric'] as const

/** The SVG as text of its own: what the page's styles say is written into every element. */
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

/** An SVG text as PNG. */
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

export function pngFromCanvas(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser made no picture'))), 'image/png'))
}

/** Rows as CSV with exact numbers; fields with commas, quotes or line ends are quoted. */
export function csvText(table: Rows): string {
  const field = (value: string | number | null | undefined) => {
    const text = value === null || value === undefined ? '' : String(value)
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return [table.columns, ...table.rows].map((row) => row.map(field).join(',')).join('\n') + '\n'
}
