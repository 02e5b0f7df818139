// Ranks as a grid of the parallel dimensions of their job: pipeline stages across, data and tensor ranks down, or as it fits. Pure.
import type { Pair } from '../../state/settings'
import type { Grid } from './interest'

/** A dimension with the number of ranks in it. */
export interface Size {
  readonly name: string
  readonly ranks: number
}

/** Maximum number of columns with a readable width. */
const MOST_COLUMNS = 64
/** Columns per row of a map about twice as wide as high, with cells as wide as their labels. */
const WIDE = 2

/** Sizes of a layout, innermost first, as the program takes them; null unless they multiply to the ranks of the job. */
export function sizesOf(pairs: readonly Pair[], world: number): readonly Size[] | null {
  const sizes = pairs.map(([name, value]) => ({ name: name.trim().toUpperCase(), ranks: Number(value) }))
  const product = sizes.reduce((all, one) => all * one.ranks, 1)
  return sizes.length > 1 && product === world ? sizes.filter((one) => one.ranks > 1) : null
}

/**
 * Sizes of a run with a given layout, in the program's order of ranks. Null if the layout is auto, if groups of experts overlap the others, or
 * if another order is set.
 */
export function sizesOfRun(run: Readonly<Record<string, string>>, world: number): readonly Size[] | null {
  const names = ['tp', 'cp', 'pp'] as const
  if (run['rank-order'] !== undefined || (run.ep ?? '1') !== '1' || names.every((name) => run[name] === undefined)) return null
  const [tp = 1, cp = 1, pp = 1] = names.map((name) => Number(run[name] ?? 1))
  const dp = world / (tp * cp * pp)
  if (!Number.isInteger(dp)) return null
  return sizesOf(
    Object.entries({ tp, cp, dp, pp }).map(([name, ranks]) => [name, String(ranks)]),
    world,
  )
}

/**
 * The grid of a layout. Its columns are those dimensions with which the map is nearest to twice as wide as high; rank `r` is in place
 * `r / stride % size` of a dimension, with the product of the sizes further inside as the stride. Null if no choice is narrow enough.
 */
export function byLayout(sizes: readonly Size[], ranks: readonly number[]): Grid | null {
  const dimensions = sizes.map((one, at) => ({ ...one, stride: sizes.slice(0, at).reduce((all, { ranks }) => all * ranks, 1) })).reverse()
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

type Dimension = Size & { readonly stride: number }

/** All places of some dimensions, the outermost slowest, with the rank at which each starts. */
function places(dimensions: readonly Dimension[]): readonly { readonly name: string; readonly from: number }[] {
  return dimensions.reduce<readonly { name: string; from: number }[]>(
    (all, { name, ranks, stride }) =>
      all.flatMap((one) =>
        Array.from({ length: ranks }, (_, at) => ({ name: `${one.name} ${name}${at}`.trim(), from: one.from + at * stride })),
      ),
    [{ name: '', from: 0 }],
  )
}
