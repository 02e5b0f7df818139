// The answer in columns (`timeline --format columns`, `profile --timeline`, `pipeline --timeline`) as typed arrays.
// Responsible for: one object for each track and none for a span. Refuses to change a number: what is drawn is what was said.

export interface RawTrack {
  readonly id: number
  /** Its place in the measured answer; -1 for a row of another answer. */
  readonly source?: number
  readonly group: string
  readonly name: string
  readonly rank: number
  readonly stage: number
  readonly spans?: number
  readonly resolution_ns?: number
  readonly starts: readonly number[]
  readonly lengths: readonly number[]
  readonly names: readonly number[]
  readonly colours: readonly number[]
  readonly micro_batch?: readonly number[]
  readonly chunk?: readonly number[]
  readonly layer?: readonly number[]
  readonly bytes?: readonly number[]
  readonly counts?: readonly number[]
  readonly busy?: readonly number[]
}

export interface Part {
  readonly name: string
  readonly time_ns: number
}

export interface BubbleRow {
  readonly rank: number
  readonly stage: number
  readonly parts: readonly Part[]
  readonly share: number
}

export type Severity = 'note' | 'warning' | 'fault'

export interface Mark {
  readonly id?: string
  readonly track: number | null
  readonly span?: number | null
  readonly at: number
  readonly length: number
  readonly title: string
  readonly detail: string
  readonly severity: Severity
  readonly cost_ns?: number | null
  /** The cost is the most that it can be. */
  readonly at_most?: boolean
}

export interface RawColumns {
  readonly label: string
  readonly origin?: 'modelled' | 'measured'
  readonly duration_ns: number
  readonly window?: { readonly from: number; readonly to: number }
  readonly tracks: readonly RawTrack[]
  readonly names: readonly string[]
  readonly classes: readonly string[]
  readonly critical: readonly (readonly [number, number])[]
  readonly critical_parts?: readonly Part[]
  readonly arrows?: {
    readonly from_track: readonly number[]
    readonly from_span: readonly number[]
    readonly to_track: readonly number[]
    readonly to_span: readonly number[]
  }
  readonly bubbles?: readonly BubbleRow[]
  readonly marks: readonly Mark[]
  readonly spans?: number
  readonly merged?: number
  readonly hidden_ranks?: readonly number[]
}

/** A span's flags, one byte each. */
export const CRITICAL = 1
export const FOUND = 2

export interface Track {
  readonly index: number
  /** Its place in the answer that it is from; -1 where that is another answer. */
  readonly source: number
  readonly group: string
  readonly name: string
  readonly rank: number
  readonly stage: number
  readonly count: number
  readonly starts: Float64Array
  readonly ends: Float64Array
  readonly names: Uint32Array
  readonly colours: Uint8Array
  readonly microBatch: Int32Array | null
  readonly chunk: Int32Array | null
  readonly layer: Int32Array | null
  readonly bytes: Float64Array | null
  /** How many spans each stands for; null where none were merged. */
  readonly counts: Uint32Array | null
  readonly busy: Float64Array | null
  readonly flags: Uint8Array
  /** Spans before merging, and within how many nanoseconds neighbours were merged. */
  readonly spans: number
  readonly resolution: number
}

export interface Group {
  readonly name: string
  readonly tracks: readonly Track[]
}

export interface Place {
  readonly track: number
  readonly span: number
}

export interface Model {
  readonly label: string
  readonly measured: boolean
  readonly duration: number
  readonly tracks: readonly Track[]
  readonly groups: readonly Group[]
  readonly names: readonly string[]
  readonly classes: readonly string[]
  readonly critical: readonly Place[]
  readonly criticalParts: readonly Part[]
  readonly bubbles: readonly BubbleRow[]
  readonly marks: readonly Mark[]
  readonly spans: number
  readonly merged: number
  /** Messages sorted by sender, and their order by receiver. */
  readonly arrows: Arrows
}

export interface Arrows {
  readonly fromTrack: Uint32Array
  readonly fromSpan: Uint32Array
  readonly toTrack: Uint32Array
  readonly toSpan: Uint32Array
}

const some = (values: readonly number[] | undefined) => (values && values.length > 0 ? values : null)

