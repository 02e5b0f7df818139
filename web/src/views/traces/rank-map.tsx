// The job as a grid of its ranks: by host if the traces have hosts, else in order. A cell links to its rank on the timeline.
import { ChartFrame } from '../../charts/frame'
import { HeatTable } from '../../charts/heatmap/heat-table'
import { afresh } from '../../timeline/address'
import { change, own } from '../../state/location'
import { span } from '../../timeline/time'
import { Segments } from '../../ui/fields'
import { grid, ofRanks, width as ranksOfRow } from './interest'
import { MEASURE_OPTIONS, MEASURES, measureShown, showMeasure } from './measures'
import type { Profile } from './types'
import * as texts from '../../words/traces'

/** Minimum number of ranks for a map; fewer are shown on the timeline. */
export const FROM = 5

export function RankMap({ profile, about }: { profile: Profile; about?: string }) {
  const heat = profile.rank_steps
  if (!heat || heat.ranks.length < FROM) return null
  // With several steps, the map of ranks over steps has the choice of the measure.
  const chooses = about === undefined && heat.steps.length === 1
  const [measure, title, meaning] = chooses ? measureShown() : MEASURES[0]!
  const values = ofRanks(heat, `${measure}_ns`)
  const { rows, columns, of } = grid(profile, heat.ranks, ranksOfRow(heat.ranks.length))
  const rank = (row: number, column: number) => rows[row]?.ranks[column] ?? null
  return (
    <ChartFrame
      title={texts.ranksOfTheJob}
      about={about ?? texts.rowsAre(meaning, of === 'host' ? 'hosts' : texts.ranksInOrder)}
      name="rank-map"
      class="traces-wide"
      rows={() => ({ columns: ['rank', `${measure}_ns`], rows: [...values].map(([one, value]) => [one, value]) })}
      tools={chooses && <Segments label={texts.measureOfTheCells} value={measure} options={MEASURE_OPTIONS} onChange={showMeasure} />}
    >
      {(width) => (
        <HeatTable
          width={width}
          title={texts.ranksOfTheJob}
          rows={rows.map((row) => row.name)}
          columns={columns}
          values={rows.map((row) => row.ranks.map((one) => (one === null ? null : (values.get(one) ?? null))))}
          nothing={texts.noRankOrNotRecorded}
          from="least"
          format={span}
          tip={(row, column, value) => ({
            title:
              rank(row, column) === null ? texts.noRank : texts.rank2(rank(row, column), of === 'host' ? texts.on(rows[row]!.name) : ''),
            lines: [{ name: title.toLowerCase(), value: value === null ? texts.notRecorded : span(value) }],
            hint: rank(row, column) === null ? '' : texts.clickOrEnterShowsIt,
          })}
          onChoose={(row, column) => {
            const one = rank(row, column)
            if (one !== null)
              change({
                ...afresh('t'),
                't.tab': 'timeline',
                't.rank': String(one),
                't.finding': undefined,
                ...(own('t').step ? {} : { 't.step': undefined }),
              })
          }}
        />
      )}
    </ChartFrame>
  )
}
