// Squarified treemap (Bruls, Huizing, van Wijk 2000): areas are proportional to values, rectangles nearly square. Pure.

export interface Leaf {
  readonly title: string
  readonly value: number
  readonly colour: string
}

export interface Branch {
  readonly title: string
  readonly leaves: readonly Leaf[]
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Boxes in the order of the values, which should descend. Values of zero or less get empty boxes. */
export function squarify(values: readonly number[], box: Box): Box[] {
  const total = values.reduce((sum, value) => sum + Math.max(value, 0), 0)
  const boxes: Box[] = values.map(() => ({ x: box.x, y: box.y, width: 0, height: 0 }))
  if (total <= 0 || box.width <= 0 || box.height <= 0) return boxes
  const scale = (box.width * box.height) / total
  let rest = box
  let start = 0
  while (start < values.length) {
    const side = Math.min(rest.width, rest.height)
    let end = start
    let sum = 0
    let worst = Infinity
    // Adds to the row while its worst aspect ratio improves.
    while (end < values.length) {
      const area = Math.max(values[end] ?? 0, 0) * scale
      const next = ratio(values, start, end, sum + area, scale, side)
      if (area > 0 && end > start && next > worst) break
      worst = next
      sum += area
      end += 1
    }
    const thick = side > 0 ? sum / side : 0
    let along = 0
    for (let index = start; index < end; index += 1) {
      const long = thick > 0 ? (Math.max(values[index] ?? 0, 0) * scale) / thick : 0
      boxes[index] =
        rest.width >= rest.height
          ? { x: rest.x, y: rest.y + along, width: thick, height: long }
          : { x: rest.x + along, y: rest.y, width: long, height: thick }
      along += long
    }
    rest =
      rest.width >= rest.height
        ? { x: rest.x + thick, y: rest.y, width: Math.max(rest.width - thick, 0), height: rest.height }
        : { x: rest.x, y: rest.y + thick, width: rest.width, height: Math.max(rest.height - thick, 0) }
    start = end
  }
  return boxes
}

function ratio(values: readonly number[], start: number, end: number, sum: number, scale: number, side: number): number {
  let worst = 1
  for (let index = start; index <= end; index += 1) {
    const area = Math.max(values[index] ?? 0, 0) * scale
    if (area <= 0) continue
    const thick = sum / side
    const long = area / thick
    worst = Math.max(worst, thick / long, long / thick)
  }
  return worst
}
