// The job as a grid of its ranks: by the dimensions of its layout if the program knows them, by host if the traces have hosts, else in order. A cell
// links to its rank on the timeline.
import { ChartFrame } from '../../charts/frame'
import { HeatTable } from '../../charts/heatmap/heat-table'
import { afresh } from '../../timeline/address'
import { change, own } from '../../state/location'
import { span } from '../../timeline/time'
import { Segments } from '../../ui/fields'
import { type Grid, grid, ofRanks, width as ranksOfRow } from './interest'
import { byLayout } from './layout-grid'
import { MEASURE_OPTIONS, MEASURES, measureShown, showMeasure } from './measures'
import type { Profile } from './types'
import * as texts from '../../words/traces'

/** Minimum number of ranks for a map; fewer are shown on the timeline. */
export const FROM = 5

/** The grid of the layout that the program determines or the user sets; null without one. */
function gridOfLayout({ layout, world_size }: Profile, ranks: readonly number[]): Grid | null {
  const all = layout?.sizes.reduce((product, one) => product * one.ranks, 1)
  return layout && all === world_size ? byLayout(layout.sizes, ranks) : null
}

export function RankMap({ profile, about }: { profile: Profile; about?: string }) {
  const heat = profile.rank_steps
  if (!heat || heat.ranks.length < FROM) return null
  // With several steps, the map of ranks over steps has the choice of the measure.
  const chooses = about === undefined && heat.steps.length === 1
  const [measure, title, meaning] = chooses ? measureShown() : MEASURES[0]!
  const values = ofRanks(heat, `${measure}_ns`)
  const recorded = grid(profile, heat.ranks, ranksOfRow(heat.ranks.length))
  const laid = gridOfLayout(profile, heat.ranks)
  // A layout with a dimension that no group names is shown on request only.
  const shown = own('t').map ?? (profile.layout?.complete ? 'layout' : 'recorded')
  const { rows, columns, of } = laid && shown === 'layout' ? laid : recorded
  const meaningOfRows = of === 'host' ? 'hosts' : of === 'layout' ? texts.partsOfTheLayout : texts.ranksInOrder
  /** Place of a cell in words, beside its rank. */
  const place = (row: number, column: number) =>
    of === 'host' ? texts.on(rows[row]!.name) : of === 'layout' ? texts.at(`${rows[row]!.name} ${columns[column]}`.trim()) : ''
  const rank = (row: number, column: number) => rows[row]?.ranks[column] ?? null
  return (
    <ChartFrame
      title={texts.ranksOfTheJob}
      about={about ?? texts.rowsAre(meaning, meaningOfRows)}
      name="rank-map"
      class="traces-wide"
      rows={() => ({ columns: ['rank', `${measure}_ns`], rows: [...values].map(([one, value]) => [one, value]) })}
      tools={
        <>
          {laid && (
            <Segments
              label={texts.arrangementOfTheRanks}
              value={of === 'layout' ? 'layout' : 'recorded'}
              options={[
                ['layout', texts.byLayout],
                ['recorded', recorded.of === 'host' ? texts.byHost : texts.inOrder],
              ]}
              onChange={(value) => change({ 't.map': value })}
            />
          )}
          {chooses && <Segments label={texts.measureOfTheCells} value={measure} options={MEASURE_OPTIONS} onChange={showMeasure} />}
        </>
      }
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
            title: rank(row, column) === null ? texts.noRank : texts.rank2(rank(row, column), place(row, column)),
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
