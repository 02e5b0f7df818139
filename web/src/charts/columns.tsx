// Stacked columns in groups with a limit: memory of stages by kind, one column per scenario. Arrow keys move between groups, Enter or a
// click selects one.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ticks, linear } from './scale'
import { Limit } from './limit'
import { Tip, type TipAt, within } from './tip'

export interface Segment {
  readonly key: string
  readonly value: number
  readonly colour: string
}

export interface Group {
  readonly label: string
  readonly bars: readonly { readonly series: string; readonly segments: readonly Segment[] }[]
}

interface Props {
  readonly label: string
  readonly groups: readonly Group[]
  readonly width: number
  readonly height: number
  readonly limits: readonly { readonly value: number; readonly title: string }[]
  readonly unit: number
  readonly format: (value: number) => string
  readonly axisTitle: string
  readonly chosen: number
  readonly onChoose: (index: number) => void
  readonly tip: (group: Group) => ComponentChildren
}

const LEFT = 38
const BOTTOM = 32
const TOP = 16

export function StackedColumns(props: Props) {
  const [tip, setTip] = useState<TipAt | null>(null)
  const totals = props.groups.flatMap((group) => group.bars.map((bar) => bar.segments.reduce((sum, one) => sum + one.value, 0)))
  const most = Math.max(...totals, ...props.limits.map((limit) => limit.value), props.unit * 1e-3) * 1.04
  const y = linear([0, most / props.unit], [props.height - BOTTOM, TOP])
  const room = props.width - LEFT - 4
  const step = room / Math.max(props.groups.length, 1)
  const gap = Math.min(12, step * 0.22)
  const each = Math.ceil(props.groups.length / Math.max(1, Math.floor(room / 26)))
  return (
    <>
      <svg width={props.width} height={props.height} role="group" aria-label={props.label}>
        {ticks(0, most / props.unit, 5, 10).map((tick) => (
          <g key={tick}>
            <line class="grid-line" x1={LEFT} x2={props.width} y1={Math.round(y(tick)) + 0.5} y2={Math.round(y(tick)) + 0.5} />
            <text class="faint" x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
              {Number(tick.toPrecision(6))}
            </text>
          </g>
        ))}
        {props.groups.map((group, index) => {
          const bars = Math.max(group.bars.length, 1)
          const wide = Math.min((step - gap) / bars, 64)
          const start = LEFT + index * step + (step - wide * bars) / 2
          return (
            <g
              key={group.label}
              role="button"
              aria-pressed={index === props.chosen}
              aria-label={`${props.axisTitle} ${group.label}: ${group.bars.map((bar) => `${bar.series} ${props.format(bar.segments.reduce((sum, one) => sum + one.value, 0))}`).join(', ')}`}
              tabIndex={index === props.chosen ? 0 : -1}
              style={{ cursor: 'pointer' }}
              onClick={() => props.onChoose(index)}
              onMouseMove={(event) => setTip({ ...within(event), content: props.tip(group) })}
              onMouseLeave={() => setTip(null)}
              onKeyDown={(event) => {
                const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
                const next = index + by
                if (by === 0 || next < 0 || next >= props.groups.length) {
                  if (event.key === 'Enter' || event.key === ' ') event.preventDefault(), props.onChoose(index)
                  return
                }
                event.preventDefault()
                const to = (
                  by > 0 ? event.currentTarget.nextElementSibling : event.currentTarget.previousElementSibling
                ) as SVGGElement | null
                props.onChoose(next)
                to?.focus()
              }}
            >
              <rect
                x={LEFT + index * step}
                y={TOP}
                width={step}
                height={props.height - TOP - 12}
                rx="3"
                fill={index === props.chosen && props.groups.length > 1 ? 'var(--accent-soft)' : 'transparent'}
              />
              {group.bars.map((bar, which) => {
                let from = 0
                return bar.segments.map((segment) => {
                  const top = y((from + segment.value) / props.unit)
                  const height = y(from / props.unit) - top
                  from += segment.value
                  return height < 0.2 ? null : (
                    <rect
                      key={`${bar.series}${segment.key}`}
                      x={start + which * wide}
                      y={top}
                      width={Math.max(wide - (bars > 1 ? 2 : 0), 1)}
                      height={height}
                      fill={segment.colour}
                      stroke="var(--surface)"
                      stroke-width={height > 3 ? 0.6 : 0}
                    />
                  )
                })
              })}
              {index % each === 0 && (
                <text
                  x={LEFT + (index + 0.5) * step}
                  y={props.height - BOTTOM + 15}
                  text-anchor="middle"
                  class={index === props.chosen ? '' : 'faint'}
                  aria-hidden="true"
                >
                  {group.label}
                </text>
              )}
            </g>
          )
        })}
        {props.limits.map((limit, index) => (
          <Limit
            key={limit.title}
            from={LEFT}
            to={props.width}
            y={y(limit.value / props.unit)}
            title={limit.title}
            {...(index === 0 ? {} : { dash: '2 3' })}
          />
        ))}
        <text class="faint" x={LEFT + room / 2} y={props.height - 2} text-anchor="middle">
          {props.axisTitle}
        </text>
      </svg>
      <Tip at={tip} width={props.width} />
    </>
  )
}
