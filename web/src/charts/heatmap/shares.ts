// Scale of a heat map: its range, the shade of each cell, and the legend of its ends. Pure.
import * as texts from '../../words/charts'

type Values = readonly (readonly (number | null)[])[]

/** Least and most value of a scale. */
function rangeOf(all: readonly (number | null)[], from: 'zero' | 'least', end?: number): readonly [number, number] {
  let [least, most] = [Infinity, 0]
  for (const value of all) {
    if (value === null) continue
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  const last = end ?? most
  return [from === 'zero' ? 0 : Math.min(last, least), last]
}

/** Both ends of the colours, for cells without written values. */
export function endsOf(values: Values, own: boolean, from: 'zero' | 'least', end: number | undefined, format: (value: number) => string) {
  const [least, most] = rangeOf(values.flat(), from, end)
  return [
    { title: own ? texts.leastOfItsRow : format(least), colour: 'var(--ramp-low)' },
    { title: own ? texts.mostOfItsRow : format(most), colour: 'var(--ramp-high)' },
  ]
}

/** Values as shares of their scale, 0 to 1. */
export function sharesOf(values: Values, own: boolean, from: 'zero' | 'least', end?: number): (number | null)[][] {
  const whole = rangeOf(values.flat(), from, end)
  return values.map((row) => {
    const [least, most] = own ? rangeOf(row, from, end) : whole
    return row.map((value) => (value === null ? null : most > least ? (value - least) / (most - least) : 0))
  })
}
