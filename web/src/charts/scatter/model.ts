// Data of a scatter plot, and keyboard navigation between points. Pure functions with their own tests.
// Independent of the meaning of points.
import type { Tip } from '../axes/tooltip'

export type Mark = 'front' | 'plain' | 'faint'

export interface Point {
  readonly id: string
  readonly x: number
  readonly y: number
  /** Label next to the point, if there is room. */
  readonly label?: string
  /** Labels with more weight are placed first. */
  readonly weight?: number
  readonly mark: Mark
  /** Shape in addition to the colour, so that colour is never the only sign. */
  readonly shape?: 'circle' | 'square' | 'diamond' | 'triangle' | 'cross'
  /** Variable of the theme with the colour. */
  readonly colour?: string
  readonly tip: Tip
}

export interface Spot {
  readonly id: string
  readonly x: number
  readonly y: number
}

export type Way = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End'

export const WAYS: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']

/** Next point in a direction on the screen: along x for left and right, along y for up and down; the other coordinate breaks ties. */
export function next(spots: readonly Spot[], current: string | null, way: Way): string | null {
  if (spots.length === 0) return null
  const across = way === 'ArrowLeft' || way === 'ArrowRight' || way === 'Home' || way === 'End'
  const order = [...spots].sort((a, b) => (across ? a.x - b.x || a.y - b.y : a.y - b.y || a.x - b.x) || (a.id < b.id ? -1 : 1))
  const first = order[0]?.id ?? null
  const last = order[order.length - 1]?.id ?? null
  if (way === 'Home') return first
  if (way === 'End') return last
  const at = order.findIndex((spot) => spot.id === current)
  if (at < 0) return first
  const step = way === 'ArrowLeft' || way === 'ArrowUp' ? -1 : 1
  return order[Math.max(0, Math.min(order.length - 1, at + step))]?.id ?? null
}

/** Point nearest to a position, if within reach. */
export function nearest(spots: readonly Spot[], x: number, y: number, reach: number): string | null {
  let found: string | null = null
  let least = reach * reach
  for (const spot of spots) {
    const distance = (spot.x - x) ** 2 + (spot.y - y) ** 2
    if (distance <= least) [found, least] = [spot.id, distance]
  }
  return found
}

/** Pareto front, with less as better in both coordinates. Ordered by x. */
export function front<T extends { readonly x: number; readonly y: number }>(points: readonly T[]): T[] {
  const order = [...points].sort((a, b) => a.x - b.x || a.y - b.y)
  const kept: T[] = []
  for (const point of order) {
    const last = kept[kept.length - 1]
    if (!last || point.y < last.y) kept.push(point)
  }
  return kept
}
