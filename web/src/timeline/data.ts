// Answers in columns (`timeline --format columns`, `profile --timeline`, `pipeline --timeline`) as typed arrays.
// Responsible for: one object per track and none per span. Numbers are unchanged.

export interface RawTrack {
  readonly id: number
  /** Index in the measured answer; -1 for a row of another answer. */
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
  /** Longest waits by awaited work. */
  readonly waits?: readonly Awaited[]
  /** Bubble time without a recorded cause. */
  readonly no_cause_ns?: number
}

/** Work of another rank, with the time of bubbles that wait for it. */
export interface Awaited {
  readonly rank: number
  readonly stage: number
  readonly name: string
  readonly micro_batch: number | null
  readonly time_ns: number
}

/** Reason for an arrow from one span to another. */
export type ArrowKind = 'message' | 'launch' | 'collective' | 'awaited'

/** A counter: each value holds until the next one. */
export interface RawCounter {
  readonly group: string
  readonly name: string
  readonly unit: string
  readonly rank: number
  readonly stage: number
  readonly at: readonly number[]
  readonly value: readonly number[]
}

export type Severity = 'note' | 'warning' | 'fault'

export interface Mark {
  readonly id?: string
  /** The most affected rank, whose tracks may be hidden. */
  readonly rank?: number | null
  readonly track: number | null
  readonly span?: number | null
  readonly at: number
  readonly length: number
  readonly title: string
  readonly detail: string
  readonly severity: Severity
  readonly cost_ns?: number | null
  /** True if the cost is an upper bound. */
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
    readonly kind?: readonly number[]
  }
  readonly arrow_kinds?: readonly ArrowKind[]
  readonly counters?: readonly RawCounter[]
  readonly bubbles?: readonly BubbleRow[]
  readonly marks: readonly Mark[]
  readonly spans?: number
  readonly merged?: number
  readonly hidden_ranks?: readonly number[]
}

/** Flags of a span, one byte each. */
export const CRITICAL = 1
export const FOUND = 2
export const LIT = 4

/** Number of additional shades for host spans, by name. */
export const SHADES = 5

export interface Track {
  readonly index: number
  /** Index in its answer; -1 for a row of another answer. */
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
  /** Number of spans in each merged one; null if none were merged. */
  readonly counts: Uint32Array | null
  readonly busy: Float64Array | null
  readonly flags: Uint8Array
  /** Number of spans before merging. */
  readonly spans: number
  readonly resolution: number
}

export interface Counter {
  readonly index: number
  readonly group: string
  readonly name: string
  readonly unit: string
  readonly rank: number
  readonly at: Float64Array
  readonly value: Float64Array
  /** Maximum value, or 0. */
  readonly most: number
}

export interface Group {
  readonly name: string
  readonly tracks: readonly Track[]
  readonly counters: readonly Counter[]
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
  /** Class of every colour; shades of one class repeat it. */
  readonly classes: readonly string[]
  readonly counters: readonly Counter[]
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
  readonly kind: Uint8Array
  readonly kinds: readonly ArrowKind[]
}

/** Other end of an arrow. */
export interface Neighbour extends Place {
  readonly kind: ArrowKind
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

/** Reads the answer. Invalid indices are ignored. */
export function model(raw: RawColumns): Model {
  const tracks = raw.tracks.map(track)
  const counters = (raw.counters ?? []).map((one, index): Counter => {
    const value = Float64Array.from(one.value)
    let most = 0
    for (const each of value) if (each > most) most = each
    const { group, name, unit, rank } = one
    return { index, group, name, unit, rank, at: Float64Array.from(one.at), value, most }
  })
  const classes = shaded(raw, tracks)
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
    // The enclosing pass is also marked as critical, because a collapsed group shows only passes.
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
    groups: [...groups].map(([name, own]) => ({ name, tracks: own, counters: counters.filter((one) => one.group === name) })),
    names: raw.names,
    classes,
    counters,
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
      kind: raw.arrows?.kind ? Uint8Array.from(raw.arrows.kind) : new Uint8Array(raw.arrows?.from_track.length ?? 0),
      kinds: raw.arrow_kinds ?? ['message'],
    },
  }
}

