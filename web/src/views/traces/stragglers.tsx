// Who the others wait for: ranks by what they cost the step, why, and when.
// Responsible for: the answer of `stragglers` as cards and a table. Refuses to name a rank below the noise.
import type { Culprit, StragglersAnswer } from '../../api/schema/stragglers'
import { useAnswer } from '../../api/live'
import { afresh } from '../../timeline/address'
import { change } from '../../state/location'
import { percent, span } from '../../timeline/time'
import { Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import type { TabProps } from '.'
import { readingOf } from './job'
import { signed, words } from './types'

export function Stragglers({ paths, job }: TabProps) {
  const { answer, problems, loading } = useAnswer<StragglersAnswer>('stragglers', { paths, ...readingOf(job) })
  if (problems.length > 0) return <Problems problems={problems} />
  if (!answer) return loading ? <Loading heights={[120, 220]} /> : null
  if (!('ranks' in answer)) return <p class="muted">These records have no steps, so a cost per step is not known.</p>
  const found = answer.ranks.filter((one) => one.is_straggler)
  return (
    <div class="traces-grid">
      <p class="traces-verdict traces-wide">
        {answer.verdict === 'cannot_tell' ? (
          <>
            <b>Cannot tell which rank delays the job</b>: {answer.reasons.join('; ')}.
          </>
        ) : answer.verdict === 'none' ? (
          <>
            <b>No straggler</b>: no delay costs more than the noise of {span(answer.noise_ns)}.
          </>
        ) : found.length === 0 ? (
          answer.culprits.map((one) => (
            <span key={one.ranks.join()}>
              <b>
                {one.kind === 'group'
                  ? `The link of the group of ranks ${one.ranks.join(', ')} is slow`
                  : `Stage ${one.stage} computes longer than the other stages`}
              </b>
              : {one.cost_s === null ? 'cost unknown' : span(one.cost_s * 1e9)} per step.{' '}
            </span>
          ))
        ) : (
          <>
            <b>{found.length === 1 ? `Rank ${found[0]!.rank} is a straggler` : `${found.length} ranks are stragglers`}</b>
            {answer.bounds_only ? (
              `: what a step would take without is not known, since ${answer.bounds_only}.`
            ) : (
              <>
                : a step would take {span(answer.step_time_without_ns)} instead of {span(answer.step_time_ns)}.
              </>
            )}
          </>
        )}
        {answer.host_bound && ' Hosts, not ranks, hold the job up.'}
      </p>
      {found.map((one) => (
        <section key={one.rank} class="panel traces-panel" aria-label={`Rank ${one.rank}`}>
          <h2>
            Rank {one.rank} {one.host && <span class="muted">{one.host}</span>}
          </h2>
          <p class="traces-cost">
            <span>
              costs <b>{signed(one.certainty, span(one.cost_ns))}</b> a step ({signed(one.certainty, percent(one.share))})
            </span>
            <span>cause: {one.cause_name}</span>
            <button
              type="button"
              class="traces-link"
              onClick={() =>
                change({
                  ...afresh('t'),
                  't.tab': 'timeline',
                  't.finding': 'straggler',
                  't.step': one.moments[0]?.step?.toString(),
                  't.rank': undefined,
                })
              }
            >
              Show on the timeline
            </button>
          </p>
          <ul class="traces-evidence">
            {one.evidence.map((line) => (
              <li key={line.name}>
                {line.name}: {line.unit === 'ns' ? span(line.own) : line.own.toPrecision(4)} against{' '}
                {line.unit === 'ns' ? span(line.peers) : line.peers.toPrecision(4)} of its peers
              </li>
            ))}
          </ul>
          <h3>When</h3>
          <ul class="traces-evidence">
            {one.moments.map((moment) => (
              <li key={moment.start_ns}>
                {moment.step !== null && `step ${moment.step}, `}
                {moment.annotation ? <code>{moment.annotation}</code> : 'work'} took {span(moment.own_ns)}, {span(moment.excess_ns)} longer
                than elsewhere
                {moment.before && `, before ${words(moment.before)}`}
              </li>
            ))}
          </ul>
        </section>
      ))}
      <section class="panel traces-panel traces-wide" aria-label="All ranks">
        <h2>
          All ranks{' '}
          <span class="muted">
            {answer.bounds_only ? `the most that each can cost, since ${answer.bounds_only}` : 'cost by replay of the job'}
          </span>
        </h2>
        <Table<Culprit>
          caption="Ranks by what they cost"
          rows={answer.ranks}
          identify={(row) => row.rank}
          maxHeight="420px"
          columns={[
            { key: 'rank', title: 'Rank', value: (row) => row.rank, align: 'right' },
            {
              key: 'cost',
              title: 'Cost of a step',
              value: (row) => row.cost_ns,
              cell: (row) => signed(row.certainty, span(row.cost_ns)),
              align: 'right',
            },
            {
              key: 'share',
              title: 'Share',
              value: (row) => row.share,
              cell: (row) => signed(row.certainty, percent(row.share)),
              align: 'right',
            },
            {
              key: 'waits',
              title: 'Waits charged to it',
              value: (row) => row.waits_share,
              cell: (row) => percent(row.waits_share),
              align: 'right',
            },
            { key: 'lateness', title: 'Late by', value: (row) => row.lateness_ns, cell: (row) => span(row.lateness_ns), align: 'right' },
            { key: 'last', title: 'Came last', value: (row) => row.last, align: 'right' },
            { key: 'cause', title: 'Cause', value: (row) => (row.is_straggler ? row.cause_name : 'within the noise') },
          ]}
        />
      </section>
    </div>
  )
}
