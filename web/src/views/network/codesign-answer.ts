// What a co-design answers: the network with the lowest cost per token, or that several cannot be distinguished, and rows that differ in nothing.
// Pure. The program judges by its intervals (`contenders`); here its judgement is put in order.
import type { DesignAnswer, DesignRow } from './answer'
import { kindOf } from './names'

/** Networks that agree in all that is compared: one line of the table. */
export interface Group {
  readonly rows: readonly [DesignRow, ...DesignRow[]]
  readonly isFront: boolean
  readonly isContender: boolean
}

export type Verdict =
  /** Not all was searched: nothing is recommended. */
  | { readonly is: 'stopped' }
  /** The model fits on none. */
  | { readonly is: 'nothing'; readonly reason: string }
  /** No size with a price has a step. */
  | { readonly is: 'unpriced' }
  | {
      readonly is: 'cheapest'
      /** Cheapest to buy among the networks of equal cost per token; several are equal in price too. */
      readonly best: Group
      /** All of equal cost per token within the intervals. */
      readonly tied: number
      /** Dollars for a million tokens. */
      readonly token: number
      /** What the next price among the tied ones is above the best's. */
      readonly dearer: number | null
      /** The next network beyond the tie, by how much its token costs more. */
      readonly next: { readonly row: DesignRow; readonly by: number } | null
    }

export function verdictOf(answer: Pick<DesignAnswer, 'rows' | 'classes' | 'contenders' | 'complete'>): Verdict {
  const { rows, classes, contenders } = answer
  if (rows.every((row) => row.step_time === null) && answer.complete)
    return { is: 'nothing', reason: classes.map((one) => one.reason).find((reason) => reason !== '') ?? '' }
  if (!answer.complete) return { is: 'stopped' }
  const groups = groupsOf(answer)
    .filter((group) => group.isContender)
    .sort((a, b) => a.rows[0].dollars - b.rows[0].dollars)
  const [best, second] = groups
  const token = best?.rows[0].simulated?.dollars
  if (!best || token === undefined) return { is: 'unpriced' }
  const beyond = rows
    .filter((row, at) => !contenders.includes(at) && row.simulated?.dollars !== undefined)
    .sort((a, b) => (a.simulated?.dollars ?? 0) - (b.simulated?.dollars ?? 0))[0]
  return {
    is: 'cheapest',
    best,
    tied: contenders.length,
    token,
    dearer: second ? second.rows[0].dollars - best.rows[0].dollars : null,
    next: beyond ? { row: beyond, by: (beyond.simulated?.dollars ?? 0) / token - 1 } : null,
  }
}

/** The step that the program's reports and pictures show: the simulated one, in closed form without a simulation. */
export const stepOf = (row: DesignRow): number | null => row.simulated?.step_time ?? row.step_time

/** Rows that differ in nothing but their topology and what has no effect there, together; in the order of the rows. */
export function groupsOf({ rows, contenders }: Pick<DesignAnswer, 'rows' | 'contenders'>): readonly Group[] {
  const found = new Map<string, { rows: [DesignRow, ...DesignRow[]]; isFront: boolean; isContender: boolean }>()
  rows.forEach((row, at) => {
    const figures = [stepOf(row), row.dollars, row.watts].map((value) => value?.toPrecision(9) ?? '')
    const key = [row.domain, row.speed, ...figures, row.class].join(' ')
    const isContender = contenders.includes(at)
    const known = found.get(key)
    if (!known) found.set(key, { rows: [row], isFront: row.on_front, isContender })
    else {
      known.rows.push(row)
      known.isFront ||= row.on_front
      known.isContender ||= isContender
    }
  })
  return [...found.values()]
}

/** Lines that decide, and the rest: what is on a front or may be the cheapest, the fastest first. */
export function sorted(groups: readonly Group[]): { readonly first: readonly Group[]; readonly rest: readonly Group[] } {
  const time = (group: Group) => stepOf(group.rows[0]) ?? Number.POSITIVE_INFINITY
  const list = [...groups].sort(
    (a, b) =>
      Number(b.isContender) - Number(a.isContender) ||
      a.rows[0].domain - b.rows[0].domain ||
      time(a) - time(b) ||
      a.rows[0].dollars - b.rows[0].dollars,
  )
  const matters = (group: Group) => group.isFront || group.isContender
  return { first: list.filter(matters), rest: list.filter((group) => !matters(group)) }
}

/** `Clos 2:1`; nothing behind a topology without leaves to oversubscribe. */
export const nameOf = (row: DesignRow): string =>
  row.oversubscription > 1 ? `${kindOf(row.topology).title} ${row.oversubscription}:1` : kindOf(row.topology).title
