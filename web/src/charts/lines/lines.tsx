// Line chart of a few series, each labelled at its end instead of in a legend. Markers, reference lines and an accented point (a knee).
// Arrow keys move along a series and between series. Not for dense series (thousands of values).
import { useMemo, useRef, useState } from 'preact/hooks'
import { AxisX, AxisY, type AxisOptions, roomForY } from '../axes/axes'
import { type Box, place, spread } from '../axes/labels'
import { textWidth } from '../fit-text'
import { type Scale, extent, linear, log, padded, paddedLog } from '../axes/scale'
import { type Tip, Tooltip } from '../axes/tooltip'
import '../plot.css'
import * as texts from '../../words/charts'

export interface Value {
  readonly x: number
  /** `null` leaves a gap. */
  readonly y: number | null
  readonly tip: Tip
  /** Lower end of an interval around the value, such as that of a prediction. */
  readonly low?: number
  readonly high?: number
  /** Note at the point. */
  readonly note?: string
  /** Drawn hollow, because it does not meet a goal. */
  readonly hollow?: boolean
}

export interface Series {
  readonly id: string
  readonly label: string
  readonly colour: string
  readonly dash?: string
  /** Points without a line, because values between them are unknown. */
  readonly alone?: 'circle' | 'square' | 'triangle' | 'diamond'
  readonly values: readonly Value[]
}

interface Props {
  /** Width of the frame, in CSS pixels. */
  readonly width: number
  readonly title: string
  readonly series: readonly Series[]
  readonly x: AxisOptions
  readonly y: AxisOptions
  readonly references?: readonly { readonly y: number; readonly label: string }[]
  /** Vertical lines with a name, such as today's price. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[]
  readonly picked?: { readonly series: string; readonly x: number } | null
  readonly onPick?: (series: string, index: number) => void
  readonly height?: number
  /** True to start the vertical axis at zero. */
  readonly fromZero?: boolean
}

interface Spot {
  readonly series: number
  readonly index: number
  readonly x: number
  readonly y: number
}

const TOP = 30
const BOTTOM = 42

function scaleFor(values: readonly number[], options: AxisOptions, range: readonly [number, number], fromZero = false): Scale {
  const [low, high] = extent(values) ?? [0, 1]
  if (options.log && low > 0) return log(paddedLog([low, high], 0.04), range)
  return linear(fromZero ? [0, padded([low, high])[1]] : padded([low, high]), range)
}

