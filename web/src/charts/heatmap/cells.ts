// Sparse cells of a square matrix, and their shades on a logarithmic scale. Pure, except for the theme's colours.
// The scale has a limited number of decades: with a few bytes next to terabytes, the important range would have few shades.

export type Cell = readonly [row: number, column: number, value: number]

export interface Grid {
  readonly side: number
  readonly cells: readonly Cell[]
}

export interface Shades {
  readonly least: number
  readonly most: number
}

const DECADES = 6

/** Range of values of the shades. */
export function shadesOf(cells: readonly Cell[]): Shades | null {
  let [least, most] = [Infinity, 0]
  for (const [, , value] of cells) {
    if (value > most) most = value
    if (value > 0 && value < least) least = value
  }
  if (most === 0) return null
  // At least a decade, so that small differences do not get contrasting shades.
  return { least: Math.min(Math.max(least, most / 10 ** DECADES), most / 10), most }
}

/** Position in the range: 0 for the least, 1 for the most. */
export function shade(value: number, { least, most }: Shades): number {
  if (most <= least) return 1
  return Math.max(0, Math.min(1, Math.log(value / least) / Math.log(most / least)))
}

/** Values by position, for the cursor. */
export function byPlace({ side, cells }: Grid): Map<number, number> {
  return new Map(cells.map(([row, column, value]) => [row * side + column, value]))
}

/** Next cell with a value in a direction, or the same position. */
export function jump(
  values: ReadonlyMap<number, number>,
  side: number,
  from: readonly [number, number],
  step: readonly [number, number],
): [number, number] {
  let [row, column] = [from[0] + step[0], from[1] + step[1]]
  while (row >= 0 && row < side && column >= 0 && column < side) {
    if (values.has(row * side + column)) return [row, column]
    row += step[0]
    column += step[1]
  }
  return [from[0], from[1]]
}

type Rgb = readonly [number, number, number]

/** Colours between two of the theme; the least one stays distinct from the background. */
export function ramp(low: Rgb, high: Rgb): (share: number) => Rgb {
  return (share) => {
    const t = 0.18 + 0.82 * share
    return [0, 1, 2].map((n) => Math.round((low[n] ?? 0) + ((high[n] ?? 0) - (low[n] ?? 0)) * t)) as unknown as Rgb
  }
}

/** Parses `#rrggbb` or `rgb(r, g, b)`. */
export function rgb(text: string): Rgb {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text.trim())
  if (hex) return [parseInt(hex[1] ?? '0', 16), parseInt(hex[2] ?? '0', 16), parseInt(hex[3] ?? '0', 16)]
  const parts = /(\d+)\D+(\d+)\D+(\d+)/.exec(text)
  return parts ? [Number(parts[1]), Number(parts[2]), Number(parts[3])] : [128, 128, 128]
}

/** Data URL of an image with one pixel per cell; `null` without a canvas. */
export function picture(grid: Grid, shades: Shades, colours: (share: number) => Rgb): string | null {
  const canvas = document.createElement('canvas')
  canvas.width = grid.side
  canvas.height = grid.side
  const context = canvas.getContext('2d')
  if (!context) return null
  const image = context.createImageData(grid.side, grid.side)
  for (const [row, column, value] of grid.cells) {
    const [r, g, b] = colours(shade(value, shades))
    const at = (row * grid.side + column) * 4
    image.data[at] = r
    image.data[at + 1] = g
    image.data[at + 2] = b
    image.data[at + 3] = 255
  }
  context.putImageData(image, 0, 0)
  return canvas.toDataURL()
}
