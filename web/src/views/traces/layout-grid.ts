// Ranks as a grid of the parallel dimensions of their job: pipeline stages across, data and tensor ranks down, or as it fits. The program
// names the dimensions. Pure.
import type { LayoutSize } from '../../api/schema/profile'
import type { Grid } from './interest'

/** A dimension: rank `r` is at position `r / stride % ranks`. */
export type Size = Pick<LayoutSize, 'name' | 'ranks' | 'stride'>

/** Maximum number of columns with a readable width. */
const MOST_COLUMNS = 64
/** Columns per row of a map about twice as wide as high, with cells as wide as their labels. */
const WIDE = 2

/**
 * The grid of a layout. Its columns are those dimensions with which the map is nearest to twice as wide as high. Null
 * without two dimensions, or if no choice is narrow enough.
 */
export function byLayout(sizes: readonly Size[], ranks: readonly number[]): Grid | null {
  if (sizes.length < 2) return null
  const dimensions = [...sizes].reverse()
  const world = dimensions.reduce((all, one) => all * one.ranks, 1)
  let best: { across: number; distance: number } | null = null
  for (let across = 1; across < 2 ** dimensions.length; across += 1) {
    const columns = dimensions.reduce((all, one, at) => ((across >> at) & 1 ? all * one.ranks : all), 1)
    const distance = Math.abs(Math.log(columns / (world / columns) / WIDE))
    if (columns <= MOST_COLUMNS && (best === null || distance < best.distance - 1e-9)) best = { across, distance }
  }
  if (best === null) return null
  const { across } = best
  const isAcross = (_: unknown, at: number) => ((across >> at) & 1) === 1
  const columns = places(dimensions.filter(isAcross))
  const rows = places(dimensions.filter((one, at) => !isAcross(one, at)))
  const known = new Set(ranks)
  return {
    rows: rows.map((row) => ({
      name: row.name,
      ranks: columns.map((column) => (known.has(row.from + column.from) ? row.from + column.from : null)),
    })),
    columns: columns.map((column) => column.name),
    of: 'layout',
  }
}

/** All places of some dimensions, the outermost slowest, with the rank at which each starts. */
function places(dimensions: readonly Size[]): readonly { readonly name: string; readonly from: number }[] {
  return dimensions.reduce<readonly { name: string; from: number }[]>(
    (all, { name, ranks, stride }) =>
      all.flatMap((one) =>
        Array.from({ length: ranks }, (_, at) => ({ name: `${one.name} ${name.toUpperCase()}${at}`.trim(), from: one.from + at * stride })),
      ),
    [{ name: '', from: 0 }],
  )
}
