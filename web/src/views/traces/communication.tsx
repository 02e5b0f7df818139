// Communication: wait and transfer times, by group and by rank, with bandwidths.
// Responsible for: the tables of `comm`. Times without a separation of wait and transfer are marked as estimates.
import type { CommunicationAnswer, GroupCommunication as Group, RankCommunication as Rank } from '../../api/schema/communication'
import { useAnswer } from '../../api/live'
import { bandwidth, count, volume } from '../../charts/format'
import { percent, span } from '../../timeline/time'
import { Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import type { TabProps } from '.'
import { readingOf } from './job'
import * as texts from '../../words/traces'

export function Communication({ paths, job }: TabProps) {
  const { answer, problems, loading } = useAnswer<CommunicationAnswer>('comm', { paths, ...readingOf(job) })
  if (problems.length > 0) return <Problems problems={problems} />
  if (!answer) return loading ? <Loading heights={[220, 160]} /> : null
  if (!('groups' in answer)) return <p class="muted">{texts.theseRecordsHaveNoCollectives}</p>
  return (
    <div class="traces-grid">
      <section class="panel traces-panel traces-wide traces-half" aria-label={texts.groups}>
        <h2>
          {texts.byGroupAndOperation} <span class="muted">{texts.waitForTheLastRank}</span>
        </h2>
        <Table<Group>
          caption={texts.communicationByGroupAndOperation}
          rows={answer.groups}
          identify={(_, at) => at}
          columns={[
            { key: 'label', title: texts.forText, value: (row) => row.label },
            { key: 'operation', title: texts.operation, value: (row) => (row.operation ?? 'unknown').replaceAll('_', '-') },
            {
              key: 'ranks',
              title: texts.ranks,
              value: (row) => row.size ?? 0,
              cell: (row) => `${row.size ?? '?'}${row.groups > 1 ? ` × ${count(row.groups)}` : ''}`,
              align: 'right',
            },
            { key: 'count', title: texts.calls, value: (row) => row.count, cell: (row) => count(row.count), align: 'right' },
            {
              key: 'bytes',
              title: texts.size,
              value: (row) => row.bytes,
              cell: (row) => (row.bytes ? volume(row.bytes) : '–'),
              align: 'right',
            },
            { key: 'wait', title: texts.waiting2, value: (row) => row.wait_ns, cell: (row) => span(row.wait_ns), align: 'right' },
            {
              key: 'transfer',
              title: texts.transfer,
              value: (row) => row.transfer_ns,
              cell: (row) => `${span(row.transfer_ns)}${row.estimate ? ' ≈' : ''}`,
              align: 'right',
            },
            {
              key: 'split',
              title: texts.split,
              value: (row) => row.wait_ns / Math.max(1, row.wait_ns + row.transfer_ns),
              cell: (row) => <Split wait={row.wait_ns} transfer={row.transfer_ns} />,
              about: texts.hatchedWaitingSolidTransfer,
            },
            {
              key: 'exposed',
              title: texts.exposedTransfer,
              value: (row) => row.exposed_transfer_ns,
              cell: (row) => span(row.exposed_transfer_ns),
              align: 'right',
            },
            {
              key: 'bus',
              title: texts.busBandwidth,
              value: (row) => row.bus_bandwidth,
              cell: (row) => (row.bus_bandwidth ? bandwidth(row.bus_bandwidth) : '–'),
              align: 'right',
            },
            {
              key: 'best',
              title: texts.best,
              value: (row) => row.best_bus_bandwidth,
              cell: (row) => (row.best_bus_bandwidth ? bandwidth(row.best_bus_bandwidth) : '–'),
              align: 'right',
            },
          ]}
        />
      </section>
      <section class="panel traces-panel traces-wide traces-half" aria-label={texts.ranks}>
        <h2>
          {texts.byRank} <span class="muted">{texts.sumsOverTheRecordingShares}</span>
        </h2>
        <Table<Rank>
          caption={texts.communicationByRank}
          rows={answer.ranks}
          identify={(row) => row.rank}
          maxHeight="420px"
          columns={[
            { key: 'rank', title: texts.rank, value: (row) => row.rank, align: 'right' },
            {
              key: 'collectives',
              title: texts.collectives,
              value: (row) => row.collectives,
              cell: (row) => count(row.collectives),
              align: 'right',
            },
            {
              key: 'communication',
              title: texts.communicationAndWaits,
              about: texts.shareOfTheRecordingWith,
              value: (row) => row.communication_ns / row.window_ns,
              cell: (row) => percent(row.communication_ns / row.window_ns),
              align: 'right',
            },
            {
              key: 'exposed',
              title: texts.exposed,
              about: texts.shareOfTheRecordingExposed,
              value: (row) => row.exposed_ns / row.window_ns,
              cell: (row) => percent(row.exposed_ns / row.window_ns),
              align: 'right',
            },
            { key: 'wait', title: texts.waiting2, value: (row) => row.wait_ns, cell: (row) => span(row.wait_ns), align: 'right' },
            {
              key: 'transfer',
              title: texts.transfer,
              value: (row) => row.transfer_ns,
              cell: (row) => span(row.transfer_ns),
              align: 'right',
            },
            {
              key: 'split',
              title: texts.split,
              value: (row) => row.wait_ns / Math.max(1, row.wait_ns + row.transfer_ns),
              cell: (row) => <Split wait={row.wait_ns} transfer={row.transfer_ns} />,
            },
            { key: 'last', title: texts.lastToArrive, value: (row) => row.last, cell: (row) => count(row.last), align: 'right' },
          ]}
        />
      </section>
    </div>
  )
}

function Split({ wait, transfer }: { wait: number; transfer: number }) {
  const share = wait / Math.max(1, wait + transfer)
  return (
    <span class="traces-split" role="img" aria-label={texts.waiting(percent(share))}>
      <span class="hatched" style={{ width: `${share * 100}%` }} />
      <span style={{ width: `${(1 - share) * 100}%`, background: 'var(--class-tensor)' }} />
    </span>
  )
}
