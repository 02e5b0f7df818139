// Chart of one quantity over the iterations: the curve, its levels as bars, slow reports as points, restarts as lines. Responsible for: the
// drawing, with the nearest element at the pointer and by arrow keys. A dragged range zooms all charts of the log, and all share the
// cursor.
import { type Signal, useComputed } from '@preact/signals'
import { useId, useState } from 'preact/hooks'
import { AxisX, AxisY, roomForY } from '../../charts/axes/axes'
import { extent, linear, padded } from '../../charts/axes/scale'
import { Tooltip } from '../../charts/axes/tooltip'
import { ChartFrame } from '../../charts/frame'
import { count } from '../../charts/format'
import '../../charts/plot.css'
import * as texts from '../../words/log'

export interface Level {
  readonly from: number
  readonly to: number
  readonly value: number
}

interface Props {
  readonly title: string
  readonly about: string
  readonly name: string
  readonly unit: string
  readonly format: (value: number) => string
  readonly curve: readonly (readonly [number, number])[]
  readonly levels: readonly Level[]
  readonly slow: readonly (readonly [number, number])[]
  readonly restarts: readonly number[]
  /** True to span the whole width. */
  readonly wide?: boolean
  /** True to start the vertical axis at zero. */
  readonly fromZero?: boolean
  /** Range of iterations shown by all charts; null for all. */
  readonly zoom: Zoom | null
  readonly onZoom: (zoom: Zoom | null) => void
  /** Iteration under the pointer, on all charts. */
  readonly cursor: Signal<number | null>
}

export interface Zoom {
  readonly from: number
  readonly to: number
}

const TOP = 30
const HEIGHT = 250
const BOTTOM = HEIGHT - 42

interface Stop {
  readonly x: number
  readonly y: number
  readonly title: string
  readonly value: string
}

export function OverIterations(props: Props) {
  const { curve, levels, slow, restarts, format } = props
  const rows = () => ({
    columns: ['what', 'from', 'to', props.unit],
    rows: [
      ...levels.map((one) => ['level', one.from, one.to, one.value]),
      ...curve.map(([x, y]) => ['report', x, x, y]),
      ...slow.map(([x, y]) => ['slow', x, x, y]),
    ],
  })
  return (
    <ChartFrame title={props.title} about={props.about} name={props.name} rows={rows} class={props.wide ? 'log-wide' : ''}>
      {(width) => <Drawn {...props} width={width} restarts={restarts} format={format} />}
    </ChartFrame>
  )
}

/** Value of the curve at an iteration, from the nearest report. */
function nearest(curve: readonly (readonly [number, number])[], iteration: number): readonly [number, number] | null {
  let low = 0
  let high = curve.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (curve[middle]![0] < iteration) low = middle + 1
    else high = middle
  }
  const [before, after] = [curve[low - 1], curve[low]]
  if (!before || !after) return before ?? after ?? null
  return iteration - before[0] <= after[0] - iteration ? before : after
}

