// Linear scales and round ticks. Pure.

export interface Scale {
  (value: number): number
  readonly domain: readonly [number, number]
  readonly range: readonly [number, number]
  readonly invert: (pixel: number) => number
}

export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain
  const [from, to] = range
  const slope = high === low ? 0 : (to - from) / (high - low)
  const scale = (value: number) => from + (value - low) * slope
  return Object.assign(scale, { domain, range, invert: (pixel: number) => (slope === 0 ? low : low + (pixel - from) / slope) })
}

/** About `wanted` round values at most within the domain: steps of 1, 2, 2.5 or 5 times a power of ten (or two, for bytes). */
export function ticks(low: number, high: number, wanted = 5, base: 10 | 2 = 10): number[] {
  if (!(high > low) || wanted < 1) return [low]
  const raw = (high - low) / wanted
  const power = base ** Math.floor(Math.log(raw) / Math.log(base))
  const factors = base === 2 ? [1, 2] : [1, 2, 2.5, 5, 10]
  const step = (factors.find((factor) => factor * power >= raw * 0.999) ?? base) * power
  const found: number[] = []
  for (let index = Math.ceil(low / step - 1e-9) + 0; index * step <= high + step * 1e-9 && found.length < 100; index += 1)
    found.push(index * step)
  return found
}
