// Figures of the paper with their units. Pure.

/** `12%`, `$153 M`, `117 days`. */
export function withUnit(value: number, unit: string): string {
  if (unit === '%') return `${value}%`
  if (unit === '$M') return `$${value} M`
  return unit ? `${value} ${unit}` : String(value)
}
