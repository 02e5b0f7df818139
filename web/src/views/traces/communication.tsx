// What communication took: waits apart from transfers, by group and by rank, with bandwidths.
// Responsible for: the tables of `comm`. Refuses to call a wait a transfer: what could not be told apart is marked as an estimate.
import { useAnswer } from '../../api/live'
import { bandwidth, volume } from '../../charts/format'
import { percent, span } from '../../timeline/time'
import { Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import type { TabProps } from '.'
import { readingOf } from './job'

interface Group {
  readonly label: string
  readonly size: number | null
  readonly groups: number
  readonly ranks: string | null
  readonly operation: string | null
  readonly count: number
  readonly bytes: number | null
  readonly time: number
  readonly wait: number
  readonly transfer: number
  readonly exposed_transfer: number
  readonly exposed_wait: number
  readonly bus_bandwidth: number | null
  readonly best_bus_bandwidth: number | null
  readonly link: number | string | null
  readonly estimate: boolean
}

interface Rank {
  readonly rank: number
  readonly window: number
  readonly compute: number
  readonly communication: number
  readonly exposed: number
  readonly wait: number
  readonly transfer: number
  readonly last: number
  readonly collectives: number
}

interface Report {
  readonly ranks: readonly Rank[]
  readonly groups: readonly Group[]
}

export function Communication({ paths, job }: TabProps) {
  const { answer, problems, loading } = useAnswer<Report>('comm', { paths, ...readingOf(job) })
  if (problems.length > 0) return <Problems problems={problems} />
  if (!answer) return loading ? <Loading heights={[220, 160]} /> : null
  return (
    <div class="traces-grid">
      <section class="panel traces-panel traces-wide traces-half" aria-label="Groups">
        <h2>
          By group and operation <span class="muted">waiting for the last rank apart from moving data</span>
        </h2>
        <Table<Group>
          caption="Communication by group and operation"
          rows={answer.groups}
          identify={(_, at) => at}
          columns={[
            { key: 'label', title: 'For', value: (row) => row.label },
            { key: 'operation', title: 'Operation', value: (row) => (row.operation ?? 'unknown').replaceAll('_', ' ') },
            {
              key: 'ranks',
              title: 'Ranks',
              value: (row) => row.size ?? 0,
              cell: (row) => `${row.size ?? '?'}${row.groups > 1 ? ` × ${row.groups}` : ''}`,
              align: 'right',
            },
            { key: 'count', title: 'Calls', value: (row) => row.count, align: 'right' },
            {
              key: 'bytes',
              title: 'Size',
              value: (row) => row.bytes,
              cell: (row) => (row.bytes ? volume(row.bytes) : '–'),
              align: 'right',
            },
            { key: 'wait', title: 'Waiting', value: (row) => row.wait, cell: (row) => span(row.wait), align: 'right' },
            {
              key: 'transfer',
              title: 'Transfer',
              value: (row) => row.transfer,
              cell: (row) => `${span(row.transfer)}${row.estimate ? ' ≈' : ''}`,
              align: 'right',
            },
            {
              key: 'split',
              title: 'Split',
              value: (row) => row.wait / Math.max(1, row.wait + row.transfer),
              cell: (row) => <Split wait={row.wait} transfer={row.transfer} />,
              about: 'hatched: waiting; solid: transfer',
            },
            {
              key: 'exposed',
              title: 'Exposed transfer',
              value: (row) => row.exposed_transfer,
              cell: (row) => span(row.exposed_transfer),
              align: 'right',
            },
            {
              key: 'bus',
              title: 'Bus bandwidth',
              value: (row) => row.bus_bandwidth,
              cell: (row) => (row.bus_bandwidth ? bandwidth(row.bus_bandwidth) : '–'),
              align: 'right',
            },
            {
              key: 'best',
              title: 'Best',
              value: (row) => row.best_bus_bandwidth,
              cell: (row) => (row.best_bus_bandwidth ? bandwidth(row.best_bus_bandwidth) : '–'),
              align: 'right',
            },
          ]}
        />
      </section>
      <section class="panel traces-panel traces-wide traces-half" aria-label="Ranks">
        <h2>By rank</h2>
        <Table<Rank>
          caption="Communication by rank"
          rows={answer.ranks}
          identify={(row) => row.rank}
          maxHeight="420px"
          columns={[
            { key: 'rank', title: 'Rank', value: (row) => row.rank, align: 'right' },
            { key: 'collectives', title: 'Collectives', value: (row) => row.collectives, align: 'right' },
            {
              key: 'communication',
              title: 'Communication',
              value: (row) => row.communication / row.window,
              cell: (row) => percent(row.communication / row.window),
              align: 'right',
            },
            {
              key: 'exposed',
              title: 'Exposed',
              value: (row) => row.exposed / row.window,
              cell: (row) => percent(row.exposed / row.window),
              align: 'right',
            },
            { key: 'wait', title: 'Waiting', value: (row) => row.wait, cell: (row) => span(row.wait), align: 'right' },
            { key: 'transfer', title: 'Transfer', value: (row) => row.transfer, cell: (row) => span(row.transfer), align: 'right' },
            {
              key: 'split',
              title: 'Split',
              value: (row) => row.wait / Math.max(1, row.wait + row.transfer),
              cell: (row) => <Split wait={row.wait} transfer={row.transfer} />,
            },
            { key: 'last', title: 'Came last', value: (row) => row.last, align: 'right' },
          ]}
        />
      </section>
    </div>
  )
}

function Split({ wait, transfer }: { wait: number; transfer: number }) {
  const share = wait / Math.max(1, wait + transfer)
  return (
    <span class="traces-split" role="img" aria-label={`${percent(share)} waiting`}>
      <span class="hatched" style={{ width: `${share * 100}%` }} />
      <span style={{ width: `${(1 - share) * 100}%`, background: 'var(--class-tensor)' }} />
    </span>
  )
}
