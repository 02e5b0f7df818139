// A heat map of named rows and columns with one scale, or one per row. Cells with enough room show their value; the pointer and the arrow
// keys show any value. All rows and columns are drawn, even if too small for a label.
import { useMemo, useState } from 'preact/hooks'
import { dark } from '../../state/theme'
import { type Tip, Tooltip } from '../axes/tooltip'
import { fitName, textWidth } from '../fit-text'
import { inkFor, luminance } from '../contrast'
import { rgb } from './cells'
import '../plot.css'
import { endsOf, sharesOf } from './shares'
import { Legend } from '../legend'
import * as texts from '../../words/charts'

/** Texts of a cell without a value; the first one that fits is shown. */
export interface Sign {
  readonly texts: readonly string[]
  readonly tone: 'bad' | 'unknown'
}

const TONES = {
  bad: { ground: 'var(--bad-soft)', ink: 'var(--bad)' },
  unknown: { ground: 'var(--sunken)', ink: 'var(--muted)' },
} as const

/** Identifier of the hatch pattern, shared by all maps. */
const HATCH = 'heat-table-nothing'

interface Props {
  readonly width: number
  readonly title: string
  readonly rows: readonly string[]
  readonly columns: readonly string[]
  /** Rows of values; null for missing ones. */
  readonly values: readonly (readonly (number | null)[])[]
  readonly format: (value: number) => string
  readonly tip: (row: number, column: number, value: number | null) => Tip
  /** Action of a click and of Enter; nothing if absent. */
  readonly onChoose?: (row: number, column: number) => void
  /** True to scale each row to its own maximum, so that outliers within a row are visible. */
  readonly own?: boolean
  /** Start of the scale: zero, or the minimum, which shows small differences. */
  readonly from?: 'zero' | 'least'
  /** End of the scale, if not the maximum. */
  readonly most?: number
  /** Meaning of a cell without a value, for the legend. */
  readonly nothing?: string
  /** Texts of cells without a value; null leaves one hatched. */
  readonly signs?: readonly (readonly (Sign | null)[])[]
  /** Cell with a dashed outline. */
  readonly outlined?: readonly [number, number] | null
  /** Name of the action of Enter. */
  readonly action?: string
}

const LABELS = 20

