// A tornado chart: one row per parameter, bars to the left for a shorter step and to the right for a longer one.
// Filled bars are one direction of the parameter, outlined bars the other, both named in the header. Arrow keys move between rows.
import { useMemo, useState } from 'preact/hooks'
import { fitName, textWidth } from '../fit-text'
import { linear } from '../axes/scale'
import { type Tip, Tooltip } from '../axes/tooltip'
import '../plot.css'
import * as texts from '../../words/charts'

export interface Row {
  readonly id: string
  readonly label: string
  /** Current value, next to the label. */
  readonly now?: string
  /** Change of the result for a larger parameter: filled bar. */
  readonly more: number
  /** Change of the result for a smaller parameter: outlined bar. */
  readonly less?: number
  /** Value at the right edge. */
  readonly figure: string
  readonly colour?: string
  readonly tip: Tip
}

interface Props {
  /** Width of the frame, in CSS pixels. */
  readonly width: number
  readonly title: string
  readonly rows: readonly Row[]
  readonly axis: string
  readonly format: (value: number) => string
  /** Title of the column with numbers. */
  readonly figureTitle: string
  readonly moreTitle?: string
  readonly lessTitle?: string
  readonly picked?: string | null
  readonly onPick?: (id: string) => void
}

const ROW = 26
const TOP = 44

export function Tornado({ width, title, rows, axis, format, figureTitle, moreTitle, lessTitle, picked, onPick }: Props) {
  const [cursor, setCursor] = useState<number | null>(null)
  const height = TOP + rows.length * ROW + 20
  const plot = useMemo(() => {
    const narrow = width < 560
    const longest = Math.max(60, ...rows.map((row) => textWidth(row.label, 12) + (narrow || !row.now ? 0 : textWidth(row.now, 11) + 12)))
    const left = Math.min(longest + 16, width * (narrow ? 0.42 : 0.46))
    const right = width - Math.max(textWidth(figureTitle, 11), ...rows.map((row) => textWidth(row.figure, 12))) - 16
    const most = Math.max(1e-6, ...rows.flatMap((row) => [Math.abs(row.more), Math.abs(row.less ?? 0)]))
    const reach = (side: -1 | 1) => Math.max(most * 0.04, ...rows.flatMap((row) => [row.more, row.less ?? 0]).map((value) => value * side))
    const scale = linear([-reach(-1) * 1.06, reach(1) * 1.06], [left, right])
    return { narrow, left, right, scale, zero: scale.at(0) }
  }, [rows, width, figureTitle])
  const at = cursor === null ? undefined : rows[cursor]
  const ticks = plot.scale.ticks(Math.max(2, Math.floor((plot.right - plot.left) / 70)))

  const onKey = (event: KeyboardEvent) => {
    const last = rows.length - 1
    if (event.key === 'ArrowDown') setCursor(cursor === null ? 0 : Math.min(last, cursor + 1))
    else if (event.key === 'ArrowUp') setCursor(cursor === null ? 0 : Math.max(0, cursor - 1))
    else if (event.key === 'Home') setCursor(0)
    else if (event.key === 'End') setCursor(last)
    else if ((event.key === 'Enter' || event.key === ' ') && at && onPick) onPick(at.id)
    else if (event.key === 'Escape' && cursor !== null) setCursor(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  // The axis stands at the left end of its line: no number is written over it.
  const isFree = (tick: number) => plot.narrow || plot.scale.at(tick) - textWidth(format(tick), 11) / 2 > textWidth(axis, 11) + 6
  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription={texts.tornadoChart}
        aria-label={`${title}: ${rows.length} rows. Arrow keys move from row to row${onPick ? texts.enterPicksOne : ''}.`}
        tabIndex={0}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        onKeyDown={onKey}
        onBlur={() => setCursor(null)}
        onMouseLeave={() => setCursor(null)}
      >
        <g aria-hidden="true">
          <text class="tick" x={plot.zero - 8} y={14} text-anchor="end">
            {plot.zero - plot.left > 90 ? texts.shorterStep : ''}
          </text>
          <text class="tick" x={plot.zero + 8} y={14}>
            {plot.right - plot.zero > 90 ? texts.longerStep : ''}
          </text>
          <text class="tick" x={width} y={32} text-anchor="end">
            {figureTitle}
          </text>
          {!plot.narrow && moreTitle && (
            <g>
              <rect class="bar" x={0} y={24} width={12} height={9} style={{ color: 'var(--accent)' }} />
              <text class="tick" x={17} y={32}>
                {moreTitle}
              </text>
              {lessTitle && (
                <g transform={`translate(${textWidth(moreTitle, 11) + 30} 0)`}>
                  <rect class="bar second" x={0} y={24.5} width={12} height={8} style={{ color: 'var(--accent)' }} />
                  <text class="tick" x={17} y={32}>
                    {lessTitle}
                  </text>
                </g>
              )}
            </g>
          )}
          {ticks.map((tick) => (
            <g key={tick}>
              <line class={tick === 0 ? 'base' : 'grid'} x1={plot.scale.at(tick)} x2={plot.scale.at(tick)} y1={TOP - 4} y2={height - 18} />
              <text class="tick" x={plot.scale.at(tick)} y={height - 4} text-anchor="middle">
                {isFree(tick) ? format(tick) : ''}
              </text>
            </g>
          ))}
          <text class="tick" x={0} y={height - 4}>
            {plot.narrow ? '' : axis}
          </text>
        </g>
        {rows.map((row, index) => {
          const y = TOP + index * ROW
          const colour = { color: row.colour ?? 'var(--accent)' }
          const bar = (value: number) => ({
            x: Math.min(plot.zero, plot.scale.at(value)),
            width: Math.max(0.75, Math.abs(plot.scale.at(value) - plot.zero)),
          })
          return (
            <g
              key={row.id}
              class={`row ${index === cursor || row.id === picked ? 'at' : ''}`}
              style={{ cursor: onPick ? 'pointer' : 'default' }}
              onMouseEnter={() => setCursor(index)}
              onClick={() => onPick?.(row.id)}
            >
              <rect class="row-back" x={0} y={y} width={width} height={ROW} rx={4} />
              <text x={4} y={y + 17}>
                {fitName(row.label, plot.left - 16 - (plot.narrow || !row.now ? 0 : textWidth(row.now, 11) + 12), 12)}
              </text>
              {!plot.narrow && row.now && (
                <text class="tick" x={plot.left - 12} y={y + 17} text-anchor="end">
                  {row.now}
                </text>
              )}
              <rect class="bar" style={colour} {...bar(row.more)} y={y + 6} height={ROW - 13} />
              {row.less !== undefined && <rect class="bar second" style={colour} {...bar(row.less)} y={y + 6} height={ROW - 13} />}
              <line class="base" x1={plot.zero} x2={plot.zero} y1={y} y2={y + ROW} />
              <text x={width - 2} y={y + 17} text-anchor="end">
                {row.figure}
              </text>
            </g>
          )
        })}
      </svg>
      <Tooltip tip={at?.tip ?? null} x={plot.zero} y={TOP + (cursor ?? 0) * ROW + ROW / 2} width={width} height={height} />
    </div>
  )
}
