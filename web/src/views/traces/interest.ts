// Ranks of interest, and the position of each rank in a grid of its job. Pure: from the program's measurements of every rank.
import type { Finding, Profile, RankSteps } from './types'
import * as texts from '../../words/traces'

export interface Interest {
  readonly title: string
  readonly rank: number
}

const median = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value): value is number => value !== null).sort((a, b) => a - b)
  return known[Math.floor((known.length - 1) / 2)] ?? null
}

/** Value of every rank: its median over steps. */
export function ofRanks(
  heat: RankSteps,
  measure: 'own_time_ns' | 'compute_ns' | 'waiting_ns' | 'waiting_caused_ns',
): ReadonlyMap<number, number | null> {
  return new Map(heat.ranks.map((rank, at) => [rank, median(heat[measure][at] ?? [])]))
}

export const MEASURES = [
  ['own_time_ns', texts.ownTime],
  ['compute_ns', texts.compute],
  ['waiting_ns', texts.waiting3],
  ['waiting_caused_ns', texts.waitsCaused],
] as const

export interface RankOfMany {
  readonly rank: number
  /** Values of `MEASURES`. */
  readonly values: readonly (number | null)[]
}

/** Ranks of a large job as rows: medians over steps, the slowest first. Pure. */
export function rankRows(heat: RankSteps): readonly RankOfMany[] {
  const measures = MEASURES.map(([key]) => ofRanks(heat, key))
  const rows = heat.ranks.map((rank) => ({ rank, values: measures.map((of) => of.get(rank) ?? null) }))
  return rows.sort((a, b) => (b.values[0] ?? -1) - (a.values[0] ?? -1) || a.rank - b.rank)
}

/** Slowest rank, a typical one and the one with the longest waits caused; each rank once. */
export function interesting(heat: RankSteps | null | undefined): readonly Interest[] {
  if (!heat || heat.ranks.length < 2) return []
  const sorted = (measure: 'own_time_ns' | 'waiting_caused_ns') =>
    [...ofRanks(heat, measure)].filter((one): one is [number, number] => one[1] !== null).sort((a, b) => b[1] - a[1] || a[0] - b[0])
  const own = sorted('own_time_ns')
  const caused = sorted('waiting_caused_ns')
  const all = [
    ['slowest', own[0]?.[0]],
    [texts.longestWaitsCaused, caused[0] && caused[0][1] > 0 ? caused[0][0] : undefined],
    ['typical', own[Math.floor(own.length / 2)]?.[0]],
    ['fastest', own.at(-1)?.[0]],
  ] as const
  const found: Interest[] = []
  for (const [title, rank] of all) if (rank !== undefined && !found.some((one) => one.rank === rank)) found.push({ title, rank })
  return found
}

/** Maximum number of ranks that the program draws at once, and of those in the sample. */
export const MOST_DRAWN = 16
const MOST_NOTABLE = 8

/** Sample of a large job to draw first: ranks of interest, ranks of findings and further typical ones, each once. Empty if all fit. */
export function notable(heat: RankSteps | null | undefined, findings: readonly Pick<Finding, 'subject'>[]): readonly number[] {
  if (!heat || heat.ranks.length <= MOST_DRAWN) return []
  const known = new Set(heat.ranks)
  const named = findings.flatMap((one) => one.subject?.ranks ?? []).filter((rank) => known.has(rank))
  const own = [...ofRanks(heat, 'own_time_ns')].filter((one): one is [number, number] => one[1] !== null).sort((a, b) => b[1] - a[1])
  const middle = Math.floor(own.length / 2)
  const typical = own.slice(middle, middle + 3).map(([rank]) => rank)
  const all = [...interesting(heat).map((one) => one.rank), ...named.slice(0, MOST_NOTABLE), ...typical]
  return [...new Set(all)].slice(0, MOST_NOTABLE)
}

export interface RankSet {
  readonly title: string
  readonly ranks: readonly number[]
}

/** Sets of ranks to draw together: those of a host, or of as many consecutive ranks as a host has. */
export function hostSets(profile: Pick<Profile, 'rows'>, ranks: readonly number[]): readonly RankSet[] {
  const { rows, of } = grid(profile, ranks, 8)
  return rows.map((row) => ({
    title: of === 'host' ? row.name : texts.ranksFromTo(row.name),
    ranks: row.ranks.filter((rank): rank is number => rank !== null).slice(0, MOST_DRAWN),
  }))
}

export interface Grid {
  readonly rows: readonly { readonly name: string; readonly ranks: readonly (number | null)[] }[]
  readonly columns: readonly string[]
  /** Meaning of a row. */
  readonly of: 'layout' | 'host' | 'ranks in order'
}

/** Ranks by host if the traces have hosts; else in order, `wide` per row. */
export function grid(profile: Pick<Profile, 'rows'>, ranks: readonly number[], wide: number): Grid {
  const hosts = new Map<string, number[]>()
  const named = new Map(profile.rows.map((row) => [row.rank, row.host]))
  for (const rank of ranks) {
    const host = named.get(rank)
    if (host) hosts.set(host, [...(hosts.get(host) ?? []), rank])
  }
  const byHost = hosts.size > 1 && [...hosts.values()].reduce((sum, list) => sum + list.length, 0) === ranks.length
  if (byHost) {
    const most = Math.max(...[...hosts.values()].map((list) => list.length))
    const rows = [...hosts].map(([name, list]) => ({ name, ranks: Array.from({ length: most }, (_, at) => list[at] ?? null) }))
    return { rows, columns: Array.from({ length: most }, (_, at) => texts.gpu(at)), of: 'host' }
  }
  const rows = []
  for (let from = 0; from < ranks.length; from += wide) {
    const part = ranks.slice(from, from + wide)
    rows.push({ name: `${part[0]}–${part.at(-1)}`, ranks: Array.from({ length: wide }, (_, at) => part[at] ?? null) })
  }
  return { rows, columns: Array.from({ length: wide }, (_, at) => `+${at}`), of: texts.ranksInOrder }
}

/** Ranks per row, so that the grid is about twice as wide as high, in powers of two from a host's eight. */
export function width(ranks: number): number {
  let wide = 8
  while (wide * wide < 2 * ranks && wide < 64) wide *= 2
  return wide
}

/** Name of the straggler finding of a rank in the URL; undefined if the rank has none. */
export function stragglerOf(findings: readonly Pick<Finding, 'id' | 'subject'>[], rank: number): string | undefined {
  const at = findings.findIndex((one) => one.id === 'straggler' && one.subject?.ranks?.includes(rank))
  return at < 0 ? undefined : nameOf(findings, at)
}

/** Name of a finding in the URL: that of its rule, with a number from the second finding of a rule on. */
export function nameOf(findings: readonly { readonly id?: string | undefined }[], at: number): string {
  const id = findings[at]?.id ?? ''
  const before = findings.slice(0, at).filter((one) => one.id === id).length
  return before === 0 ? id : `${id}~${before + 1}`
}
