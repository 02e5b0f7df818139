// Relevant cluster sizes: those on the Pareto front of days and dollars, and sizes between them. Pure.
import { front } from '../../charts/scatter/model'
import type { Row, SizeAnswer } from './answer'
import * as texts from '../../words/machines'

type Billed = Pick<Row, 'bill'>

/** Rows that no other beats in both days and rent, the shortest training first; what has no price is left out. */
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

/** Neighbours nearer than this factor have nothing between them. */
const APART = 1.15
/** No more counts in one question: each is a search of its own. */
const MOST = 24

/** The counts with one more between each pair of neighbours: a multiple of the machine with small prime factors, which divide into ranks. */
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

/** Multiples of `unit` strictly between, whose prime factors are 2, 3 and 5. */
function smoothBetween(low: number, high: number, unit: number): number[] {
  const found: number[] = []
  for (let fives = unit; fives < high; fives *= 5)
    for (let threes = fives; threes < high; threes *= 3) for (let twos = threes; twos < high; twos *= 2) if (twos > low) found.push(twos)
  return found
}
