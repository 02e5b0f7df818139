// Data of host monitors: hang flags, and kernel speeds relative to all ranks.
import { digits } from '../../charts/format'
import { Table } from '../../ui/table'
import { type Hang, type RankSpeed, ranges } from './types'
import * as texts from '../../words/hang'

export function Metrics({ metrics }: { metrics: NonNullable<Hang['metrics']> }) {
  const hanging = metrics.ranks.filter((one) => one.hangs).map((one) => one.rank)
  const speed = (value: number | null) => (value === null ? '–' : `${digits(value * 100)}%`)
  return (
    <>
      <p class={`hang-verdict hang-wide ${hanging.length > 0 ? 'bad' : 'fine'}`}>
        {hanging.length === 0 ? (
          <b>{texts.noRankIsFlaggedAs}</b>
        ) : metrics.all_hang ? (
          <b>{texts.allRanksAreFlaggedAs}</b>
        ) : (
          <b>
            {texts.ranks2} {ranges(hanging)} {texts.areFlaggedAsHanging}
          </b>
        )}{' '}
        {texts.byTheMonitorOf} {metrics.ranks.length} {texts.ranks}
        {metrics.damaged > 0 && (
          <span class="muted">
            {' '}
            {metrics.damaged} {texts.gaugesCouldNotBeRead}
          </span>
        )}
      </p>
      <section class="panel hang-panel hang-wide" aria-label={texts.metrics}>
        <h2>
          {texts.metrics} <span class="muted">{texts.speedsAsAShareOf}</span>
        </h2>
        <Table<RankSpeed>
          caption={texts.metricsOfEachRank}
          rows={metrics.ranks}
          identify={(row) => row.rank}
          maxHeight="420px"
          columns={[
            { key: 'rank', title: texts.rank, value: (row) => row.rank, align: 'right' },
            { key: 'hangs', title: texts.hangs, value: (row) => (row.hangs ? 'yes' : 'no') },
            {
              key: 'products',
              title: texts.matrixProducts,
              value: (row) => row.matrix_product_speed,
              cell: (row) => speed(row.matrix_product_speed),
              align: 'right',
            },
            {
              key: 'communication',
              title: texts.communication,
              value: (row) => row.communication_speed,
              cell: (row) => speed(row.communication_speed),
              align: 'right',
            },
            {
              key: 'queued',
              title: texts.queued,
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
