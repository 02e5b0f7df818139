// The two axes of a plot: grid lines, tick labels, titles with units. Tick labels that would overlap are omitted.
import type { Scale } from './scale'
import { textWidth } from '../fit-text'

export interface AxisOptions {
  /** Title with its unit: `step time (s)`. */
  readonly title: string
  readonly format: (value: number) => string
  readonly log?: boolean
  /** Tick values instead of round ones, such as the tried numbers. */
  readonly ticks?: readonly number[]
}

interface Common {
  readonly scale: Scale
  readonly options: AxisOptions
}

function named(
  scale: Scale,
  options: AxisOptions,
  room: (text: string) => number,
  least: number,
): { value: number; text: string; at: number }[] {
  const length = Math.abs(scale.range[1] - scale.range[0])
  const wanted = options.ticks ?? scale.ticks(Math.max(2, Math.floor(length / least)))
  const inside = wanted.filter((value) => value >= scale.domain[0] * (1 - 1e-9) && value <= scale.domain[1] * (1 + 1e-9))
  const kept: { value: number; text: string; at: number }[] = []
  let last: { at: number; room: number } | null = null
  for (const value of inside) {
    const text = options.format(value)
    const at = scale.at(value)
    const needs = room(text)
    if (last && Math.abs(at - last.at) < (needs + last.room) / 2) continue
    if (kept.some((tick) => tick.text === text)) continue
    kept.push({ value, text, at })
    last = { at, room: needs }
  }
  return kept
}

/** Horizontal axis below a plot from `top` to `bottom`. */
export function AxisX({ scale, options, top, bottom }: Common & { top: number; bottom: number }) {
  const ticks = named(scale, options, (text) => textWidth(text, 11) + 8, 90)
  const [left, right] = scale.range
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick.value}>
          <line class="grid" x1={tick.at} x2={tick.at} y1={top} y2={bottom} />
          <text class="tick" x={tick.at} y={bottom + 16} text-anchor="middle">
            {tick.text}
          </text>
        </g>
      ))}
      <line class="base" x1={left} x2={right} y1={bottom} y2={bottom} />
      <text class="axis-title" x={(left + right) / 2} y={bottom + 34} text-anchor="middle">
        {options.title}
      </text>
    </g>
  )
}

/** Vertical axis; its title is above it in horizontal text. */
export function AxisY({ scale, options, left, right }: Common & { left: number; right: number }) {
  const ticks = named(scale, options, () => 18, 44)
  const top = Math.min(...scale.range)
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick.value}>
          <line class="grid" x1={left} x2={right} y1={tick.at} y2={tick.at} />
          <text class="tick" x={left - 8} y={tick.at + 4} text-anchor="end">
            {tick.text}
          </text>
        </g>
      ))}
      <text class="axis-title" x={0} y={top - 12}>
        {options.title}
      </text>
    </g>
  )
}

/** Width of the tick labels of a vertical axis. */
export function roomForY(scaleOf: (range: readonly [number, number]) => Scale, options: AxisOptions, height: number): number {
  const ticks = named(scaleOf([height, 0]), options, () => 18, 44)
  return Math.ceil(Math.max(24, ...ticks.map((tick) => textWidth(tick.text, 11))) + 12)
}
