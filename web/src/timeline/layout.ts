// Layout of tracks: pinned tracks at the top, then groups below each other, collapsed ones as their first track.
// Responsible for: rows and their positions. Excludes drawing.
import type { Counter, Group, Model, Track } from './data'

export interface Row {
  readonly group: number
  /** Track; null for a counter. */
  readonly track: Track | null
  readonly counter: Counter | null
  readonly top: number
  readonly height: number
  /** True for the first row of its group. */
  readonly first: boolean
}

export interface Layout {
  readonly rows: readonly Row[]
  readonly height: number
  /** Row of every track; -1 if hidden. */
  readonly rowOf: Int32Array
  /** Number of pinned rows at the start, which do not scroll. */
  readonly pinned: number
  readonly pinnedHeight: number
}

export const GAP = 5

/** Maximum growth factor of rows that do not fill the height. */
const MOST_GROWTH = 2.2

const STANDING_OUT = new Set(['passes', 'measured', 'expected', 'predicted', 'device'])

/** True if a track contains passes, whose rows are taller to fit micro-batch numbers. */
export function showsPasses(track: Track): boolean {
  return STANDING_OUT.has(track.name)
}

/** Tracks shown by a collapsed group: the first one, and its prediction. */
export function summary(group: Group): readonly Track[] {
  const [first, second] = group.tracks
  if (!first) return []
  return second?.name === 'expected' || second?.name === 'predicted' ? [first, second] : [first]
}

/** Rows for a given height, which they share while they stay readable. */
export function layout(model: Model, closed: ReadonlySet<string>, room: number, pins: readonly number[] = []): Layout {
  const pinned = pins.flatMap((at) => model.tracks[at] ?? [])
  const isPinned = new Set(pinned)
  const groups = model.groups.map((group) => {
    const isClosed = closed.has(group.name)
    const tracks = (isClosed ? summary(group) : group.tracks).filter((track) => !isPinned.has(track))
    return { tracks, counters: isClosed ? [] : group.counters }
  })
  const alone = closed.size === model.groups.length
  const all = groups.reduce((sum, { tracks }) => sum + tracks.length, 0)
  const each = (room - GAP * (groups.length + 1)) / Math.max(1, all) - 1
  const wide = Math.max(15, Math.min(24, Math.floor(each)))
  const usual = (track: Track) => (showsPasses(track) ? (alone ? wide : 24) : room < 320 ? 14 : 18)
  const tall = room < 320 ? 22 : 28
  const gaps = GAP * (groups.length + 1) + (pinned.length > 0 ? GAP : 0)
  const need =
    pinned.reduce((sum, track) => sum + usual(track) + 1, 0) +
    groups.reduce(
      (sum, { tracks, counters }) => sum + tracks.reduce((own, track) => own + usual(track) + 1, 0) + counters.length * (tall + 1),
      0,
    )
  const grow = Math.max(1, Math.min(MOST_GROWTH, (room - gaps) / Math.max(1, need)))
  const rows: Row[] = []
  const rowOf = new Int32Array(model.tracks.length).fill(-1)
  const groupOf = (track: Track) => model.groups.findIndex((group) => group.name === track.group)
  let top = GAP
  for (const track of pinned) {
    rowOf[track.index] = rows.length
    const height = Math.floor(usual(track) * grow)
    rows.push({ group: groupOf(track), track, counter: null, top, height, first: true })
    top += height + 1
  }
  const pinnedHeight = pinned.length > 0 ? top + 2 : 0
  if (pinned.length > 0) top += GAP
  groups.forEach(({ tracks, counters }, at) => {
    if (tracks.length + counters.length === 0) return
    tracks.forEach((track, place) => {
      const height = Math.floor(usual(track) * grow)
      rowOf[track.index] = rows.length
      rows.push({ group: at, track, counter: null, top, height, first: place === 0 })
      top += height + 1
    })
    counters.forEach((counter, place) => {
      const height = Math.floor(tall * grow)
      rows.push({ group: at, track: null, counter, top, height, first: tracks.length === 0 && place === 0 })
      top += height + 1
    })
    top += GAP
  })
  return { rows, height: top, rowOf, pinned: pinned.length, pinnedHeight }
}

/** Height of the rows at their maximum growth: a higher canvas would be empty below them. */
export function tallest(model: Model, closed: ReadonlySet<string>, pins: readonly number[] = []): number {
  return layout(model, closed, Number.MAX_SAFE_INTEGER, pins).height
}

/** Vertical position of a row on the canvas. */
export function topOf(of: Layout, at: number, scrolled: number): number {
  const row = of.rows[at]!
  return at < of.pinned ? row.top : row.top - scrolled
}

/** Row at a vertical position of the canvas; -1 without one. */
export function rowAt(of: Layout, y: number, scrolled: number): number {
  const isPinned = of.pinned > 0 && y < of.pinnedHeight
  const height = isPinned ? y : y + scrolled
  let low = isPinned ? 0 : of.pinned
  const end = isPinned ? of.pinned : of.rows.length
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = of.rows[middle]!
    if (row.top + row.height < height) low = middle + 1
    else high = middle
  }
  return low < end && of.rows[low]!.top <= height + GAP ? low : -1
}

/** First visible row below the pinned ones. */
export function firstInSight(of: Layout, scrolled: number): number {
  const at = rowAt(of, of.pinnedHeight, scrolled)
  return Math.max(of.pinned, at)
}
