// Ranks beside each other: a table of groups, and heat maps of every label over ranks and over steps.
// Responsible for: colours by value with the value in every cell's title. Refuses to hide a rank: all that the answer lists are shown.
import { useState } from 'preact/hooks'
import { ChartFrame } from '../../charts/frame'
import { change } from '../../state/location'
import { percent, span } from '../../timeline/time'
import { Table, type Column } from '../../ui/table'
import type { TabProps } from '.'
import { GROUPS, type RankRow, words } from './types'

export function Ranks({ profile }: TabProps) {
  const steps = Math.max(1, profile.steps.length)
  const groups = GROUPS.map((name, at) => ({ name, at })).filter(({ at }) => profile.rows.some((row) => (row.shares[at] ?? 0) >= 0.0005))
  const columns: Column<RankRow>[] = [
    { key: 'rank', title: 'Rank', value: (row) => row.rank, align: 'right' },
    { key: 'host', title: 'Host', value: (row) => row.host ?? '' },
    ...groups.map(({ name, at }): Column<RankRow> => ({ key: name, title: name, value: (row) => row.shares[at] ?? 0, cell: (row) => percent(row.shares[at] ?? 0), align: 'right' })),
    { key: 'waiting', title: 'waiting', about: 'for other ranks, within communication', value: (row) => row.waiting, cell: (row) => percent(row.waiting), align: 'right' },
  ]
  const labels = [...new Set(profile.rows.flatMap((row) => Object.keys(row.parts)))]
  const stepLabels = [...new Set(profile.steps.flatMap((row) => Object.keys(row.parts)))]
  if (profile.rows.length === 0) return <p class="muted">The answer lists no ranks one by one.</p>
  return (
    <div class="traces-grid">
      <section class="panel traces-panel traces-wide" aria-label="Ranks">
        <h2>
          Ranks <span class="muted">shares of the step; Enter shows a rank on the timeline</span>
        </h2>
        <Table caption="Shares of each rank" columns={columns} rows={profile.rows} identify={(row) => row.rank} onChoose={(row) => change({ 't.tab': 'timeline', 't.rank': String(row.rank) })} maxHeight="420px" />
      </section>
      <Heat
        title="Labels over ranks"
        about="of a step"
        name="ranks"
        rows={labels}
        columns={profile.rows.map((row) => `rank ${row.rank}`)}
        value={(label, at) => (profile.rows[at]?.parts[label] ?? 0) / steps}
        whole={profile.step_time}
        choose={(at) => change({ 't.tab': 'timeline', 't.rank': String(profile.rows[at]!.rank) })}
      />
      <Heat
        title="Labels over steps"
        about="mean of ranks"
        name="steps"
        rows={stepLabels}
        columns={profile.steps.map((row) => `step ${row.step}`)}
        value={(label, at) => (profile.steps[at]?.parts[label] ?? 0) / Math.max(1, profile.ranks)}
        whole={profile.step_time}
        choose={(at) => change({ 't.tab': 'timeline', 't.step': profile.steps[at]!.step })}
      />
    </div>
  )
}

interface HeatProps {
  readonly title: string
  readonly about: string
  readonly name: string
  readonly rows: readonly string[]
  readonly columns: readonly string[]
  readonly value: (row: string, column: number) => number
  readonly whole: number
  readonly choose: (column: number) => void
}

/** Each row from nothing to its own largest value, so that what stands out in a row is seen; the value itself where there is room. */
function Heat(props: HeatProps) {
  const [own, setOwn] = useState(true)
  const values = props.rows.map((row) => props.columns.map((_, at) => props.value(row, at)))
  const all = Math.max(1, ...values.flat())
  const order = props.rows.map((_, at) => at).sort((a, b) => Math.max(...values[b]!) - Math.max(...values[a]!))
  const kept = order.filter((at) => Math.max(...values[at]!) / props.whole >= 0.001)
  return (
    <ChartFrame
      title={props.title}
      about={props.about}
      name={props.name}
      class={props.columns.length > 8 ? 'traces-wide' : ''}
      rows={() => ({ columns: ['label', ...props.columns], rows: kept.map((at) => [props.rows[at]!, ...values[at]!]) })}
      tools={
        <label class="traces-check">
          <input type="checkbox" checked={own} onChange={() => setOwn(!own)} /> each row on its own scale
        </label>
      }
    >
      {(width) => {
        const left = Math.min(230, width * 0.38)
        const cell = Math.max(3, Math.min(96, (width - left) / props.columns.length))
        const row = 22
        return (
          <svg width={width} height={kept.length * row + 26} role="img" aria-label={`${props.title}: ${kept.length} labels, ${props.columns.length} columns`} font-size="11">
            {kept.map((at, place) => {
              const scale = own ? Math.max(1, ...values[at]!) : all
              return (
                <g key={props.rows[at]}>
                  <text x={left - 8} y={place * row + 15} text-anchor="end" fill="var(--text)">
                    {words(props.rows[at]!)}
                  </text>
                  {values[at]!.map((value, column) => {
                    const strength = value / scale
                    return (
                      <g key={column} onClick={() => props.choose(column)} style={{ cursor: 'pointer' }}>
                        <rect x={left + column * cell} y={place * row + 1} width={cell - (cell > 6 ? 1 : 0)} height={row - 2} fill={`color-mix(in srgb, var(--ramp-high) ${(strength * 100).toFixed(0)}%, var(--ramp-low))`}>
                          <title>{`${words(props.rows[at]!)}, ${props.columns[column]}: ${span(value)}, ${percent(value / props.whole)} of the step`}</title>
                        </rect>
                        {cell > 52 && (
                          <text x={left + (column + 0.5) * cell} y={place * row + 15} text-anchor="middle" style={{ fill: strength > 0.45 ? 'var(--surface)' : 'var(--text)' }} pointer-events="none">
                            {span(value)}
                          </text>
                        )}
                      </g>
                    )
                  })}
                </g>
              )
            })}
            {props.columns.map((name, column) =>
              column % Math.ceil(58 / cell) === 0 ? (
                <text key={name} x={left + (column + 0.5) * cell} y={kept.length * row + 16} text-anchor="middle" fill="var(--muted)">
                  {name}
                </text>
              ) : null,
            )}
          </svg>
        )
      }}
    </ChartFrame>
  )
}