export function HeatTable({
  width,
  title,
  rows,
  columns,
  values,
  format,
  tip,
  onChoose,
  own = false,
  from = 'zero',
  most,
  nothing = texts.noValue,
  signs,
  outlined = null,
  action = texts.enterShowsThePlaceOn,
}: Props) {
  const [cursor, setCursor] = useState<readonly [number, number] | null>(null)
  const theme = dark.value
  const high = rows.length <= 40 ? 22 : Math.max(3, Math.min(22, Math.floor(680 / rows.length)))
  const left = Math.min(Math.max(36, ...rows.map((name) => textWidth(name, 12) + 14)), width * 0.4, 260)
  const wide = Math.max(1, Math.min(240, (width - left - 2) / columns.length))
  const height = rows.length * high + LABELS
  const shares = useMemo(() => sharesOf(values, own, from, most), [values, own, from, most])
  const painted = useMemo(() => paint(shares, columns.length), [shares, columns.length, theme])
  const room = Math.max(0, ...values.flatMap((row) => row.map((value) => (value === null ? 0 : format(value).length)))) * 6.4 + 8
  const written = high >= 18 && wide >= room
  const each = Math.max(1, Math.ceil((Math.max(...columns.map((name) => textWidth(name, 11))) + 12) / wide))
  // The last label stays inside the chart, so it may come too near to the one before.
  const labelAt = (column: number) => Math.min(left + (column + 0.5) * wide, width - textWidth(columns[column] ?? '', 11) / 2 - 3)
  const isApart = (column: number) =>
    column < each ||
    labelAt(column) - labelAt(column - each) >= (textWidth(columns[column] ?? '', 11) + textWidth(columns[column - each] ?? '', 11)) / 2 + 8
  const eachRow = Math.max(1, Math.ceil(15 / high))
  const at = (event: MouseEvent): readonly [number, number] | null => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect()
    const column = Math.floor((event.clientX - box.left - left) / wide)
    const row = Math.floor((event.clientY - box.top) / high)
    return row >= 0 && row < rows.length && column >= 0 && column < columns.length ? [row, column] : null
  }
  const strike = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key] as [number, number] | undefined
    const [row, column] = cursor ?? [0, 0]
    if (step)
      setCursor(
        cursor
          ? [Math.max(0, Math.min(rows.length - 1, row + step[0])), Math.max(0, Math.min(columns.length - 1, column + step[1]))]
          : [0, 0],
      )
    else if (event.key === 'Home') setCursor([row, 0])
    else if (event.key === 'End') setCursor([row, columns.length - 1])
    else if ((event.key === 'Enter' || event.key === ' ') && cursor && onChoose) onChoose(row, column)
    else if (event.key === 'Escape' && cursor) setCursor(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const signed = values.flatMap((line, row) =>
    line.flatMap((value, column) => {
      const sign = value === null ? signs?.[row]?.[column] : null
      return sign ? [{ row, column, ...TONES[sign.tone], text: sign.texts.find((one) => textWidth(one, 11) + 6 <= wide) ?? '' }] : []
    }),
  )
  const empty = values
    .flatMap((line, row) =>
      line.map((value, column) =>
        value === null && !signs?.[row]?.[column] ? `M${left + column * wide},${row * high}h${wide}v${high}h${-wide}z` : '',
      ),
    )
    .join('')
  const x = cursor ? left + cursor[1] * wide : 0
  const y = cursor ? cursor[0] * high : 0
  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription={texts.heatMap}
        aria-label={`${title}: ${rows.length} rows, ${columns.length} columns. Arrow keys move${onChoose ? `, ${action}` : ''}.`}
        tabIndex={0}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        font-size="11"
        style={{ cursor: cursor && onChoose ? 'pointer' : 'default' }}
        onKeyDown={strike}
        onBlur={() => setCursor(null)}
        onMouseMove={(event) => setCursor(at(event))}
        onMouseLeave={() => setCursor(null)}
        onClick={(event) => {
          const place = at(event)
          if (place && onChoose) onChoose(place[0], place[1])
        }}
      >
        {empty !== '' && (
          <>
            <defs>
              <pattern id={HATCH} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                <path d="M0,0V6" stroke="var(--muted)" stroke-width="2" opacity="0.55" />
              </pattern>
            </defs>
            <path d={empty} fill={`url(#${HATCH})`} />
          </>
        )}
        {painted && (
          <image
            href={painted.image}
            x={left}
            y={0}
            width={wide * columns.length}
            height={high * rows.length}
            preserveAspectRatio="none"
            image-rendering="pixelated"
          />
        )}
        <g aria-hidden="true">
          {high >= 12 && wide >= 6 && (
            <path
              d={`${rows.map((_, row) => `M${left},${row * high}h${wide * columns.length}`).join('')}${columns.map((_, column) => `M${left + column * wide},0v${high * rows.length}`).join('')}`}
              stroke="var(--surface)"
              stroke-width="1"
            />
          )}
          {rows.map((name, row) =>
            row % eachRow === 0 ? (
              <text key={row} x={left - 8} y={row * high + Math.min(high, 22) / 2 + 4} text-anchor="end">
                {fitName(name, left - 10, 12)}
              </text>
            ) : null,
          )}
          {signed.map(({ row, column, text, ground, ink }) => (
            <g key={`${row} ${column}`}>
              <rect
                x={left + column * wide + 0.5}
                y={row * high + 0.5}
                width={wide - 1}
                height={high - 1}
                fill={ground}
                stroke={ink}
                stroke-opacity="0.35"
              />
              {high >= 12 && (
                <text x={left + (column + 0.5) * wide} y={row * high + high / 2 + 4} text-anchor="middle" style={{ fill: ink }}>
                  {text}
                </text>
              )}
            </g>
          ))}
          {written &&
            painted &&
            values.map((line, row) =>
              line.map((value, column) =>
                value === null ? null : (
                  <text
                    key={`${row} ${column}`}
                    x={left + (column + 0.5) * wide}
                    y={row * high + high / 2 + 4}
                    text-anchor="middle"
                    style={{ fill: painted.ink(shares[row]?.[column] ?? 0) }}
                  >
                    {format(value)}
                  </text>
                ),
              ),
            )}
          {columns.map((name, column) =>
            column % each === 0 && isApart(column) ? (
              <text key={column} x={labelAt(column)} y={rows.length * high + 15} text-anchor="middle" style={{ fill: 'var(--muted)' }}>
                {name}
              </text>
            ) : null,
          )}
        </g>
        {outlined && (
          <rect
            x={left + outlined[1] * wide + 1}
            y={outlined[0] * high + 1}
            width={wide - 2}
            height={high - 2}
            fill="none"
            stroke="var(--surface)"
            stroke-width="3"
          />
        )}
        {outlined && (
          <rect
            x={left + outlined[1] * wide + 1}
            y={outlined[0] * high + 1}
            width={wide - 2}
            height={high - 2}
            fill="none"
            stroke="var(--text)"
            stroke-width="2"
            stroke-dasharray="4 3"
          />
        )}
        {cursor && <rect x={x} y={y} width={wide} height={high} fill="none" stroke="var(--text)" stroke-width="2" />}
      </svg>
      {!written && painted && <Legend items={endsOf(values, own, from, most, format)} />}
      {empty !== '' && (
        <p class="muted heat-table-legend">
          <svg width="14" height="14" aria-hidden="true">
            <rect width="14" height="14" fill={`url(#${HATCH})`} />
          </svg>{' '}
          {nothing}
        </p>
      )}
      <Tooltip
        tip={cursor ? tip(cursor[0], cursor[1], values[cursor[0]]?.[cursor[1]] ?? null) : null}
        x={x + wide / 2}
        y={y + high / 2}
        width={width}
        height={height}
      />
    </div>
  )
}

interface Painted {
  readonly image: string
  readonly ink: (share: number) => string
}

function paint(shares: readonly (readonly (number | null)[])[], columns: number): Painted | null {
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, columns)
  canvas.height = Math.max(1, shares.length)
  const context = canvas.getContext('2d')
  if (!context) return null
  const style = getComputedStyle(document.documentElement)
  const [low, high] = [rgb(style.getPropertyValue('--ramp-low')), rgb(style.getPropertyValue('--ramp-high'))]
  const colour = (share: number) => [0, 1, 2].map((n) => Math.round((low[n] ?? 0) + ((high[n] ?? 0) - (low[n] ?? 0)) * share))
  const image = context.createImageData(canvas.width, canvas.height)
  shares.forEach((row, y) =>
    row.forEach((share, x) => {
      if (share !== null) image.data.set([...colour(share), 255], (y * canvas.width + x) * 4)
    }),
  )
  context.putImageData(image, 0, 0)
  // Black or white text, whichever has more contrast with the shade.
  const ink = (share: number) =>
    inkFor(
      luminance(
        `#${colour(share)
          .map((one) => one.toString(16).padStart(2, '0'))
          .join('')}`,
      ),
    )
  return { image: canvas.toDataURL(), ink }
}
