// A heat map of up to some hundred thousand cells: a canvas has one pixel per cell, and the plot scales it without blur, so that the SVG
// contains it too. Arrow keys move the cursor by a cell, with Control to the next cell with a value.
import { useMemo, useState } from 'preact/hooks'
import { textWidth } from '../fit-text'
import { type Tip, Tooltip } from '../axes/tooltip'
import { type Grid, byPlace, jump, picture, ramp, rgb, shadesOf } from './cells'
import '../plot.css'
import * as texts from '../../words/charts'

interface Props {
  /** Width of the frame, in CSS pixels. */
  readonly width: number
  readonly title: string
  readonly grid: Grid
  readonly rowTitle: string
  readonly columnTitle: string
  /** Name of a row or column at an axis. */
  readonly name: (index: number) => string
  readonly format: (value: number) => string
  readonly tip: (row: number, column: number, value: number | undefined) => Tip
  /** Cells per block between separating lines; 0 draws none. */
  readonly block?: number
  /** Changes with the theme, so that colours are read again. */
  readonly theme?: unknown
  readonly most?: number
}

const TOP = 48

export function Heatmap({ width, title, grid, rowTitle, columnTitle, name, format, tip, block = 0, theme, most = 640 }: Props) {
  const [cursor, setCursor] = useState<[number, number] | null>(null)
  const { side } = grid
  const values = useMemo(() => byPlace(grid), [grid])
  const painted = useMemo(() => {
    const style = getComputedStyle(document.documentElement)
    const colours = ramp(rgb(style.getPropertyValue('--ramp-low')), rgb(style.getPropertyValue('--ramp-high')))
    const shades = shadesOf(grid.cells)
    return { colours, shades, image: shades && picture(grid, shades, colours) }
  }, [grid, theme])
  const left = Math.max(36, textWidth(name(side - 1), 11) + 12)
  const size = Math.max(120, Math.min(width - left - 8, most))
  const cell = size / side
  const height = TOP + size + 40
  const ends = [0, 0.25, 0.5, 0.75].map((share) => Math.floor(share * side)).filter((index, at, all) => all.indexOf(index) === at)
  const lines =
    block > 0 && cell * block >= 14 && block < side ? Array.from({ length: Math.ceil(side / block) - 1 }, (_, n) => (n + 1) * block) : []

  const move = (row: number, column: number) => setCursor([Math.max(0, Math.min(side - 1, row)), Math.max(0, Math.min(side - 1, column))])
  const onKey = (event: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }
    const step = steps[event.key]
    if (step) {
      const [row, column] = cursor ?? [0, 0]
      if (!cursor) move(0, 0)
      else if (event.ctrlKey || event.metaKey) setCursor(jump(values, side, cursor, step))
      else move(row + step[0] * (event.shiftKey ? 8 : 1), column + step[1] * (event.shiftKey ? 8 : 1))
    } else if (event.key === 'Home') move(0, 0)
    else if (event.key === 'End') move(side - 1, side - 1)
    else if (event.key === 'Escape' && cursor) setCursor(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const point = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect()
    const column = Math.floor((event.clientX - box.left - left) / cell)
    const row = Math.floor((event.clientY - box.top - TOP) / cell)
    setCursor(row >= 0 && row < side && column >= 0 && column < side ? [row, column] : null)
  }
  const x = cursor ? left + (cursor[1] + 0.5) * cell : 0
  const y = cursor ? TOP + (cursor[0] + 0.5) * cell : 0

  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription={texts.heatMap}
        aria-label={texts.byCellsWithAValue(title, side, side, grid.cells.length)}
        tabIndex={0}
        width={left + size + 8}
        height={height}
        viewBox={`0 0 ${left + size + 8} ${height}`}
        onKeyDown={onKey}
        onBlur={() => setCursor(null)}
        onMouseMove={point}
        onMouseLeave={() => setCursor(null)}
      >
        <rect x={left} y={TOP} width={size} height={size} style={{ fill: 'var(--surface)', stroke: 'var(--line-strong)' }} />
        {painted.image && (
          <image href={painted.image} x={left} y={TOP} width={size} height={size} preserveAspectRatio="none" image-rendering="pixelated" />
        )}
        <g aria-hidden="true">
          {lines.map((line) => (
            <path key={line} class="blocks" d={`M${left + line * cell},${TOP}v${size}M${left},${TOP + line * cell}h${size}`} />
          ))}
          {ends.map((index) => (
            <g key={index}>
              <text class="tick" x={left + index * cell} y={TOP + size + 16}>
                {name(index)}
              </text>
              <text class="tick" x={left - 6} y={TOP + index * cell + 10} text-anchor="end">
                {name(index)}
              </text>
            </g>
          ))}
          <text class="axis-title" x={left + size} y={TOP + size + 32} text-anchor="end">
            {columnTitle} →
          </text>
          <text class="axis-title" x={0} y={TOP - 8}>
            ↓ {rowTitle}
          </text>
          {painted.shades && <Scale shades={painted.shades} colours={painted.colours} right={left + size} format={format} />}
        </g>
        {cursor && <path class="cross" d={`M${left},${y}H${left + size}M${x},${TOP}V${TOP + size}`} stroke-opacity="0.5" />}
        {cursor && (
          <rect class="cross" x={left + cursor[1] * cell} y={TOP + cursor[0] * cell} width={Math.max(cell, 2)} height={Math.max(cell, 2)} />
        )}
      </svg>
      <Tooltip
        tip={cursor ? tip(cursor[0], cursor[1], values.get(cursor[0] * side + cursor[1])) : null}
        x={x}
        y={y}
        width={width}
        height={height}
      />
    </div>
  )
}

interface ScaleProps {
  readonly shades: { readonly least: number; readonly most: number }
  readonly colours: (share: number) => readonly [number, number, number]
  readonly right: number
  readonly format: (value: number) => string
}

/** From least to most, in logarithmic steps. */
function Scale({ shades, colours, right, format }: ScaleProps) {
  const steps = 24
  const wide = 120
  const most = format(shades.most)
  const from = right - textWidth(most, 11) - 6 - wide
  return (
    <g>
      {Array.from({ length: steps }, (_, n) => {
        const [r, g, b] = colours(n / (steps - 1))
        return (
          <rect
            key={n}
            x={from + (n * wide) / steps}
            y={6}
            width={wide / steps + 0.5}
            height={10}
            style={{ fill: `rgb(${r} ${g} ${b})` }}
          />
        )
      })}
      <text class="tick" x={from - 6} y={15} text-anchor="end">
        {format(shades.least)}
      </text>
      <text class="tick" x={right} y={15} text-anchor="end">
        {most}
      </text>
    </g>
  )
}
