// What the last answer of the co-design searched, for the fields that are left to the program.
import { type Unit, plain } from '../../state/amounts'
import { withSign } from '../../ui/amounts'
import type { DesignRow } from './answer'

/** The values that the program took for an axis of the networks; nothing is known before the first answer. */
export function usedBy(rows: readonly DesignRow[] | undefined, figure: (row: DesignRow) => number, unit: Unit): string | undefined {
  if (!rows || rows.length === 0) return undefined
  const values = [...new Set(rows.map((row) => Number(figure(row).toPrecision(6))))].sort((a, b) => a - b)
  return values.map((value) => (unit.sign.length > 2 ? plain(value) : withSign(value, unit))).join(', ')
}

/** The warning about sizes of domains without a price; the page has it where prices are set. */
export const UNPRICED = 'network-scale-up-unpriced'
