// A quantity of every report over the iterations: the curve, its levels as bars, slow reports as points, restarts as lines.
// Responsible for: the picture, with the nearest thing told under the pointer and by arrow keys. Refuses more than one quantity.
import { useState } from 'preact/hooks'
import { AxisX, AxisY, roomForY } from '../../charts/axes/axes'
import { extent, linear, padded } from '../../charts/axes/scale'
import { Tooltip } from '../../charts/axes/tooltip'
import { ChartFrame } from '../../charts/frame'
import { count } from '../../charts/format'
import '../../charts/plot.css'

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
    <ChartFrame title={props.title} about={props.about} name={props.name} rows={rows} class="log-wide">
      {(width) => <Drawn {...props} width={width} restarts={restarts} format={format} />}
    </ChartFrame>
  )
}

function Drawn({ width, title, unit, format, curve, levels, slow, restarts }: Props & { width: number }) {
  const [at, setAt] = useState<number | null>(null)
  const xs = [...levels.flatMap((one) => [one.from, one.to]), ...curve.map(([x]) => x), ...slow.map(([x]) => x)]
  const ys = [0, ...levels.map((one) => one.value), ...curve.map(([, y]) => y), ...slow.map(([, y]) => y)]
  const axisY = { title: unit, format }
  const scaleFor = (range: readonly [number, number]) => linear([0, padded(extent(ys) ?? [0, 1])[1]], range)
  const left = roomForY(scaleFor, axisY, BOTTOM - TOP)
  const x = linear(extent(xs) ?? [0, 1], [left + 4, width - 12])
  const y = scaleFor([BOTTOM, TOP])
  const stops: Stop[] = [
    ...levels.map((one) => ({
      x: x.at((one.from + one.to) / 2),
      y: y.at(one.value),
      title: `iterations ${count(one.from)} to ${count(one.to)}`,
      value: `typically ${format(one.value)}`,
    })),
    ...slow.map(([iteration, value]) => ({
      x: x.at(iteration),
      y: y.at(value),
      title: `iteration ${count(iteration)}`,
      value: `slow: ${format(value)}`,
    })),
    ...restarts.map((iteration) => ({ x: x.at(iteration), y: TOP + 8, title: `iteration ${count(iteration)}`, value: 'restarted here' })),
  ].sort((a, b) => a.x - b.x)
  const stop = at === null ? undefined : stops[at]
  const point = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect()
    const [px, py] = [event.clientX - box.left, event.clientY - box.top]
    let [best, least] = [-1, 40 ** 2]
    stops.forEach((one, index) => {
      const distance = (one.x - px) ** 2 + ((one.y - py) / 2) ** 2
      if (distance < least) [best, least] = [index, distance]
    })
    setAt(best < 0 ? null : best)
  }
  const strike = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by !== 0) setAt(Math.max(0, Math.min(stops.length - 1, (at ?? (by > 0 ? -1 : stops.length)) + by)))
    else if (event.key === 'Escape' && at !== null) setAt(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription="line chart"
        aria-label={`${title}: ${levels.map((one) => `${format(one.value)} from iteration ${one.from} to ${one.to}`).join('; ')}. Arrow keys go to levels, slow reports and restarts.`}
        tabIndex={0}
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        onMouseMove={point}
        onMouseLeave={() => setAt(null)}
        onBlur={() => setAt(null)}
        onKeyDown={strike}
      >
        <AxisX scale={x} options={{ title: 'iteration', format: count }} top={TOP} bottom={BOTTOM} />
        <AxisY scale={y} options={axisY} left={left} right={width - 12} />
        {curve.length > 1 && (
          <path
            d={`M${curve.map(([one, value]) => `${x.at(one).toFixed(1)},${y.at(value).toFixed(1)}`).join('L')}`}
            fill="none"
            stroke="var(--class-weight_gradient)"
            stroke-width="1"
          />
        )}
        {restarts.map((iteration, index) => (
          <g key={`${iteration} ${index}`}>
            <line x1={x.at(iteration)} x2={x.at(iteration)} y1={TOP} y2={BOTTOM} stroke="var(--warn)" stroke-dasharray="4 3" />
            <text x={x.at(iteration) + 4} y={TOP + 8} font-size="11" style={{ fill: 'var(--warn)' }}>
              restart
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
        {slow.map(([iteration, value], index) => (
          <circle key={index} cx={x.at(iteration)} cy={y.at(value)} r="3.5" fill="var(--surface)" stroke="var(--bad)" stroke-width="1.6" />
        ))}
        {stop && <circle cx={stop.x} cy={stop.y} r="6" fill="none" stroke="var(--text)" stroke-width="1.5" />}
      </svg>
      <Tooltip
        tip={stop ? { title: stop.title, lines: [{ name: title.toLowerCase(), value: stop.value }] } : null}
        x={stop?.x ?? 0}
        y={stop?.y ?? 0}
        width={width}
        height={HEIGHT}
      />
    </div>
  )
}
