// Two timelines in one: the measured one, with the prediction below every stage.
// Responsible for: merging two answers in columns, with names and classes of both. Neither is scaled: both keep their time since the start
// of their step.
import type { RawColumns, RawTrack } from './data'

/** Adds the passes of the same stage of the second answer below every stage of the first. */
export function beside(measured: RawColumns, expected: RawColumns, name = 'expected'): RawColumns {
  const offset = measured.names.length
  const tracks: RawTrack[] = []
  const places = new Map<number, number>()
  const add = (track: RawTrack, from: number | null) => {
    if (from !== null) places.set(from, tracks.length)
    tracks.push({ ...track, id: tracks.length, source: from ?? -1 })
  }
  const groups = [...new Set(measured.tracks.map((track) => track.group))]
  const classes = [...measured.classes]
  const colour = expected.classes.map((one) => {
    const known = classes.indexOf(one)
    return known >= 0 ? known : classes.push(one) - 1
  })
  const shown = new Set<number>()
  for (const group of groups) {
    const own = measured.tracks.filter((track) => track.group === group)
    for (const track of own) add(track, measured.tracks.indexOf(track))
    const stage = own[0]?.stage ?? 0
    if (shown.has(stage)) continue
    shown.add(stage)
    // A group of the other answer starts with its passes.
    const other = expected.tracks.find((track) => track.stage === stage)
    if (!other) continue
    const at = tracks.findIndex((track) => track.group === group) + 1
    const inserted: RawTrack = {
      ...other,
      source: -1,
      group,
      name,
      names: other.names.map((one) => one + offset),
      colours: other.colours.map((one) => colour[one] ?? 0),
    }
    tracks.splice(at, 0, inserted)
    for (const [from, to] of places) if (to >= at) places.set(from, to + 1)
  }
  const place = (track: number) => places.get(track) ?? 0
  const arrows = measured.arrows && {
    ...measured.arrows,
    from_track: measured.arrows.from_track.map(place),
    to_track: measured.arrows.to_track.map(place),
  }
  return {
    ...measured,
    duration_ns: Math.max(measured.duration_ns, expected.duration_ns),
    tracks: tracks.map((track, id) => ({ ...track, id })),
    names: [...measured.names, ...expected.names],
    classes,
    critical: measured.critical.map(([track, span]) => [place(track), span] as const),
    arrows,
    marks: measured.marks.map((mark) => ({ ...mark, track: mark.track === null ? null : place(mark.track) })),
  }
}
