// Which track is drawn where: groups below each other, closed ones as their first track alone.
// Responsible for: rows and their places. Refuses to draw.
import type { Group, Model, Track } from './data'

export interface Row {
  readonly group: number
  /** The track; null is the heading of an open group. */
  readonly track: Track | null
  readonly top: number
  readonly height: number
  /** The first row of its group. */
  readonly first: boolean
}

export interface Layout {
  readonly rows: readonly Row[]
  readonly height: number
  /** The row of every track, or -1. */
  readonly rowOf: Int32Array
}

export const GAP = 5

/** Whether a track shows passes, which stand out, so that numbers of micro batches fit. */
export function showsPasses(track: Track): boolean {
  return (
    track.name === 'passes' ||
    track.name === 'measured' ||
    track.name === 'expected' ||
    track.name === 'predicted' ||
    track.name === 'device'
  )
}

/** Tracks that a closed group shows: the first one, and what was expected of it. */
export function summary(group: Group): readonly Track[] {
  const [first, second] = group.tracks
  if (!first) return []
  return second?.name === 'expected' || second?.name === 'predicted' ? [first, second] : [first]
}

/** Rows for a room of this height: when all groups are closed they share it, as far as they stay readable. */
export function layout(model: Model, closed: ReadonlySet<string>, room: number): Layout {
  const groups = model.groups.map((group) => (closed.has(group.name) ? summary(group) : group.tracks))
  const all = groups.reduce((sum, tracks) => sum + tracks.length, 0)
  const each = (room - GAP * (groups.length + 1)) / Math.max(1, all) - 1
  const wide = Math.max(15, Math.min(24, Math.floor(each)))
  const rows: Row[] = []
  const rowOf = new Int32Array(model.tracks.length).fill(-1)
  let top = GAP
  groups.forEach((shown, at) => {
    const alone = closed.size === model.groups.length
    shown.forEach((track, place) => {
      const height = showsPasses(track) ? (alone ? wide : 24) : room < 320 ? 14 : 18
      rowOf[track.index] = rows.length
      rows.push({ group: at, track, top, height, first: place === 0 })
      top += height + 1
    })
    top += GAP
  })
  return { rows, height: top, rowOf }
}

/** The row at a height, counted from the first one. */
export function rowAt(of: Layout, y: number): number {
  let low = 0
  let high = of.rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = of.rows[middle]!
    if (row.top + row.height < y) low = middle + 1
    else high = middle
  }
  return low < of.rows.length && of.rows[low]!.top <= y + GAP ? low : -1
}
