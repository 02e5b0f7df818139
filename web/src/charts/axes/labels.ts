// Label layout: text widths, and positions of point labels without overlap.
// Excludes drawing.
import { textWidth } from '../fit-text'

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Wanted {
  readonly id: string
  readonly text: string
  /** The point. */
  readonly x: number
  readonly y: number
  /** Pixels between point and text. */
  readonly gap?: number
}

export interface Placed {
  readonly id: string
  readonly text: string
  readonly x: number
  readonly y: number
  readonly anchor: 'start' | 'end' | 'middle'
}

const HEIGHT = 14

function cross(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/** Places labels next to their points, in order of preference. A label without a free position is omitted, and so is one whose point is
 * closer than `apart` to a labelled point. */
export function place(wanted: readonly Wanted[], area: Box, taken: readonly Box[] = [], size = 12, apart = 0): Placed[] {
  const boxes = [...taken]
  const placed: Placed[] = []
  const named: Wanted[] = []
  for (const wish of wanted) {
    if (named.some((other) => Math.hypot(other.x - wish.x, other.y - wish.y) < apart)) continue
    const width = textWidth(wish.text, size) + 2
    const gap = wish.gap ?? 8
    const tries: { x: number; y: number; anchor: Placed['anchor'] }[] = [
      { x: wish.x + gap, y: wish.y + 4, anchor: 'start' },
      { x: wish.x - gap, y: wish.y + 4, anchor: 'end' },
      { x: wish.x - gap * 0.5, y: wish.y + gap + 9, anchor: 'end' },
      { x: wish.x - 2, y: wish.y - gap - 1, anchor: 'start' },
      { x: wish.x, y: wish.y + gap + 11, anchor: 'middle' },
      { x: wish.x, y: wish.y - gap - 1, anchor: 'middle' },
      { x: wish.x + 2, y: wish.y - gap - 1, anchor: 'end' },
      { x: wish.x + gap * 0.5, y: wish.y + gap + 9, anchor: 'start' },
      { x: wish.x - gap, y: wish.y + gap + 24, anchor: 'end' },
      { x: wish.x + gap, y: wish.y - gap - 15, anchor: 'start' },
    ]
    for (const at of tries) {
      const left = at.anchor === 'start' ? at.x : at.anchor === 'end' ? at.x - width : at.x - width / 2
      const box = { x: left, y: at.y - HEIGHT + 3, width, height: HEIGHT }
      const inside = left >= area.x && left + width <= area.x + area.width && box.y >= area.y && box.y + HEIGHT <= area.y + area.height
      if (!inside || boxes.some((other) => cross(box, other))) continue
      boxes.push(box)
      named.push(wish)
      placed.push({ id: wish.id, text: wish.text, ...at })
      break
    }
  }
  return placed
}

/** Separates texts in one column, keeping their order, within `[top, bottom]`. */
export function spread(places: readonly number[], least: number, top: number, bottom: number): number[] {
  const order = places.map((_, index) => index).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))
  const spread = [...places]
  let above = top - least
  for (const index of order) {
    spread[index] = Math.max(spread[index] ?? top, above + least)
    above = spread[index] ?? above
  }
  let below = bottom + least
  for (const index of order.reverse()) {
    spread[index] = Math.min(spread[index] ?? bottom, below - least)
    below = spread[index] ?? below
  }
  return spread
}
