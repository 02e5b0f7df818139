// Numbers in the format of the command line: three digits and a matching prefix; GiB for memory, decimal GB/s for links. Each function
// formats one number.
import * as texts from '../words/charts'

/** Up to three significant digits without trailing zeros: 21.1, 0.516, 1,234. */
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return '–'
  if (value === 0) return '0'
  // From the rounded value: 0.9999 has the digits of 1.00.
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(significant)))))
  const decimals = Math.max(0, significant - 1 - magnitude)
  const text = value.toFixed(Math.min(decimals, 12))
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : text
}

function prefixed(value: number, steps: readonly (readonly [number, string])[]): string {
  const size = Math.abs(value)
  // 999.6 would round to 1000, so it takes the next prefix.
  const step = steps.find(([scale]) => size >= scale * 0.9995) ?? steps[steps.length - 1]
  return step ? `${digits(value / step[0])} ${step[1]}` : digits(value)
}

/** 21.1 s, 416 µs; above two minutes 2 min 5 s, 3 h 4 min, 12.4 days. */
export function seconds(value: number): string {
  const size = Math.abs(value)
  // Less than a picosecond is a rounding error of zero.
  if (size < 1e-12) return '0 s'
  // Rounded before the division, so that no part reaches 60.
  const [wholeMinutes, wholeSeconds] = [Math.round(size / 60), Math.round(size)]
  const sign = value < 0 ? '−' : ''
  if (wholeMinutes >= 2880) return texts.days(digits(value / 86_400))
  if (wholeSeconds >= 7200) return `${sign}${texts.hMin(Math.floor(wholeMinutes / 60), wholeMinutes % 60)}`
  if (size >= 120) return `${sign}${texts.minS(Math.floor(wholeSeconds / 60), wholeSeconds % 60)}`
  return prefixed(value, [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
    [1e-9, 'ns'],
  ])
}

/** Unit for an axis of durations up to `most` seconds: its length in seconds and its sign. */
export function timeUnit(most: number): { readonly scale: number; readonly sign: string } {
  if (most >= 1 || most < 1e-12) return { scale: 1, sign: 's' }
  if (most >= 1e-3) return { scale: 1e-3, sign: 'ms' }
  return most >= 1e-6 ? { scale: 1e-6, sign: 'µs' } : { scale: 1e-9, sign: 'ns' }
}

/** A tick of an axis in a unit, without its sign: 0.5, −20. */
export const tickIn = (value: number, scale: number): string => String(Number((value / scale).toPrecision(3))).replace('-', '−')

/** Round durations for a logarithmic axis, in seconds. */
export const DURATIONS: readonly number[] = [1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 36_000, 360_000]

/** 100 ms, 10 s, 10 min, 1 h: a round duration without digits that a tick does not need. */
export function durationTick(value: number): string {
  const whole = [
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
    [1e-3, 'ms'],
  ] as const
  const [unit, name] = whole.find(([unit]) => value >= unit) ?? [1e-3, 'ms']
  return `${Number((value / unit).toPrecision(3))} ${name}`
}

/** 52.4 GiB, 734 MiB. */
export function bytes(value: number): string {
  if (value === 0) return '0 B'
  return prefixed(value, [
    [2 ** 50, 'PiB'],
    [2 ** 40, 'TiB'],
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
    [1, 'B'],
  ])
}

/** 134 MB, for network traffic; memory uses `bytes`. */
export function volume(value: number): string {
  if (value === 0) return '0 B'
  return prefixed(value, [
    [1e15, 'PB'],
    [1e12, 'TB'],
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
    [1, 'B'],
  ])
}

/** 282 GB/s, one direction. */
export function bandwidth(value: number): string {
  return prefixed(value, [
    [1e12, 'TB/s'],
    [1e9, 'GB/s'],
    [1e6, 'MB/s'],
    [1e3, 'kB/s'],
    [1, 'B/s'],
  ])
}

/** 511 TFLOP/s. */
export function flops(value: number): string {
  return prefixed(value, [
    [1e18, 'EFLOP/s'],
    [1e15, 'PFLOP/s'],
    [1e12, 'TFLOP/s'],
    [1e9, 'GFLOP/s'],
    [1, 'FLOP/s'],
  ])
}

/** 405.9B, 15.6T: parameters and tokens. */
export function amount(value: number): string {
  const size = Math.abs(value)
  for (const [scale, letter] of [
    [1e12, 'T'],
    [1e9, 'B'],
    [1e6, 'M'],
  ] as const) {
    if (size >= scale * 0.99995) return `${trim((value / scale).toFixed(1))}${letter}`
  }
  return count(value)
}

/** 1,024. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** Dollars, $66.6 M, $2.99; a dash if the price is unknown. */
export function dollars(value: number | null | undefined): string {
  if (value == null) return '–'
  const size = Math.abs(value)
  const sign = value < 0 ? '−' : ''
  if (size === 0) return '$0'
  // 999.6 k would round to 1000 k, so it takes the next prefix.
  if (size >= 0.9995e9) return `${sign}$${digits(size / 1e9)} B`
  if (size >= 0.9995e6) return `${sign}$${digits(size / 1e6)} M`
  if (size >= 1e4) return `${sign}$${digits(size / 1e3)} k`
  return `${sign}$${size >= 99.995 ? count(size) : size.toFixed(2)}`
}

/** 33.5 GWh, from kilowatt-hours. */
export function energy(kilowattHours: number): string {
  return prefixed(kilowattHours, [
    [1e9, 'TWh'],
    [1e6, 'GWh'],
    [1e3, 'MWh'],
    [1, 'kWh'],
  ])
}

/** 1.54 MW; a dash if unknown. */
export function power(watts: number | null | undefined): string {
  if (watts == null) return '–'
  return prefixed(watts, [
    [1e9, 'GW'],
    [1e6, 'MW'],
    [1e3, 'kW'],
    [1, 'W'],
  ])
}

/** A share, 51.6%; tiny ones keep two digits; a dash if unknown. */
export function percent(share: number | null | undefined): string {
  if (share == null) return '–'
  const value = share * 100
  if (value === 0) return '0%'
  if (Math.abs(value) < 1e-9) return '0%'
  if (Math.abs(value) < 0.005) return '<0.01%'
  if (Math.abs(value) < 0.1) return `${value.toFixed(2)}%`
  if (Math.abs(value) > 99.9 && Math.abs(value) < 100) return '>99.9%'
  return `${value.toFixed(1)}%`
}

/** A probability with one digit, which is certain only if it is 1: 97.1%, >99.9%, <0.1%. */
export function probability(value: number): string {
  if (value > 0.9994 && value < 1) return '>99.9%'
  if (value < 0.0006 && value > 0) return '<0.1%'
  return percent(value)
}

/** A probability in the notation of reports, rounded down: over 99%, under 1%, 28%. */
export function chance(probability: number): string {
  if (probability > 0.99) return 'over 99%'
  if (probability < 0.01) return 'under 1%'
  return `${Math.floor(probability * 100 + 1e-9)}%`
}

/** Signed difference: +4.2%, −12%; `=` without change, `≈` for a negligible one. */
export function relative(value: number, base: number): string {
  if (value === base) return '='
  if (base === 0) return 'new'
  const share = (value / base - 1) * 100
  const size = Math.abs(share)
  if (size < 0.05) return '≈'
  const text = size >= 1000 ? `${digits(value / base)}×` : `${size < 10 ? size.toFixed(1) : Math.round(size)}%`
  return `${share < 0 ? '−' : '+'}${text}`
}

function trim(text: string): string {
  return text.replace(/\.0$/, '')
}
