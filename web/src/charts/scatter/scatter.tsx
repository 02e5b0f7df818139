// A scatter plot: points with labels, a stepped front, a tooltip for the current point. Mouse, touch and arrow keys reach every point;
// Enter or a click selects it. Excludes computation of the data.
import { useMemo, useRef, useState } from 'preact/hooks'
import { AxisX, AxisY, type AxisOptions, roomForY } from '../axes/axes'
import { type Placed, place } from '../axes/labels'
import { type Scale, extent, linear, log, padded, paddedLog } from '../axes/scale'
import { Tooltip } from '../axes/tooltip'
import { textWidth } from '../fit-text'
import { type Point, type Spot, WAYS, type Way, nearest, next } from './model'
import '../plot.css'
import * as texts from '../../words/charts'

interface Props {
  /** Width of the frame, in CSS pixels. */
  readonly width: number
  /** Description of the plot for screen readers. */
  readonly title: string
  readonly points: readonly Point[]
  readonly x: AxisOptions
  readonly y: AxisOptions
  /** Identifiers of the front by x, joined by steps. */
  readonly front?: readonly string[]
  readonly frontLabel?: string
  /** A vertical limit: `79.1 GiB of the device`. */
  readonly limit?: { readonly x: number; readonly label: string }
  readonly picked?: string | null
  readonly onPick?: (id: string) => void
  readonly height?: number
  /** True to draw the line of equal values. */
  readonly equal?: boolean
  /** Upper bounds, labelled at their ends. */
  readonly roofs?: readonly Roof[]
  /** Minimum distance between labelled points, in pixels. */
  readonly apart?: number
}

/** A straight line between two points, in the units of the axes. */
export interface Roof {
  readonly label: string
  readonly from: readonly [number, number]
  readonly to: readonly [number, number]
}

interface RoofLabel {
  readonly label: string
  /** End of the text. */
  readonly x: number
  readonly y: number
  readonly width: number
}

/** Labels of roofs above their ends, of rising ones above their middle. One on a point or beside another stands below its roof, or else
 * before the other. Pure. */
export function roofLabels(
  roofs: readonly Roof[],
  scaleX: Pick<Scale, 'at'>,
  scaleY: Pick<Scale, 'at'>,
  points: readonly { readonly x: number; readonly y: number }[] = [],
): readonly RoofLabel[] {
  const placed: RoofLabel[] = []
  for (const { label, from, to } of roofs) {
    const [x0, y0, x1, y1] = [scaleX.at(from[0]), scaleY.at(from[1]), scaleX.at(to[0]), scaleY.at(to[1])]
    const isLevel = Math.abs(y1 - y0) < 1
    const width = textWidth(label, 11)
    const end = isLevel ? x1 : (x0 + x1) / 2
    const meets = (x: number, y: number) =>
      placed.find((other) => Math.abs(other.y - y) < LINE && other.x > x - width && other.x - other.width < x)
    const covers = (x: number, y: number) =>
      points.some((one) => one.x > x - width - DOT && one.x < x + DOT && one.y > y - LINE - DOT && one.y < y + 2 + DOT)
    const above = isLevel ? y1 - 5 : (y0 + y1) / 2 - 6
    const below = above + 5 + LINE
    const heights = isLevel ? [above, below, below + LINE] : [above, above - LINE]
    const free = heights.find((y) => !meets(end, y) && !covers(end, y)) ?? heights.find((y) => !meets(end, y))
    let x = end
    if (free === undefined) for (let other = meets(x, above); other; other = meets(x, above)) x = other.x - other.width - GAP
    placed.push({ label, x, y: free ?? above, width })
  }
  return placed
}

/** Half the size of a point, in pixels. */
const DOT = 5

/** Between notes on one line, and height of a line of notes, in pixels. */
const [GAP, LINE] = [10, 13]
const TOP = 30
const BOTTOM = 42
const RIGHT = 18

function scaleFor(values: readonly number[], options: AxisOptions, range: readonly [number, number], also: readonly number[] = []): Scale {
  const found = extent([...values, ...also]) ?? [0, 1]
  return options.log && found[0] > 0 ? log(paddedLog(found), range) : linear(padded(found), range)
}