export function Lines({ width, title, series, x, y, references = [], marks = [], picked, onPick, height = 320, fromZero = false }: Props) {
  const [cursor, setCursor] = useState<{ series: number; index: number } | null>(null)
  // Touch has no hover: the first tap shows a point, the second selects it.
  const touched = useRef<string | undefined>(undefined)
  const bottom = height - BOTTOM
  const plot = useMemo(() => {
    const xs = series.flatMap((one) => one.values.map((value) => value.x))
    const ys = series
      .flatMap((one) => one.values.flatMap((value) => [value.y, value.low, value.high]))
      .filter((value): value is number => value != null)
    ys.push(...references.map((reference) => reference.y))
    const narrow = width < 480
    const names = narrow ? 0 : Math.min(220, Math.max(0, ...series.map((one) => textWidth(one.label, 12))) + 16)
    const left = roomForY((range) => scaleFor(ys, y, range, fromZero), y, bottom - TOP)
    const right = width - Math.max(names, 16)
    const scaleX = scaleFor(xs, x, [left + 6, right - 4])
    const scaleY = scaleFor(ys, y, [bottom, TOP], fromZero)
    const spots: Spot[] = []
    series.forEach((one, at) =>
      one.values.forEach((value, index) => {
        if (value.y !== null) spots.push({ series: at, index, x: scaleX.at(value.x), y: scaleY.at(value.y) })
      }),
    )
    const ends = series.map((_, at) => spots.filter((spot) => spot.series === at).pop())
    const area = { x: left, y: TOP - 14, width: width - left, height: bottom - TOP + 10 }
    const taken = alongLines(spots, series)
    const notes = place(
      spots.flatMap((spot) => {
        const note = series[spot.series]?.values[spot.index]?.note
        return note ? [{ id: `${spot.series} ${spot.index}`, text: note, x: spot.x, y: spot.y, gap: 10 }] : []
      }),
      area,
      taken,
    )
    const named = references.map((reference) => {
      const y = scaleY.at(reference.y)
      const wide = textWidth(reference.label, 11) + 4
      const free = (x: number, top: number) =>
        !taken.some((box) => box.x < x + wide && x < box.x + box.width && box.y < top + 14 && top < box.y + box.height)
      const tries = [left + 6, right - wide - 4, (left + right - wide) / 2].flatMap((x) => [
        { x, y: y - 5 },
        { x, y: y + 14 },
      ])
      return {
        label: reference.label,
        line: y,
        ...(tries.find((at) => at.y - 11 > TOP - 16 && at.y < bottom && free(at.x, at.y - 11)) ?? { x: left + 6, y: y - 5 }),
      }
    })
    const last = Math.max(...ends.map((end) => end?.x ?? 0))
    // A line that ends early has its label at its end if there is room; other labels are at the right edge.
    const early = place(
      ends.flatMap((end, at) =>
        end && !narrow && end.x < last - 30 ? [{ id: String(at), text: series[at]?.label ?? '', x: end.x, y: end.y }] : [],
      ),
      area,
      [...taken, ...notes.map((note) => ({ x: note.x - (note.anchor === 'start' ? 0 : 60), y: note.y - 12, width: 60, height: 14 }))],
    )
    const late = ends.map((end, at) => (end && !early.some((name) => name.id === String(at)) ? end.y : null))
    const room = spread(
      late.filter((y) => y !== null),
      15,
      TOP,
      bottom,
    )
    const heights = late.map((y, at) => (y === null ? null : (room[late.slice(0, at).filter((other) => other !== null).length] ?? y)))
    return { left, right, narrow, scaleX, scaleY, spots, ends, heights, early, notes, named }
  }, [series, x, y, width, bottom, references, fromZero])

  const at = cursor && plot.spots.find((spot) => spot.series === cursor.series && spot.index === cursor.index)
  const value = at ? series[at.series]?.values[at.index] : undefined

  const onKey = (event: KeyboardEvent) => {
    const go = (spot: Spot | undefined) => spot && setCursor({ series: spot.series, index: spot.index })
    const here = at ?? null
    const beside = (step: number) => {
      const along = plot.spots.filter((spot) => spot.series === here?.series)
      return along[along.indexOf(here as Spot) + step]
    }
    const across = (step: number) => {
      const count = series.length
      for (let n = 1; n <= count; n++) {
        const other = plot.spots.filter((spot) => spot.series === ((here?.series ?? 0) + step * n + count * n) % count)
        if (other.length > 0)
          return other.reduce((best, spot) => (Math.abs(spot.x - (here?.x ?? 0)) < Math.abs(best.x - (here?.x ?? 0)) ? spot : best))
      }
      return undefined
    }
    if (event.key === 'ArrowRight') go(here ? beside(1) : plot.spots[0])
    else if (event.key === 'ArrowLeft') go(here ? beside(-1) : plot.spots[0])
    else if (event.key === 'ArrowDown') go(here ? across(1) : plot.spots[0])
    else if (event.key === 'ArrowUp') go(here ? across(-1) : plot.spots[0])
    else if (event.key === 'Home') go(plot.spots.find((spot) => spot.series === (here?.series ?? 0)))
    else if (event.key === 'End') go(plot.spots.filter((spot) => spot.series === (here?.series ?? 0)).pop())
    else if ((event.key === 'Enter' || event.key === ' ') && here && onPick) onPick(series[here.series]?.id ?? '', here.index)
    else if (event.key === 'Escape' && cursor) setCursor(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const find = (event: MouseEvent): Spot | undefined => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect()
    const [px, py] = [event.clientX - box.left, event.clientY - box.top]
    const distance = (spot: Spot) => (spot.x - px) ** 2 + (spot.y - py) ** 2
    const best = plot.spots.reduce<Spot | undefined>((kept, spot) => (!kept || distance(spot) < distance(kept) ? spot : kept), undefined)
    return best && distance(best) < 60 ** 2 ? best : undefined
  }

  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription={texts.lineChart}
        aria-label={`${title}: ${series.map((one) => one.label).join(', ')}. Arrow keys move along a line and between lines.`}
        tabIndex={0}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        style={{ cursor: onPick && at ? 'pointer' : 'default' }}
        onKeyDown={onKey}
        onBlur={() => setCursor(null)}
        onMouseMove={(event) => {
          const spot = find(event)
          setCursor(spot ? { series: spot.series, index: spot.index } : null)
        }}
        onMouseLeave={() => setCursor(null)}
        onPointerDown={(event) => (touched.current = event.pointerType === 'touch' ? `${cursor?.series} ${cursor?.index}` : undefined)}
        onClick={(event) => {
          const spot = find(event)
          if (spot && onPick && (touched.current === undefined || touched.current === `${spot.series} ${spot.index}`))
            onPick(series[spot.series]?.id ?? '', spot.index)
        }}
      >
        <AxisX scale={plot.scaleX} options={x} top={TOP} bottom={bottom} />
        <AxisY scale={plot.scaleY} options={y} left={plot.left} right={plot.right} />
        {marks.map((mark) => (
          <g key={mark.label}>
            <line class="limit" x1={plot.scaleX.at(mark.x)} x2={plot.scaleX.at(mark.x)} y1={TOP} y2={bottom} />
            <text class="note" x={plot.scaleX.at(mark.x) + 4} y={TOP + 10} paint-order="stroke" stroke-linejoin="round">
              {mark.label}
            </text>
          </g>
        ))}
        {plot.named.map((reference) => (
          <g key={reference.label}>
            <line class="limit" x1={plot.left} x2={plot.right} y1={reference.line} y2={reference.line} />
            <text class="note" x={reference.x} y={reference.y} paint-order="stroke" stroke-linejoin="round">
              {reference.label}
            </text>
          </g>
        ))}
        {series.map((one, index) => (
          <Line
            key={one.id}
            series={one}
            spots={plot.spots.filter((spot) => spot.series === index)}
            scaleY={plot.scaleY}
            scaleX={plot.scaleX}
            picked={picked?.series === one.id ? picked.x : null}
          />
        ))}
        {!plot.narrow &&
          series.map((one, index) => {
            const end = plot.ends[index]
            const y = plot.heights[index]
            if (!end || y === null || y === undefined) return null
            return (
              <g key={one.id} style={{ color: one.colour }}>
                <path class="leader" d={`M${end.x + 6},${end.y}L${plot.right},${y}`} />
                <text class="series-name" x={plot.right + 4} y={y + 4}>
                  {one.label}
                </text>
              </g>
            )
          })}
        <g class="point-labels" aria-hidden="true">
          {plot.early.map((name) => (
            <text
              key={name.id}
              class="series-name"
              x={name.x}
              y={name.y}
              text-anchor={name.anchor}
              paint-order="stroke"
              stroke-linejoin="round"
            >
              {name.text}
            </text>
          ))}
          {plot.notes.map((note) => (
            <text
              key={note.id}
              class="dot-note"
              x={note.x}
              y={note.y}
              text-anchor={note.anchor}
              paint-order="stroke"
              stroke-linejoin="round"
            >
              {note.text}
            </text>
          ))}
        </g>
        {at && <circle class="cursor" cx={at.x} cy={at.y} r={8} />}
      </svg>
      {plot.narrow && (
        <ul class="chart-keys" aria-hidden="true">
          {series.map((one) => (
            <li key={one.id}>
              <svg width="18" height="8" data-decoration>
                {one.alone ? (
                  <path d={outline(one.alone, { series: 0, index: 0, x: 9, y: 4 }, 3)} style={{ fill: one.colour }} />
                ) : (
                  <line x1="0" x2="18" y1="4" y2="4" style={{ stroke: one.colour }} stroke-width="2" stroke-dasharray={one.dash} />
                )}
              </svg>
              {one.label}
            </li>
          ))}
        </ul>
      )}
      <Tooltip tip={value?.tip ?? null} x={at?.x ?? 0} y={at?.y ?? 0} width={width} height={height} />
    </div>
  )
}

