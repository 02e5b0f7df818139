// Straggler ranks by their cost per step, with cause and time.
// Responsible for: cards and a table of `stragglers`. Ranks below the minimum reported cost are omitted.
import type { Culprit, StragglersAnswer } from '../../api/schema/stragglers'
import { useAnswer } from '../../api/live'
import { count, digits } from '../../charts/format'
import { afresh } from '../../timeline/address'
import { change } from '../../state/location'
import { percent, span } from '../../timeline/time'
import { Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import type { TabProps } from '.'
import { stragglerOf } from './interest'
import { readingOf } from './job'
import { signed, words } from './types'
import * as texts from '../../words/traces'

/** A value of the evidence: a duration, a whole number, or one with four digits. */
const shownValue = (value: number, unit: string): string =>
  unit === 'ns' ? span(value) : Number.isInteger(value) ? count(value) : digits(value, 4)

/** Cause of a rank's delay, or the reason why it is not reported. */
export function causeOf(row: Culprit, least: number): string {
  if (row.is_straggler) return row.cause_name
  if (row.cost_ns <= 0) return row.lateness_ns > 0 ? texts.delayWithoutCost : texts.noDelay
  return row.cost_ns <= least ? texts.belowTheLeastCost : texts.notReported
}

export function Stragglers({ profile, paths, job }: TabProps) {
  const { answer, problems, loading } = useAnswer<StragglersAnswer>('stragglers', { paths, ...readingOf(job) })
  if (problems.length > 0) return <Problems problems={problems} />
  if (!answer) return loading ? <Loading heights={[120, 220]} /> : null
  if (!('ranks' in answer)) return <p class="muted">{texts.theseRecordsHaveNoSteps}</p>
  const found = answer.ranks.filter((one) => one.is_straggler)
  return (
    <div class="traces-grid">
      <p class="traces-verdict traces-wide">
        {answer.verdict === 'cannot_tell' ? (
          <>
            <b>{texts.cannotTellWhichRankDelays}</b>: {answer.reasons.join('; ')}.
          </>
        ) : answer.verdict === 'none' ? (
          <>
            <b>{texts.noStraggler}</b>
            {texts.noDelayCostsMoreThan} {span(answer.noise_ns)}.
          </>
        ) : found.length === 0 ? (
          answer.culprits.map((one) => (
            <span key={one.ranks.join()}>
              <b>
                {one.kind === 'stage'
                  ? texts.stageComputesLongerThanThe(one.stage)
                  : one.cause === 'slow link'
                    ? texts.theLinkOfTheGroup(one.ranks.join(', '))
                    : texts.ranksDelayEachOther(one.cause)}
              </b>
              : {one.cost_s === null ? texts.costUnknown : span(one.cost_s * 1e9)} {texts.perStep}{' '}
            </span>
          ))
        ) : (
          <>
            <b>{found.length === 1 ? texts.rankIsAStraggler(found[0]!.rank) : texts.ranksAreStragglers(found.length)}</b>
            {answer.bounds_only ? (
              `: what a step would take without is not known, since ${answer.bounds_only}.`
            ) : (
              <>
                {texts.aStepWouldTake} {span(answer.step_time_without_ns)} {texts.insteadOf} {span(answer.step_time_ns)}
                {texts.withAllRanksAtPeers}
              </>
            )}
          </>
        )}
        {answer.host_bound && texts.theHostsNotSingleRanks}
      </p>
      {found.map((one) => (
        <section key={one.rank} class="panel traces-panel" aria-label={texts.rank4(one.rank)}>
          <h2>
            {texts.rank} {one.rank} {one.host && <span class="muted">{one.host}</span>}
          </h2>
          <p class="traces-cost">
            <span>
              {texts.costs} <b>{signed(one.certainty, span(one.cost_ns))}</b> {texts.perStep4}
              {signed(one.certainty, percent(one.share))})
            </span>
            <span>
              {texts.cause2} {one.cause_name}
            </span>
            <button
              type="button"
              class="traces-link"
              onClick={() =>
                change({
                  ...afresh('t'),
                  't.tab': 'timeline',
                  't.finding': stragglerOf(profile.findings, one.rank),
                  't.step': one.moments[0]?.step?.toString(),
                  't.rank': String(one.rank),
                })
              }
            >
              {texts.showOnTheTimeline}
            </button>
          </p>
          <ul class="traces-evidence">
            {one.evidence.map((line) => (
              <li key={line.name}>
                {line.name}: {shownValue(line.own, line.unit)} {texts.against2} {shownValue(line.peers, line.unit)} {texts.ofItsPeers}
              </li>
            ))}
          </ul>
          <h3>{texts.when}</h3>
          <ul class="traces-evidence">
            {one.moments.map((moment) => (
              <li key={moment.start_ns}>
                {moment.step !== null && texts.step2(moment.step)}
                {moment.annotation ? <code>{moment.annotation}</code> : 'work'} {texts.took} {span(moment.own_ns)}, {span(moment.excess_ns)}{' '}
                {texts.longerThanElsewhere}
                {moment.before && texts.before(words(moment.before))}
              </li>
            ))}
          </ul>
        </section>
      ))}
      <section class="panel traces-panel traces-wide" aria-label={texts.allRanks}>
        <h2>
          {texts.allRanks}{' '}
          <span class="muted">{answer.bounds_only ? texts.theMostThatEachCan(answer.bounds_only) : texts.costByReplayOfThe}</span>
        </h2>
        <Table<Culprit>
          caption={texts.ranksByCost}
          rows={answer.ranks}
          identify={(row) => row.rank}
          maxHeight="420px"
          columns={[
            { key: 'rank', title: texts.rank, value: (row) => row.rank, align: 'right' },
            {
              key: 'cost',
              title: texts.costPerStep,
              value: (row) => row.cost_ns,
              cell: (row) => signed(row.certainty, span(row.cost_ns)),
              align: 'right',
            },
            {
              key: 'share',
              title: texts.share,
              value: (row) => row.share,
              cell: (row) => signed(row.certainty, percent(row.share)),
              align: 'right',
            },
            {
              key: 'waits',
              title: texts.waitsCaused,
              value: (row) => row.waits_share,
              cell: (row) => percent(row.waits_share),
              align: 'right',
            },
            {
              key: 'lateness',
              title: texts.lateBy,
              about: texts.perStepOverItsCollectives,
              value: (row) => row.lateness_ns,
              cell: (row) => span(row.lateness_ns),
              align: 'right',
            },
            { key: 'last', title: texts.lastToArrive, value: (row) => row.last, cell: (row) => count(row.last), align: 'right' },
            { key: 'cause', title: texts.cause, value: (row) => causeOf(row, answer.noise_ns) },
          ]}
        />
      </section>
    </div>
  )
}