export function Scatter({
  width,
  title,
  points,
  x,
  y,
  front = [],
  frontLabel,
  limit,
  picked,
  onPick,
  height = 380,
  apart = 0,
  equal = false,
  roofs = [],
}: Props) {
  const [cursor, setCursor] = useState<string | null>(null)
  // Touch has no hover: the first tap shows a point, the second selects it.
  const touched = useRef<string | null | undefined>(undefined)
  const bottom = height - BOTTOM
  const plot = useMemo(() => {
    const ys = [...points.map((point) => point.y), ...roofs.flatMap((roof) => [roof.from[1], roof.to[1]])]
    const left = roomForY((range) => scaleFor(ys, y, range), y, bottom - TOP)
    const scaleX = scaleFor(
      [...points.map((point) => point.x), ...roofs.flatMap((roof) => [roof.from[0], roof.to[0]])],
      x,
      [left, width - RIGHT],
      limit ? [limit.x] : [],
    )
    const scaleY = scaleFor(ys, y, [bottom, TOP])
    const spots: (Spot & { point: Point })[] = points.map((point) => ({
      id: point.id,
      x: scaleX.at(point.x),
      y: scaleY.at(point.y),
      point,
    }))
    const wanted = spots
      .filter((spot) => spot.point.label)
      .sort((a, b) => (b.point.weight ?? 0) - (a.point.weight ?? 0))
      .map((spot) => ({ id: spot.id, text: spot.point.label ?? '', x: spot.x, y: spot.y }))
    const taken = spots.filter((spot) => spot.point.mark !== 'faint').map((spot) => ({ x: spot.x - 4, y: spot.y - 4, width: 8, height: 8 }))
    const lines = roofLabels(roofs, scaleX, scaleY, spots)
    taken.push(...lines.map(({ x, y, width }) => ({ x: x - width, y: y - 10, width, height: 12 })))
    const known = new Map(spots.map((spot) => [spot.id, spot]))
    front.forEach((id, index) => {
      const [from, to] = [known.get(id), known.get(front[index + 1] ?? '')]
      if (!from) return
      const end = to?.x ?? width - RIGHT
      taken.push({ x: from.x + 4, y: from.y - 1, width: end - from.x, height: 2 })
      if (to) taken.push({ x: end - 1, y: Math.min(from.y, to.y), width: 2, height: Math.abs(to.y - from.y) })
    })
    const labels = place(wanted, { x: left, y: TOP - 8, width: width - RIGHT - left + 10, height: bottom - TOP + 6 }, taken, 12, apart)
    return { left, scaleX, scaleY, spots, labels, lines }
  }, [points, x, y, width, bottom, limit, front, apart, roofs])
  const at = plot.spots.find((spot) => spot.id === cursor)

  const onKey = (event: KeyboardEvent) => {
    if (WAYS.includes(event.key)) {
      setCursor(next(plot.spots, cursor ?? picked ?? null, event.key as Way))
    } else if ((event.key === 'Enter' || event.key === ' ') && cursor && onPick) {
      onPick(cursor)
    } else if (event.key === 'Escape' && cursor) {
      setCursor(null)
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }
  const where = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect()
    return nearest(plot.spots, event.clientX - box.left, event.clientY - box.top, 28)
  }

  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription={texts.scatterPlot}
        aria-label={`${title}: ${points.length} points. Arrow keys move from point to point${onPick ? texts.enterPicksOne : ''}.`}
        tabIndex={0}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        style={{ cursor: onPick && at ? 'pointer' : 'default' }}
        onKeyDown={onKey}
        onBlur={() => setCursor(null)}
        onMouseMove={(event) => setCursor(where(event))}
        onMouseLeave={() => setCursor(null)}
        onPointerDown={(event) => (touched.current = event.pointerType === 'touch' ? cursor : undefined)}
        onClick={(event) => {
          const id = where(event)
          if (id && onPick && (touched.current === undefined || touched.current === id)) onPick(id)
        }}
      >
        <AxisX scale={plot.scaleX} options={x} top={TOP} bottom={bottom} />
        <AxisY scale={plot.scaleY} options={y} left={plot.left} right={width - RIGHT} />
        {equal && <path class="limit" d={diagonal(plot.scaleX, plot.scaleY)} />}
        {roofs.map((roof) => (
          <line
            key={roof.label}
            class="limit"
            x1={plot.scaleX.at(roof.from[0])}
            x2={plot.scaleX.at(roof.to[0])}
            y1={plot.scaleY.at(roof.from[1])}
            y2={plot.scaleY.at(roof.to[1])}
          />
        ))}
        {plot.lines.map((line) => (
          <text key={line.label} class="note" x={line.x} y={line.y} text-anchor="end" paint-order="stroke" stroke-linejoin="round">
            {line.label}
          </text>
        ))}
        {limit && (
          <g>
            <line class="limit" x1={plot.scaleX.at(limit.x)} x2={plot.scaleX.at(limit.x)} y1={TOP} y2={bottom} />
            <text class="note" x={plot.scaleX.at(limit.x) - 6} y={TOP + 10} text-anchor="end" paint-order="stroke" stroke-linejoin="round">
              {limit.label}
            </text>
          </g>
        )}
        <Front spots={plot.spots} front={front} right={width - RIGHT} label={frontLabel} />
        {(['faint', 'plain', 'front'] as const).map((mark) => (
          <g key={mark} class={`points ${mark}`}>
            {plot.spots
              .filter((spot) => spot.point.mark === mark)
              .map((spot) => (
                <Shape key={spot.id} spot={spot} large={spot.id === picked} />
              ))}
          </g>
        ))}
        <Labels labels={plot.labels} hidden={at?.id} />
        {at && <circle class="cursor" cx={at.x} cy={at.y} r={9} />}
      </svg>
      <Tooltip tip={at?.point.tip ?? null} x={at?.x ?? 0} y={at?.y ?? 0} width={width} height={height} />
    </div>
  )
}

