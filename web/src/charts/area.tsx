// Stacked area chart over time with a limit: memory over a step. The pointer or the arrow keys select a time.
import { useState } from 'preact/hooks'
import { textWidth } from './fit-text'
import { linear, ticks } from './scale'
import { Limit } from './limit'
import { Tip } from './tip'
import * as texts from '../words/charts'

export interface Layer {
  readonly key: string
  readonly title: string
  readonly colour: string
  readonly values: readonly number[]
}

interface Props {
  readonly label: string
  readonly layers: readonly Layer[]
  /** End of the horizontal axis, which starts at 0. */
  readonly duration: number
  readonly width: number
  readonly height: number
  readonly limit: { readonly value: number; readonly title: string } | null
  readonly unit: number
  readonly format: (value: number) => string
  readonly formatTime: (value: number) => string
  readonly mark?: { readonly at: number; readonly value: number; readonly title: string } | null
  /** Maximum of the vertical axis, so that two charts are comparable. */
  readonly most?: number
}

const LEFT = 38
const BOTTOM = 22
const TOP = 16

export function StackedArea(props: Props) {
  const [at, setAt] = useState<number | null>(null)
  const count = props.layers[0]?.values.length ?? 0
  const totals = Array.from({ length: count }, (_, index) => props.layers.reduce((sum, layer) => sum + (layer.values[index] ?? 0), 0))
  const most = Math.max(...totals, props.limit?.value ?? 0, props.most ?? 0, 1) * 1.04
  const x = linear([0, count], [LEFT, props.width - 2])
  const time = linear([0, props.duration], [LEFT, props.width - 2])
  const y = linear([0, most / props.unit], [props.height - BOTTOM, TOP])
  const floors: number[][] = [Array.from({ length: count }, () => 0)]
  for (const layer of props.layers) floors.push((floors.at(-1) ?? []).map((below, index) => below + (layer.values[index] ?? 0)))
  const read = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    setAt(Math.max(0, Math.min(count - 1, Math.floor(x.invert(event.clientX - box.left)))))
  }
  return (
    <>
      <svg
        width={props.width}
        height={props.height}
        role="slider"
        aria-label={props.label}
        aria-valuemin={0}
        aria-valuemax={Math.max(count - 1, 0)}
        aria-valuenow={at ?? 0}
        aria-valuetext={
          at === null ? texts.wholeStep : `${props.formatTime(((at + 0.5) / count) * props.duration)}: ${props.format(totals[at] ?? 0)}`
        }
        tabIndex={0}
        onMouseMove={read}
        onMouseLeave={() => setAt(null)}
        onBlur={() => setAt(null)}
        onKeyDown={(event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1, PageUp: 16, PageDown: -16 }[event.key]
          if (by === undefined) return
          event.preventDefault()
          setAt(Math.max(0, Math.min(count - 1, (at ?? (by > 0 ? -1 : count)) + by)))
        }}
      >
        {ticks(0, most / props.unit, 4).map((tick) => (
          <g key={tick}>
            <line class="grid-line" x1={LEFT} x2={props.width} y1={Math.round(y(tick)) + 0.5} y2={Math.round(y(tick)) + 0.5} />
            <text class="faint" x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
              {Number(tick.toPrecision(6))}
            </text>
          </g>
        ))}
        {props.layers.map((layer, index) => (
          <path
            key={layer.key}
            d={band(floors[index] ?? [], floors[index + 1] ?? [], x, (value) => y(value / props.unit))}
            fill={layer.colour}
          />
        ))}
        {props.limit && <Limit from={LEFT} to={props.width} y={y(props.limit.value / props.unit)} title={props.limit.title} />}
        {props.mark && (
          <g>
            <circle
              cx={time(props.mark.at)}
              cy={y(props.mark.value / props.unit)}
              r="3.5"
              fill="var(--surface)"
              stroke="var(--text)"
              stroke-width="1.5"
            />
            <text
              x={time(props.mark.at) + (time(props.mark.at) + textWidth(props.mark.title) + 10 > props.width ? -8 : 8)}
              y={y(props.mark.value / props.unit) - 7}
              text-anchor={time(props.mark.at) + textWidth(props.mark.title) + 10 > props.width ? 'end' : 'start'}
            >
              {props.mark.title}
            </text>
          </g>
        )}
        {at !== null && (
          <line x1={x(at + 0.5)} x2={x(at + 0.5)} y1={TOP} y2={props.height - BOTTOM} stroke="var(--text)" stroke-width="1" />
        )}
        {ticks(0, props.duration, Math.max(2, Math.floor(props.width / 110))).map((tick) => (
          <text
            key={tick}
            class="faint"
            x={time(tick)}
            y={props.height - 6}
            text-anchor={tick === 0 ? 'start' : time(tick) > props.width - 24 ? 'end' : 'middle'}
          >
            {props.formatTime(tick)}
          </text>
        ))}
      </svg>
      <Tip
        width={props.width}
        at={
          at === null
            ? null
            : {
                x: x(at + 0.5) + 8,
                y: TOP + 10,
                content: (
                  <>
                    <strong>{props.formatTime(((at + 0.5) / count) * props.duration)}</strong> · {props.format(totals[at] ?? 0)}
                    {[...props.layers]
                      .reverse()
                      .filter((layer) => (layer.values[at] ?? 0) > 0)
                      .map((layer) => (
                        <div key={layer.key} class="swatch-label" style={{ display: 'flex' }}>
                          <span class="swatch" style={{ background: layer.colour }} />
                          <span style={{ flex: 1 }}>{layer.title}</span>
                          <span style={{ paddingLeft: '12px' }}>{props.format(layer.values[at] ?? 0)}</span>
                        </div>
                      ))}
                  </>
                ),
              }
        }
      />
    </>
  )
}

/** Outline of a layer. Neighbours of the same height are one line, so that long steps stay small. */
export function band(low: readonly number[], high: readonly number[], x: (value: number) => number, y: (value: number) => number): string {
  const tenth = (value: number) => Math.round(value * 10) / 10
  const last = high.length
  if (last === 0) return ''
  let path = ''
  let before = Number.NaN
  for (let index = 0; index < last; index += 1) {
    const now = tenth(y(high[index] ?? 0))
    if (now !== before) path += index === 0 ? `M${tenth(x(0))} ${now}` : `H${tenth(x(index))}V${now}`
    before = now
  }
  path += `H${tenth(x(last))}`
  before = Number.NaN
  for (let index = last - 1; index >= 0; index -= 1) {
    const now = tenth(y(low[index] ?? 0))
    if (now !== before) path += index === last - 1 ? `V${now}` : `H${tenth(x(index + 1))}V${now}`
    before = now
  }
  return `${path}H${tenth(x(0))}Z`
}
