// Comparison of ranks: ranks over steps, a table of groups, and heat maps of every label over ranks and over steps.
// Responsible for: the meaning of cells, and links to the timeline. All ranks of the answer are shown.
import { useState } from 'preact/hooks'
import { ChartFrame } from '../../charts/frame'
import { HeatTable } from '../../charts/heatmap/heat-table'
import { change } from '../../state/location'
import { percent, span } from '../../timeline/time'
import { Table, type Column } from '../../ui/table'
import type { TabProps } from '.'
import { RankMap } from './rank-map'
import { RanksOverSteps } from './ranks-over-steps'
import { MEASURES, type RankOfMany, rankRows } from './interest'
import { GROUPS, type RankRow, type RankSteps, words } from './types'
import * as texts from '../../words/traces'

function RankTable({ heat }: { heat: RankSteps }) {
  const columns: Column<RankOfMany>[] = [
    { key: 'rank', title: texts.rank, value: (row) => row.rank, align: 'right' },
    ...MEASURES.map(
      ([key, title], at): Column<RankOfMany> => ({
        key,
        title,
        value: (row) => row.values[at] ?? -1,
        cell: (row) => (row.values[at] == null ? '–' : span(row.values[at])),
        align: 'right',
      }),
    ),
  ]
  return (
    <section class="panel traces-panel traces-wide" aria-label={texts.ranks}>
      <h2>
        {texts.ranks} <span class="muted">{texts.mediansOverSteps}</span>
      </h2>
      <Table
        caption={texts.ranks}
        rows={rankRows(heat)}
        columns={columns}
        identify={(row) => row.rank}
        first={24}
        onChoose={(row) => change({ 't.tab': 'timeline', 't.rank': String(row.rank) })}
      />
    </section>
  )
}

export function Ranks({ profile }: TabProps) {
  const steps = Math.max(1, profile.steps.length)
  const groups = GROUPS.map((name, at) => ({ name, at })).filter(({ at }) => profile.rows.some((row) => (row.shares[at] ?? 0) >= 0.0005))
  const columns: Column<RankRow>[] = [
    { key: 'rank', title: texts.rank, value: (row) => row.rank, align: 'right' },
    ...(profile.rows.some((row) => row.host) ? [{ key: 'host', title: texts.host, value: (row: RankRow) => row.host ?? '' }] : []),
    ...groups.map(
      ({ name, at }): Column<RankRow> => ({
        key: name,
        title: name[0]!.toUpperCase() + name.slice(1),
        value: (row) => row.shares[at] ?? 0,
        cell: (row) => percent(row.shares[at] ?? 0),
        align: 'right',
      }),
    ),
    {
      key: 'waiting',
      title: texts.waiting3,
      about: texts.forOtherRanksWithinCommunication,
      value: (row) => row.waiting_share,
      cell: (row) => percent(row.waiting_share),
      align: 'right',
    },
  ]
  const labels = [...new Set(profile.rows.flatMap((row) => Object.keys(row.parts)))]
  const stepLabels = [...new Set(profile.steps.flatMap((row) => Object.keys(row.parts)))]
  // With many ranks the answer does not list them; the map of ranks over steps has all of them.
  if (profile.rows.length === 0) {
    return (
      <div class="traces-grid">
        <RankMap profile={profile} />
        <RanksOverSteps profile={profile} />
        {profile.rank_steps && <RankTable heat={profile.rank_steps} />}
        <p class="muted traces-wide">
          {profile.ranks.toLocaleString('en')} {texts.ranksAreTooManyTo}
        </p>
      </div>
    )
  }
  return (
    <div class="traces-grid">
      <RankMap profile={profile} />
      <RanksOverSteps profile={profile} />
      <section class="panel traces-panel traces-wide" aria-label={texts.ranks}>
        <h2>
          {texts.ranks} <span class="muted">{texts.sharesOfTheStepEnter}</span>
        </h2>
        <Table
          caption={texts.sharesOfEachRank}
          columns={columns}
          rows={profile.rows}
          identify={(row) => row.rank}
          onChoose={(row) => change({ 't.tab': 'timeline', 't.rank': String(row.rank) })}
          maxHeight="420px"
        />
      </section>
      <Heat
        title={texts.labelsOverRanks}
        about={texts.perStep3}
        name="ranks"
        rows={labels}
        columns={profile.rows.map((row) => texts.rank3(row.rank))}
        value={(label, at) => (profile.rows[at]?.parts[label] ?? 0) / steps}
        whole={profile.step_time_ns}
        choose={(at) => change({ 't.tab': 'timeline', 't.rank': String(profile.rows[at]!.rank) })}
      />
      <Heat
        title={texts.labelsOverSteps}
        about={texts.meanOverRanks}
        name="steps"
        rows={stepLabels}
        columns={profile.steps.map((row) => texts.step(row.step))}
        value={(label, at) => (profile.steps[at]?.parts[label] ?? 0) / Math.max(1, profile.ranks)}
        whole={profile.step_time_ns}
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

/** Labels by total time, without negligible ones. */
function Heat(props: HeatProps) {
  const [own, setOwn] = useState(true)
  const all = props.rows.map((row) => ({ name: row, values: props.columns.map((_, at) => props.value(row, at)) }))
  const kept = all
    .filter((row) => Math.max(...row.values) / props.whole >= 0.001)
    .sort((a, b) => Math.max(...b.values) - Math.max(...a.values))
  return (
    <ChartFrame
      title={props.title}
      about={props.about}
      name={props.name}
      class={props.columns.length > 8 ? 'traces-wide' : ''}
      rows={() => ({ columns: ['label', ...props.columns], rows: kept.map((row) => [row.name, ...row.values]) })}
      tools={
        <label class="traces-check">
          <input type="checkbox" checked={own} onChange={() => setOwn(!own)} /> {texts.eachRowOnItsOwn}
        </label>
      }
    >
      {(width) => (
        <HeatTable
          width={width}
          title={props.title}
          rows={kept.map((row) => words(row.name))}
          columns={props.columns}
          values={kept.map((row) => row.values)}
          own={own}
          format={span}
          tip={(row, column, value) => ({
            title: `${words(kept[row]!.name)}, ${props.columns[column]}`,
            lines: [
              { name: 'time', value: span(value ?? 0) },
              { name: texts.ofTheStep2, value: percent((value ?? 0) / props.whole) },
            ],
            hint: texts.clickOrEnterShowsIt,
          })}
          onChoose={(_, column) => props.choose(column)}
        />
      )}
    </ChartFrame>
  )
}