function Labels({ labels, hidden }: { labels: readonly Placed[]; hidden: string | undefined }) {
  return (
    <g class="point-labels" aria-hidden="true">
      {labels
        .filter((label) => label.id !== hidden)
        .map((label) => (
          <text key={label.id} x={label.x} y={label.y} text-anchor={label.anchor} paint-order="stroke" stroke-linejoin="round">
            {label.text}
          </text>
        ))}
    </g>
  )
}

function Front({
  spots,
  front,
  right,
  label,
}: {
  spots: readonly Spot[]
  front: readonly string[]
  right: number
  label: string | undefined
}) {
  const known = new Map(spots.map((spot) => [spot.id, spot]))
  const corners = front.map((id) => known.get(id)).filter((spot) => spot !== undefined)
  const first = corners[0]
  const last = corners[corners.length - 1]
  if (!first || !last) return null
  let path = `M${first.x},${first.y}`
  for (const corner of corners.slice(1)) path += `H${corner.x}V${corner.y}`
  return (
    <g aria-hidden="true">
      <path class="front-line" d={`${path}H${right}`} />
      {label && (
        <text class="note" x={right} y={last.y + 16} text-anchor="end" paint-order="stroke" stroke-linejoin="round">
          {label}
        </text>
      )}
    </g>
  )
}

function Shape({ spot, large }: { spot: Spot & { point: Point }; large: boolean }) {
  const { x, y, point } = spot
  const r = large ? 6.5 : point.mark === 'front' ? 5 : 4
  const style = point.colour ? { color: point.colour } : undefined
  const css = large ? texts.pointPicked : 'point'
  switch (point.shape ?? 'circle') {
    case 'square':
      return <rect class={css} style={style} x={x - r} y={y - r} width={2 * r} height={2 * r} />
    case 'diamond':
      return <path class={css} style={style} d={`M${x},${y - r * 1.3}L${x + r * 1.3},${y}L${x},${y + r * 1.3}L${x - r * 1.3},${y}Z`} />
    case 'triangle':
      return <path class={css} style={style} d={`M${x},${y - r * 1.2}L${x + r * 1.2},${y + r}L${x - r * 1.2},${y + r}Z`} />
    case 'cross':
      return <path class={`${css} stroked`} style={style} d={`M${x - r},${y - r}L${x + r},${y + r}M${x - r},${y + r}L${x + r},${y - r}`} />
    default:
      return <circle class={css} style={style} cx={x} cy={y} r={r} />
  }
}

/** Line of equal values on both axes, within both domains. */
function diagonal(x: Scale, y: Scale): string {
  const [from, to] = [Math.max(x.domain[0], y.domain[0]), Math.min(x.domain[1], y.domain[1])]
  return to > from ? `M${x.at(from)},${y.at(from)}L${x.at(to)},${y.at(to)}` : ''
}
