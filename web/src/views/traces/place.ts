// From a row of an SQL answer to its place on the timeline: the step of its start, its rank, and the offset in the step. Rows without a
// rank or a start have no place.
import type { QueryAnswer } from '../../api/schema/query'
import { ask } from '../../api/ask'
import { change } from '../../state/location'
import { toast } from '../../state/toasts'
import { afresh } from '../../timeline/address'
import type { Model } from '../../timeline/data'
import { firstStartingAt } from '../../timeline/data'
import * as texts from '../../words/traces'

type Row = readonly (string | number | null)[]

/** True if rows with these columns refer to places in the timeline. */
export const hasPlaces = (columns: readonly string[]): boolean => columns.includes('rank') && columns.includes('start_ns')

/** Opens the timeline at a row. */
export async function showRow(columns: readonly string[], row: Row, paths: readonly string[]): Promise<void> {
  const of = (name: string) => row[columns.indexOf(name)] ?? null
  const [rank, start] = [of('rank'), of('start_ns')]
  if (typeof rank !== 'number' || typeof start !== 'number') return toast(texts.thisRowHasNoRank, { kind: 'refused' })
  // Nanoseconds since 1970 exceed the precision of numbers in JavaScript: the program subtracts, and the nearest span is taken.
  const sql = `SELECT step, ${BigInt(start)} - start_ns FROM steps WHERE start_ns <= ${BigInt(start)} + 256 ORDER BY start_ns DESC LIMIT 1`
  const { answer } = await ask<QueryAnswer>('query', { sql, paths, limit: 1 })
  const [step, at] = answer.rows[0] ?? []
  if (step === undefined || typeof at !== 'number') return toast(texts.thisRowLiesBeforeThe, { kind: 'refused' })
  const name = of('name')
  const host = columns.includes('thread') || columns.includes('shapes')
  change({
    ...afresh('t'),
    't.tab': 'timeline',
    't.finding': undefined,
    't.step': String(step),
    't.rank': String(rank),
    't.host': host ? '1' : undefined,
    't.goto': `${Math.round(at)}~${typeof name === 'string' ? name : ''}`,
  })
}

/** Span of a `t.goto` in the URL: the nearest with the same name, else the one running at that time. */
export function placeOf(model: Pick<Model, 'tracks' | 'names'>, text: string): { track: number; span: number } | null {
  const cut = text.indexOf('~')
  const at = Number(cut < 0 ? text : text.slice(0, cut))
  if (!Number.isFinite(at)) return null
  const wanted = cut < 0 ? -1 : model.names.indexOf(text.slice(cut + 1))
  let best: { track: number; span: number } | null = null
  let least = Infinity
  for (const track of model.tracks) {
    if (wanted < 0) {
      const span = firstStartingAt(track, at + 1) - 1
      if (span >= 0 && at - track.starts[span]! < least) [best, least] = [{ track: track.index, span }, at - track.starts[span]!]
      continue
    }
    for (let span = 0; span < track.count; span++) {
      const distance = Math.abs(track.starts[span]! - at)
      if (track.names[span] === wanted && distance < least) [best, least] = [{ track: track.index, span }, distance]
    }
  }
  return best
}
