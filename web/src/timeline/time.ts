// Nanoseconds for people, and where a ruler has its ticks.

const UNITS: readonly (readonly [number, string])[] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
]

/** A length: three or four significant digits. */
export function span(nanoseconds: number): string {
  const size = Math.abs(nanoseconds)
  const sign = nanoseconds < 0 ? '-' : ''
  if (size >= 48 * 3600e9) return `${sign}${(size / 86400e9).toFixed(2)} d`
  if (size >= 2 * 3600e9) return `${sign}${(size / 3600e9).toFixed(2)} h`
  if (size >= 60e9) {
    const minutes = Math.floor(size / 60e9)
    return `${sign}${minutes} min ${((size - minutes * 60e9) / 1e9).toFixed(1)} s`
  }
  const [scale, unit] = UNITS.find(([least]) => size >= least) ?? [1, 'ns']
  const value = nanoseconds / scale
  const digits = scale === 1 || Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3
  return `${value.toFixed(digits)} ${unit}`
}

/** A moment, precise enough that neighbours `step` apart differ. */
export function moment(nanoseconds: number, step: number): string {
  const [scale, unit] = UNITS.find(([least]) => step * 200 >= least) ?? [1, 'ns']
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / scale) - 1e-9)))
  return `${(nanoseconds / scale).toFixed(digits)} ${unit}`
}

/** The distance of ticks: 1, 2 or 5 times a power of ten, at least `least` nanoseconds. */
export function tick(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power
  return 10 * power
}

const SIZES: readonly (readonly [number, string])[] = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
]

export function bytes(count: number): string {
  const [scale, unit] = SIZES.find(([least]) => count >= least) ?? [1, 'B']
  const value = count / scale
  return `${scale === 1 ? value : value.toPrecision(3)} ${unit}`
}

export function percent(share: number): string {
  const value = share * 100
  return `${value >= 10 || value === 0 ? value.toFixed(1) : value.toPrecision(2)}%`
}
