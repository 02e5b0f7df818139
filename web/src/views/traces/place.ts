// From a row of an SQL answer to its place on the timeline: the step of its start, its rank, and the offset in the step. Rows without a
// rank or a start have no place.
import type { QueryAnswer } from '../../api/schema/query'
import { ask } from '../../api/ask'
import { change } from '../../state/location'
import { toast } from '../../state/toasts'
import { afresh } from '../../timeline/address'
import type { Model } from '../../timeline/data'
import { firstEndingAfter, firstStartingAt } from '../../timeline/data'
import * as texts from '../../words/traces'

type Row = readonly (string | number | null)[]

/** True if rows with these columns refer to places in the timeline. */
export const hasPlaces = (columns: readonly string[]): boolean => columns.includes('rank') && columns.includes('start_ns')

/** Opens the timeline at a row. */
export async function showRow(columns: readonly string[], row: Row, paths: readonly string[]): Promise<void> {
  const of = (name: string) => row[columns.indexOf(name)] ?? null
  const [rank, start] = [of('rank'), of('start_ns')]
  if (typeof rank !== 'number' || typeof start !== 'number') return toast(texts.thisRowHasNoRank, { kind: 'refused' })
  // A mean of starts is not the start of a span.
  if (!Number.isInteger(start) || !Number.isInteger(rank)) return toast(texts.thisStartIsNoInteger, { kind: 'refused' })
  // Nanoseconds since 1970 exceed the precision of numbers in JavaScript: the program subtracts.
  const sql = `SELECT step, ${BigInt(start)} - start_ns FROM steps WHERE start_ns <= ${BigInt(start)} + 256 ORDER BY start_ns DESC LIMIT 1`
  const { answer } = await ask<QueryAnswer>('query', { sql, paths, limit: 1 })
  const [step, at] = answer.rows[0] ?? []
  if (step === undefined || typeof at !== 'number') return toast(texts.thisRowLiesBeforeThe, { kind: 'refused' })
  const [name, duration, end] = [of('name'), of('duration_ns'), of('end_ns')]
  const length = typeof duration === 'number' ? duration : typeof end === 'number' ? end - start : ''
  const host = columns.includes('thread') || columns.includes('shapes')
  change({
    ...afresh('t'),
    't.tab': 'timeline',
    't.finding': undefined,
    't.step': String(step),
    't.rank': String(rank),
    't.host': host ? '1' : undefined,
    't.goto': `${Math.round(at)}_${length}_${of('stream') ?? of('thread') ?? ''}~${typeof name === 'string' ? name : ''}`,
  })
}

/** Error of a start in nanoseconds since 1970 as a number of JavaScript, which has 53 bits. */
const ROUNDING = 256

interface Wanted {
  readonly at: number
  readonly duration: number | null
  readonly stream: string
  readonly name: string
}

/** `start_duration_stream~name`, of which only the start is required. */
function read(text: string): Wanted | null {
  const cut = text.indexOf('~')
  const [start = '', duration = '', ...stream] = (cut < 0 ? text : text.slice(0, cut)).split('_')
  const at = Number(start)
  if (start === '' || !Number.isFinite(at)) return null
  return { at, duration: duration === '' ? null : Number(duration), stream: stream.join('_'), name: cut < 0 ? '' : text.slice(cut + 1) }
}

/** Span of a `t.goto` in the URL: the one that begins there, by name and duration if several do, else the one running at that time, which
 * is a merged one. Null if none is drawn. */
export function placeOf(model: Pick<Model, 'tracks' | 'names'>, text: string): { track: number; span: number } | null {
  const wanted = read(text)
  if (!wanted) return null
  const { at, duration, stream } = wanted
  const name = model.names.indexOf(wanted.name)
  // Rows of a prediction next to the measurement have no source.
  const drawn = model.tracks.filter((track) => track.source >= 0)
  const own = stream === '' ? [] : drawn.filter((track) => track.name.split(/[\s()]+/).includes(stream))
  const tracks = own.length > 0 ? own : drawn
  let best: { track: number; span: number } | null = null
  let least: readonly number[] = []
  for (const track of tracks) {
    for (let span = firstStartingAt(track, at - ROUNDING); span < track.count && track.starts[span]! <= at + ROUNDING; span++) {
      const length = track.ends[span]! - track.starts[span]!
      const score = [
        name >= 0 && track.names[span] !== name ? 1 : 0,
        duration === null ? 0 : Math.abs(length - duration),
        Math.abs(track.starts[span]! - at),
      ]
      if (best === null || isLess(score, least)) [best, least] = [{ track: track.index, span }, score]
    }
  }
  if (best) return best
  for (const track of tracks) {
    const span = firstEndingAfter(track, at)
    if (span < track.count && track.starts[span]! <= at) return { track: track.index, span }
  }
  return null
}

/** Lexicographic order. */
function isLess(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, index) => value !== other[index])
  return at >= 0 && one[at]! < other[at]!
}
