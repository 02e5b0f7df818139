// Formats nanoseconds, and computes the ticks of a ruler. Numbers have the common format of `charts/format`.
import { seconds } from '../charts/format'

export { percent, volume as bytes } from '../charts/format'

const UNITS: readonly (readonly [number, string])[] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
]

/** Formats a duration. */
export function span(nanoseconds: number): string {
  return seconds(nanoseconds / 1e9)
}

/** Start or end of an interval, with enough digits to distinguish it from its neighbours. */
export function instant(nanoseconds: number, length: number): string {
  if (nanoseconds === 0) return '0 s'
  const [scale, unit] = UNITS.find(([least]) => Math.abs(nanoseconds) >= least) ?? [1, 'ns']
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(length, 1) / 100 / scale) - 1e-9)))
  return `${(nanoseconds / scale).toFixed(scale === 1 ? 0 : digits)} ${unit}`
}

/** Formats a time of a ruler, in the unit of the latest time on it, with enough digits for neighbours `step` apart. */
export function moment(nanoseconds: number, step: number, latest: number): string {
  const [scale, unit] = UNITS.find(([least]) => latest >= least) ?? [1, 'ns']
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / scale) - 1e-9)))
  return `${(nanoseconds / scale).toFixed(digits)} ${unit}`
}

/** Distance of ticks: 1, 2 or 5 times a power of ten, at least `least` nanoseconds. */
export function tick(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power
  return 10 * power
}