/** Classes whose spans have shades by name, and whether those of a track have them: calls on threads, kernels of unknown kind on devices. */
const SHADED: readonly (readonly [string, (track: string) => boolean])[] = [
  ['host', (track) => track.startsWith('thread ')],
  ['other', (track) => !track.startsWith('thread ')],
]
/** Idle time without a cause, which keeps the colour of its class. */
const UNEXPLAINED = 'unexplained'

/** Assigns spans of some classes shades by name, so that different calls and kernels are distinguishable. Returns the classes followed by
 * the shades. */
function shaded(raw: RawColumns, tracks: readonly Track[]): readonly string[] {
  const classes = [...raw.classes]
  for (const [name, isShaded] of SHADED) {
    const own = raw.classes.indexOf(name)
    if (own < 0) continue
    const first = classes.length
    const shades = Uint8Array.from(raw.names, (text) => {
      let hash = 0
      for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) >>> 0
      const shade = hash % (SHADES + 1)
      return shade === SHADES || text === UNEXPLAINED ? own : first + shade
    })
    for (const { name: track, colours, names } of tracks) {
      // Idle intervals of a device keep the colour of the class.
      if (!isShaded(track)) continue
      for (let at = 0; at < colours.length; at++) if (colours[at] === own) colours[at] = shades[names[at]!] ?? own
    }
    classes.push(...Array<string>(SHADES).fill(name))
  }
  return classes
}

/** First span that ends after a time. Spans of a track do not overlap, so their ends are sorted like their starts. */
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

/** First span that starts at or after a time. */
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

/** Span at a time, or the nearest one within `slack`. */
export function spanAt(track: Track, time: number, slack: number): number | null {
  const at = firstEndingAfter(track, time)
  const distance = (span: number) => {
    if (span < 0 || span >= track.count) return Infinity
    return Math.max(track.starts[span]! - time, time - track.ends[span]!, 0)
  }
  const best = distance(at - 1) < distance(at) ? at - 1 : at
  return distance(best) <= slack ? best : null
}

let asked: { arrows: Arrows; place: Place; found: { from: Neighbour[]; to: Neighbour[] } } | null = null

/** Predecessors and successors of a span; cached for the last span, because every frame needs them. */
export function neighbours(arrows: Arrows, place: Place): { from: Neighbour[]; to: Neighbour[] } {
  if (asked && asked.arrows === arrows && asked.place.track === place.track && asked.place.span === place.span) return asked.found
  const from: Neighbour[] = []
  const to: Neighbour[] = []
  for (let at = 0; at < arrows.fromTrack.length; at++) {
    const kind = arrows.kinds[arrows.kind[at]!] ?? 'message'
    if (arrows.toTrack[at] === place.track && arrows.toSpan[at] === place.span) {
      from.push({ track: arrows.fromTrack[at]!, span: arrows.fromSpan[at]!, kind })
    } else if (arrows.fromTrack[at] === place.track && arrows.fromSpan[at] === place.span) {
      to.push({ track: arrows.toTrack[at]!, span: arrows.toSpan[at]!, kind })
    }
  }
  const found = { from, to }
  asked = { arrows, place, found }
  return found
}

/** All parts of the collective of a span: the last to enter, and the targets of its arrows. */
export function collectiveOf(arrows: Arrows, place: Place): readonly Place[] {
  const own = neighbours(arrows, place)
  const last = own.from.find((one) => one.kind === 'collective')
  if (!last) {
    const to = own.to.filter((one) => one.kind === 'collective')
    return to.length > 0 ? [place, ...to] : []
  }
  const to: Place[] = []
  for (let at = 0; at < arrows.fromTrack.length; at++) {
    if (arrows.fromTrack[at] === last.track && arrows.fromSpan[at] === last.span && arrows.kinds[arrows.kind[at]!] === 'collective')
      to.push({ track: arrows.toTrack[at]!, span: arrows.toSpan[at]! })
  }
  return [last, ...to]
}

/** Value of a counter at a time; null before its first. */
export function valueAt(counter: Counter, time: number): number | null {
  let low = 0
  let high = counter.at.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (counter.at[middle]! <= time) low = middle + 1
    else high = middle
  }
  return low === 0 ? null : counter.value[low - 1]!
}
