// Scales and ticks: from values to pixels, and round values for axes. Pure functions with their own tests.
// Independent of units: axes receive a format function.

export interface Scale {
  readonly kind: 'linear' | 'log'
  readonly domain: readonly [number, number]
  readonly range: readonly [number, number]
  /** Pixel of a value. */
  at(value: number): number
  /** Value of a pixel. */
  invert(pixel: number): number
  /** About `count` round values inside the domain, ascending. */
  ticks(count: number): number[]
}

/** A linear scale. A domain without extent is widened around its value. */
export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = widened(domain)
  const factor = (range[1] - range[0]) / (high - low)
  return {
    kind: 'linear',
    domain: [low, high],
    range,
    at: (value) => range[0] + (value - low) * factor,
    invert: (pixel) => low + (pixel - range[0]) / factor,
    ticks: (count) => linearTicks(low, high, count),
  }
}

/** A logarithmic scale of positive values. */
export function log(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const low = Math.max(domain[0], Number.MIN_VALUE)
  const high = domain[1] > low ? domain[1] : low * 10
  const [a, b] = [Math.log(low), Math.log(high)]
  const factor = (range[1] - range[0]) / (b - a)
  return {
    kind: 'log',
    domain: [low, high],
    range,
    at: (value) => range[0] + (Math.log(Math.max(value, Number.MIN_VALUE)) - a) * factor,
    invert: (pixel) => Math.exp(a + (pixel - range[0]) / factor),
    ticks: (count) => logTicks(low, high, count),
  }
}

/** Minimum and maximum of values; `null` without any. */
export function extent(values: Iterable<number>): [number, number] | null {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  return low <= high ? [low, high] : null
}

/** Domain with margins as a share of its extent; non-negative domains stay non-negative. */
export function padded([low, high]: readonly [number, number], share = 0.06): [number, number] {
  const room = (high - low || Math.abs(high) || 1) * share
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room]
}

/** Domain of a logarithmic scale with margins as a factor. */
export function paddedLog([low, high]: readonly [number, number], share = 0.06): [number, number] {
  const factor = Math.max((high / low) ** share, 1.04)
  return [low / factor, high * factor]
}

function widened([low, high]: readonly [number, number]): [number, number] {
  if (high > low) return [low, high]
  const room = Math.abs(low) / 10 || 1
  return [low - room, low + room]
}

function linearTicks(low: number, high: number, count: number): number[] {
  const step = roundStep((high - low) / Math.max(count, 1))
  const ticks: number[] = []
  for (let n = Math.ceil(low / step - 1e-9) + 0; n <= Math.floor(high / step + 1e-9); n++) {
    // Division by the inverse avoids spurious digits of steps below one.
    ticks.push(step < 1 ? n / Math.round(1 / step) : n * step)
  }
  return ticks
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const share = rough / power
  return (share > 5 ? 10 : share > 2 ? 5 : share > 1 ? 2 : 1) * power
}

function logTicks(low: number, high: number, count: number): number[] {
  const decades = Math.log10(high / low)
  const inDecade = decades > count ? [1] : decades * 2 > count ? [1, 3] : decades * 3 > count * 0.9 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8]
  const ticks: number[] = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const share of inDecade) {
      const tick = share * 10 ** power
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(Number(tick.toPrecision(12)))
    }
  }
  // Less than half a decade has too few of these ticks, so linear steps are used.
  return ticks.length >= 3 ? ticks : linearTicks(low, high, count)
}