function track(raw: RawTrack, index: number): Track {
  const starts = Float64Array.from(raw.starts)
  const ends = Float64Array.from(raw.lengths, (length, at) => starts[at]! + length)
  const column = (values: readonly number[] | undefined) => {
    const found = some(values)
    return found && Int32Array.from(found)
  }
  const counts = some(raw.counts)
  const busy = some(raw.busy)
  const bytes = some(raw.bytes)
  return {
    index,
    source: raw.source ?? index,
    group: raw.group,
    name: raw.name,
    rank: raw.rank,
    stage: raw.stage,
    count: starts.length,
    starts,
    ends,
    names: Uint32Array.from(raw.names),
    colours: Uint8Array.from(raw.colours),
    microBatch: column(raw.micro_batch),
    chunk: column(raw.chunk),
    layer: column(raw.layer),
    bytes: bytes && Float64Array.from(bytes),
    counts: counts && Uint32Array.from(counts),
    busy: busy && Float64Array.from(busy),
    flags: new Uint8Array(starts.length),
    spans: raw.spans ?? starts.length,
    resolution: raw.resolution_ns ?? 0,
  }
}

/** Reads the answer. Places that do not exist are left out rather than trusted. */
export function model(raw: RawColumns): Model {
  const tracks = raw.tracks.map(track)
  const groups = new Map<string, Track[]>()
  for (const one of tracks) {
    const group = groups.get(one.group)
    if (group) group.push(one)
    else groups.set(one.group, [one])
  }
  const critical: Place[] = []
  for (const [at, span] of raw.critical) {
    const flags = tracks[at]?.flags
    if (!flags || span >= flags.length) continue
    flags[span] = flags[span]! | CRITICAL
    critical.push({ track: at, span })
    // The pass that it is part of is shown as critical, too: it is what a closed group shows.
    const own = tracks[at]!
    const passes = groups.get(own.group)?.[0]
    if (passes && passes !== own) {
      const middle = (own.starts[span]! + own.ends[span]!) / 2
      const pass = firstEndingAfter(passes, middle)
      if (pass < passes.count && passes.starts[pass]! <= middle) passes.flags[pass] = passes.flags[pass]! | CRITICAL
    }
  }
  return {
    label: raw.label,
    measured: raw.origin === 'measured',
    duration: Math.max(1, raw.duration_ns),
    tracks,
    groups: [...groups].map(([name, own]) => ({ name, tracks: own })),
    names: raw.names,
    classes: raw.classes,
    critical,
    criticalParts: raw.critical_parts ?? [],
    bubbles: raw.bubbles ?? [],
    marks: raw.marks.filter((mark) => mark.track === null || mark.track < tracks.length),
    spans: raw.spans ?? tracks.reduce((sum, one) => sum + one.count, 0),
    merged: raw.merged ?? 0,
    arrows: {
      fromTrack: Uint32Array.from(raw.arrows?.from_track ?? []),
      fromSpan: Uint32Array.from(raw.arrows?.from_span ?? []),
      toTrack: Uint32Array.from(raw.arrows?.to_track ?? []),
      toSpan: Uint32Array.from(raw.arrows?.to_span ?? []),
    },
  }
}

/** The first span that ends after a moment: spans of a track do not overlap, so their ends are sorted as their starts are. */
export function firstEndingAfter(track: Track, time: number): number {
  let low = 0
  let high = track.count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (track.ends[middle]! <= time) low = middle + 1
    else high = middle
  }
  return low
}

/** The first span that starts at a moment or after it. */
export function firstStartingAt(track: Track, time: number, from = 0): number {
  let low = from
  let high = track.count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (track.starts[middle]! < time) low = middle + 1
    else high = middle
  }
  return low
}

/** The span at a moment, or within `slack` of it: the nearest one. */
export function spanAt(track: Track, time: number, slack: number): number | null {
  const at = firstEndingAfter(track, time)
  const distance = (span: number) => {
    if (span < 0 || span >= track.count) return Infinity
    return Math.max(track.starts[span]! - time, time - track.ends[span]!, 0)
  }
  const best = distance(at - 1) < distance(at) ? at - 1 : at
  return distance(best) <= slack ? best : null
}

let asked: { arrows: Arrows; place: Place; found: { from: Place[]; to: Place[] } } | null = null

/** What waits for a span, and what it waited for; remembered for the span that was asked last, because every frame asks. */
export function neighbours(arrows: Arrows, place: Place): { from: Place[]; to: Place[] } {
  if (asked && asked.arrows === arrows && asked.place.track === place.track && asked.place.span === place.span) return asked.found
  const from: Place[] = []
  const to: Place[] = []
  for (let at = 0; at < arrows.fromTrack.length; at++) {
    if (arrows.toTrack[at] === place.track && arrows.toSpan[at] === place.span) {
      from.push({ track: arrows.fromTrack[at]!, span: arrows.fromSpan[at]! })
    } else if (arrows.fromTrack[at] === place.track && arrows.fromSpan[at] === place.span) {
      to.push({ track: arrows.toTrack[at]!, span: arrows.toSpan[at]! })
    }
  }
  const found = { from, to }
  asked = { arrows, place, found }
  return found
}