function Drawn(props: Props & { width: number }) {
  const { width, title, unit, format, curve, levels, slow, restarts, zoom, onZoom, cursor, fromZero = true } = props
  const [at, setAt] = useState<number | null>(null)
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null)
  const clip = useId()
  const whole = extent([...levels.flatMap((one) => [one.from, one.to]), ...curve.map(([x]) => x), ...slow.map(([x]) => x)]) ?? [0, 1]
  const [from, to] = zoom ? [Math.max(zoom.from, whole[0]), Math.min(zoom.to, whole[1])] : whole
  const inside = (x: number) => x >= from && x <= to
  const ys = [
    ...(fromZero ? [0] : []),
    ...levels.filter((one) => one.to >= from && one.from <= to).map((one) => one.value),
    ...curve.filter(([x]) => inside(x)).map(([, y]) => y),
    ...slow.filter(([x]) => inside(x)).map(([, y]) => y),
  ]
  const axisY = { title: unit, format }
  const scaleFor = (range: readonly [number, number]) => {
    const [low, high] = padded(extent(ys) ?? [0, 1])
    return linear([fromZero ? 0 : low, high], range)
  }
  const left = roomForY(scaleFor, axisY, BOTTOM - TOP)
  const right = width - 12
  const x = linear(to > from ? [from, to] : whole, [left + 4, right])
  const y = scaleFor([BOTTOM, TOP])
  const stops: Stop[] = [
    ...levels
      .filter((one) => one.to >= from && one.from <= to)
      .map((one) => ({
        x: x.at((Math.max(one.from, from) + Math.min(one.to, to)) / 2),
        y: y.at(one.value),
        title: texts.iterationsTo(count(one.from), count(one.to)),
        value: texts.typically(format(one.value)),
      })),
    ...slow
      .filter(([iteration]) => inside(iteration))
      .map(([iteration, value]) => ({
        x: x.at(iteration),
        y: y.at(value),
        title: texts.iteration2(count(iteration)),
        value: texts.slow(format(value)),
      })),
    ...restarts
      .filter(inside)
      .map((iteration) => ({ x: x.at(iteration), y: TOP + 8, title: texts.iteration2(count(iteration)), value: texts.restartedHere })),
  ].sort((a, b) => a.x - b.x)
  const stop = at === null ? undefined : stops[at]
  const pointed = useComputed(() => cursor.value)
  const under = pointed.value !== null && inside(pointed.value) ? nearest(curve, pointed.value) : null
  const place = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect()
    return [event.clientX - box.left, event.clientY - box.top] as const
  }
  const iteration = (pixel: number) => Math.min(to, Math.max(from, x.invert(pixel)))
  const point = (event: MouseEvent) => {
    const [px, py] = place(event)
    cursor.value = px >= left && px <= right ? iteration(px) : null
    if (drag) {
      setDrag({ from: drag.from, to: iteration(px) })
      return
    }
    let [best, least] = [-1, 24 ** 2]
    stops.forEach((one, index) => {
      const distance = (one.x - px) ** 2 + ((one.y - py) / 2) ** 2
      if (distance < least) [best, least] = [index, distance]
    })
    setAt(best < 0 ? null : best)
  }
  const release = () => {
    if (drag && Math.abs(x.at(drag.to) - x.at(drag.from)) > 6) {
      onZoom({ from: Math.floor(Math.min(drag.from, drag.to)), to: Math.ceil(Math.max(drag.from, drag.to)) })
    }
    setDrag(null)
  }
  const strike = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const around = (factor: number) => {
      const middle = under?.[0] ?? (from + to) / 2
      const half = ((to - from) * factor) / 2
      const next = { from: Math.max(whole[0], Math.floor(middle - half)), to: Math.min(whole[1], Math.ceil(middle + half)) }
      onZoom(next.from <= whole[0] && next.to >= whole[1] ? null : next)
    }
    if (by !== 0) setAt(Math.max(0, Math.min(stops.length - 1, (at ?? (by > 0 ? -1 : stops.length)) + by)))
    else if (event.key === '+' || event.key === '=') around(0.5)
    else if (event.key === '-') around(2)
    else if (event.key === '0') onZoom(null)
    else if (event.key === 'Escape' && at !== null) setAt(null)
    else if (event.key === 'Escape' && zoom) onZoom(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const tip = stop
    ? { title: stop.title, lines: [{ name: title.toLowerCase(), value: stop.value }] }
    : under && { title: texts.iteration2(count(under[0])), lines: [{ name: title.toLowerCase(), value: format(under[1]) }] }
  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription={texts.lineChart}
        aria-label={`${title}${levels.length > 0 ? `: ${levels.map((one) => `${format(one.value)} from iteration ${one.from} to ${one.to}`).join('; ')}` : ''}. Arrow keys go to levels, slow reports and restarts; plus, minus and 0 zoom.`}
        tabIndex={0}
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        style={{ cursor: 'crosshair', userSelect: 'none', touchAction: 'pan-y' }}
        onPointerDown={(event) => {
          const [px] = place(event)
          if (event.button !== 0 || px < left) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag({ from: iteration(px), to: iteration(px) })
        }}
        onPointerMove={point}
        onPointerUp={release}
        onPointerCancel={() => setDrag(null)}
        onDblClick={() => onZoom(null)}
        onPointerLeave={() => {
          setAt(null)
          cursor.value = null
        }}
        onBlur={() => setAt(null)}
        onKeyDown={strike}
      >
        <clipPath id={clip}>
          <rect x={left} y={TOP - 4} width={Math.max(0, right - left + 4)} height={BOTTOM - TOP + 6} />
        </clipPath>
        <AxisX scale={x} options={{ title: texts.iteration, format: count }} top={TOP} bottom={BOTTOM} />
        <AxisY scale={y} options={axisY} left={left} right={right} />
        <g clip-path={`url(#${clip})`}>
          {curve.length > 1 && (
            <path
              d={`M${curve.map(([one, value]) => `${x.at(one).toFixed(1)},${y.at(value).toFixed(1)}`).join('L')}`}
              fill="none"
              stroke="var(--class-backward)"
              stroke-width="1"
            />
          )}
          {curve.length === 1 && <circle cx={x.at(curve[0]![0])} cy={y.at(curve[0]![1])} r="3" fill="var(--class-backward)" />}
          {restarts.filter(inside).map((iteration, index) => (
            <g key={`${iteration} ${index}`}>
              <line x1={x.at(iteration)} x2={x.at(iteration)} y1={TOP} y2={BOTTOM} stroke="var(--warn)" stroke-dasharray="4 3" />
              <text x={x.at(iteration) + 4} y={TOP + 8} font-size="11" style={{ fill: 'var(--warn)' }}>
                {texts.restart}
              </text>
            </g>
          ))}
          {levels.map((one) => (
            <line
              key={one.from}
              x1={x.at(one.from)}
              x2={Math.max(x.at(one.to), x.at(one.from) + 2)}
              y1={y.at(one.value)}
              y2={y.at(one.value)}
              stroke="var(--accent)"
              stroke-width="3"
            />
          ))}
          {slow
            .filter(([iteration]) => inside(iteration))
            .map(([iteration, value], index) => (
              <circle
                key={index}
                cx={x.at(iteration)}
                cy={y.at(value)}
                r="3.5"
                fill="var(--surface)"
                stroke="var(--bad)"
                stroke-width="1.6"
              />
            ))}
          {drag && (
            <rect
              x={Math.min(x.at(drag.from), x.at(drag.to))}
              width={Math.abs(x.at(drag.to) - x.at(drag.from))}
              y={TOP}
              height={BOTTOM - TOP}
              fill="var(--accent)"
              opacity="0.15"
            />
          )}
          {under && (
            <>
              <line x1={x.at(under[0])} x2={x.at(under[0])} y1={TOP} y2={BOTTOM} stroke="var(--line-strong)" />
              <circle cx={x.at(under[0])} cy={y.at(under[1])} r="3" fill="var(--class-backward)" />
            </>
          )}
        </g>
        {stop && <circle cx={stop.x} cy={stop.y} r="6" fill="none" stroke="var(--text)" stroke-width="1.5" />}
      </svg>
      <Tooltip
        tip={tip}
        x={stop?.x ?? (under ? x.at(under[0]) : 0)}
        y={stop?.y ?? (under ? y.at(under[1]) : 0)}
        width={width}
        height={HEIGHT}
      />
    </div>
  )
}