/** Boxes along the lines, to be avoided by labels. */
function alongLines(spots: readonly Spot[], series: readonly Series[]): Box[] {
  const boxes: Box[] = []
  spots.forEach((spot, index) => {
    boxes.push({ x: spot.x - 4, y: spot.y - 4, width: 8, height: 8 })
    const next = spots[index + 1]
    if (!next || next.series !== spot.series || series[spot.series]?.alone) return
    const steps = Math.ceil(Math.hypot(next.x - spot.x, next.y - spot.y) / 8)
    for (let n = 1; n < steps; n++) {
      boxes.push({ x: spot.x + ((next.x - spot.x) * n) / steps - 2, y: spot.y + ((next.y - spot.y) * n) / steps - 2, width: 4, height: 4 })
    }
  })
  return boxes
}

/** Path of a point marker. */
function outline(shape: Series['alone'], { x, y }: Spot, r: number): string {
  switch (shape) {
    case 'square':
      return `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`
    case 'triangle':
      return `M${x},${y - r * 1.3}L${x + r * 1.3},${y + r}L${x - r * 1.3},${y + r}Z`
    case 'diamond':
      return `M${x},${y - r * 1.4}L${x + r * 1.4},${y}L${x},${y + r * 1.4}L${x - r * 1.4},${y}Z`
    default:
      return `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`
  }
}

interface LineProps {
  readonly series: Series
  readonly spots: readonly Spot[]
  readonly scaleX: Scale
  readonly scaleY: Scale
  readonly picked: number | null
}

function Line({ series, spots, scaleX, scaleY, picked }: LineProps) {
  let path = ''
  if (!series.alone)
    spots.forEach((spot, index) => {
      const before = spots[index - 1]
      path += `${before && before.index === spot.index - 1 ? 'L' : 'M'}${spot.x.toFixed(1)},${spot.y.toFixed(1)}`
    })
  const ranged = series.values.filter((value) => value.low !== undefined && value.high !== undefined)
  return (
    <g class="series" style={{ color: series.colour }} aria-hidden="true">
      {ranged.map((value) => (
        <line
          key={value.x}
          class="interval"
          x1={scaleX.at(value.x)}
          x2={scaleX.at(value.x)}
          y1={scaleY.at(value.low ?? 0)}
          y2={scaleY.at(value.high ?? 0)}
        />
      ))}
      <path class="line" d={path} stroke-dasharray={series.dash} />
      {spots.map((spot) => {
        const value = series.values[spot.index]
        return (
          <g key={spot.index}>
            <path class={value?.hollow ? 'dot hollow' : 'dot'} d={outline(series.alone, spot, value?.x === picked ? 6 : 3.5)} />
          </g>
        )
      })}
    </g>
  )
}
