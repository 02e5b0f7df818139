// What the last answer of the co-design searched, for the fields that are left to the program.
import { type Unit, plain } from '../../state/amounts'
import { withSign } from '../../ui/amounts'
import type { DesignAnswer, DesignRow } from './answer'

/** The values that the program took for an axis of the networks; nothing is known before the first answer. */
export function usedBy(rows: readonly DesignRow[] | undefined, figure: (row: DesignRow) => number, unit: Unit): string | undefined {
  if (!rows || rows.length === 0) return undefined
  const values = [...new Set(rows.map((row) => Number(figure(row).toPrecision(6))))].sort((a, b) => a - b)
  return values.map((value) => (unit.sign.length > 2 ? plain(value) : withSign(value, unit))).join(', ')
}

/**
 * Domain sizes whose extra price is not known: the program warns of them, and their rows have no cost per token.
 * `own`: the domain of the run's cluster, where the catalogue has it; it is part of the machine's price.
 */
export function unpricedSizes(
  answer: Pick<DesignAnswer, 'rows' | 'warnings' | 'scale_up_prices'> | undefined,
  own: number | undefined,
): readonly number[] {
  if (!answer?.warnings.some((one) => one.id === UNPRICED)) return []
  // The reference has the machine's own domains, and only a network with all prices has a simulated cost.
  const priced = answer.rows.filter((row) => row.is_reference || row.simulated?.dollars !== undefined).map((row) => row.domain)
  const sizes = [...new Set(answer.rows.map((row) => row.domain))]
  return sizes
    .filter((size) => size > (own ?? 0) && !priced.includes(size) && answer.scale_up_prices[size] === undefined)
    .sort((a, b) => a - b)
}

export const UNPRICED = 'network-scale-up-unpriced'
