// The job as a grid of its ranks: by host where the traces name hosts, else in order. A cell leads to its rank on the timeline.
import { ChartFrame } from '../../charts/frame'
import { HeatTable } from '../../charts/heatmap/heat-table'
import { afresh } from '../../timeline/address'
import { change, own } from '../../state/location'
import { span } from '../../timeline/time'
import { grid, ofRanks, width as ranksOfRow } from './interest'
import type { Profile } from './types'

/** Fewer ranks stand on the timeline side by side. */
const FROM = 5

export function RankMap({ profile, about }: { profile: Profile; about?: string }) {
  const heat = profile.rank_steps
  if (!heat || heat.ranks.length < FROM) return null
  const values = ofRanks(heat, 'own_time_ns')
  const { rows, columns, of } = grid(profile, heat.ranks, ranksOfRow(heat.ranks.length))
  const rank = (row: number, column: number) => rows[row]?.ranks[column] ?? null
  return (
    <ChartFrame
      title="Ranks of the job"
      about={about ?? `own time of a step, median; rows are ${of === 'host' ? 'hosts' : 'ranks in order'}`}
      name="rank-map"
      class="traces-wide"
      rows={() => ({ columns: ['rank', 'own_time_ns'], rows: [...values].map(([one, value]) => [one, value]) })}
    >
      {(width) => (
        <HeatTable
          width={width}
          title="Ranks of the job"
          rows={rows.map((row) => row.name)}
          columns={columns}
          values={rows.map((row) => row.ranks.map((one) => (one === null ? null : (values.get(one) ?? null))))}
          nothing="no rank, or not recorded"
          from="least"
          format={span}
          tip={(row, column, value) => ({
            title: rank(row, column) === null ? 'no rank' : `rank ${rank(row, column)}${of === 'host' ? ` on ${rows[row]!.name}` : ''}`,
            lines: [{ name: 'own time', value: value === null ? 'not recorded' : span(value) }],
            hint: rank(row, column) === null ? '' : 'Click or Enter shows it on the timeline.',
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
