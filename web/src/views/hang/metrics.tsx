// What monitors on the hosts say: flags of hanging, and speeds of kernels beside those of all ranks.
import { digits } from '../../charts/format'
import { Table } from '../../ui/table'
import { type Hang, type RankSpeed, ranges } from './types'

export function Metrics({ metrics }: { metrics: NonNullable<Hang['metrics']> }) {
  const hanging = metrics.ranks.filter((one) => one.hangs).map((one) => one.rank)
  const speed = (value: number | null) => (value === null ? '–' : `${digits(value * 100)}%`)
  return (
    <>
      <p class={`hang-verdict hang-wide ${hanging.length > 0 ? 'bad' : 'fine'}`}>
        {hanging.length === 0 ? (
          <b>No rank is flagged as hanging</b>
        ) : metrics.all_hang ? (
          <b>All ranks are flagged as hanging</b>
        ) : (
          <b>Ranks {ranges(hanging)} are flagged as hanging</b>
        )}{' '}
        by the monitor of {metrics.ranks.length} ranks.
        {metrics.damaged > 0 && <span class="muted"> {metrics.damaged} gauges could not be read.</span>}
      </p>
      <section class="panel hang-panel hang-wide" aria-label="Metrics">
        <h2>
          Metrics <span class="muted">speeds as a share of the median of all ranks</span>
        </h2>
        <Table<RankSpeed>
          caption="Metrics of each rank"
          rows={metrics.ranks}
          identify={(row) => row.rank}
          maxHeight="420px"
          columns={[
            { key: 'rank', title: 'Rank', value: (row) => row.rank, align: 'right' },
            { key: 'hangs', title: 'Hangs', value: (row) => (row.hangs ? 'yes' : 'no') },
            {
              key: 'products',
              title: 'Matrix products',
              value: (row) => row.matrix_product_speed,
              cell: (row) => speed(row.matrix_product_speed),
              align: 'right',
            },
            {
              key: 'communication',
              title: 'Communication',
              value: (row) => row.communication_speed,
              cell: (row) => speed(row.communication_speed),
              align: 'right',
            },
            {
              key: 'queued',
              title: 'Queued',
              value: (row) => row.queued,
              cell: (row) => row.queued?.toLocaleString('en') ?? '–',
              align: 'right',
            },
          ]}
        />
      </section>
    </>
  )
}
