// Relevant cluster sizes: those on the Pareto front of days and dollars, and sizes between them. Pure.
import { front } from '../../charts/scatter/model'
import type { Row, SizeAnswer } from './answer'
import * as texts from '../../words/machines'

type Billed = Pick<Row, 'bill'>

/** Pareto front of days and rental cost, shortest training first; rows without a price are omitted. */
export function frontier<T extends Billed>(rows: readonly T[]): T[] {
  const priced = rows.flatMap((row) => (row.bill.rent === null ? [] : [{ x: row.bill.calendar, y: row.bill.rent, row }]))
  return front(priced).map((one) => one.row)
}

/** Description of the chosen row. */
export function choiceOf(goal: SizeAnswer['size']['goal'], priced: boolean): string {
  if (goal.deadline === null) return texts.shortestWithinBudget
  const least = priced ? 'cheapest' : texts.fewestGpuHours
  return goal.budget === null ? texts.byDeadline(least) : texts.byDeadlineAndWithinBudget(least)
}

/** Ratio of neighbouring sizes below which none is inserted between them. */
const APART = 1.15
/** Maximum number of sizes per question, because each is a search. */
const MOST = 24

/** Sizes with one more between each pair of neighbours: a multiple of the machine with small prime factors, which divide into ranks. */
export function finer(counts: readonly number[], machine: number): number[] {
  const unit = Math.max(1, machine)
  const sorted = [...new Set(counts)].sort((a, b) => a - b)
  const added = sorted.flatMap((low, at) => {
    const high = sorted[at + 1]
    if (high === undefined || high / low < APART) return []
    const middle = Math.sqrt(low * high)
    const found = smoothBetween(low, high, unit).sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0]
    return found === undefined ? [] : [found]
  })
  return [...sorted, ...added.slice(0, Math.max(0, MOST - sorted.length))].sort((a, b) => a - b)
}

/** Multiples of `unit` strictly between, with prime factors 2, 3 and 5 only. */
function smoothBetween(low: number, high: number, unit: number): number[] {
  const found: number[] = []
  for (let fives = unit; fives < high; fives *= 5)
    for (let threes = fives; threes < high; threes *= 3) for (let twos = threes; twos < high; twos *= 2) if (twos > low) found.push(twos)
  return found
}

/** True if all sizes have the same global batch. */
export const hasOneBatch = (rows: readonly { readonly plan: Pick<Row['plan'], 'global_batch'> }[]): boolean =>
  rows.every((row) => row.plan.global_batch === rows[0]?.plan.global_batch)
