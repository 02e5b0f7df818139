// Loss from failed links, NICs and switches, by class, for one or several designs.
import { type Live, useAnswer } from '../../api/live'
import type { Arguments } from '../../api/ask'
import { count, digits, percent } from '../../charts/format'
import { PERCENT } from '../../state/amounts'
import { runText } from '../../state/run'
import { Amount } from '../../ui/amounts'
import { Loading } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import { Choice, Figure } from '../parts/controls'
import { useKeyList } from '../parts/dimensions'
import { optionsBeside } from '../parts/run-options'
import type { FailureClass, FailuresAnswer } from './answer'
import { ShareBar } from './bits'
import { DesignProblems } from './design-problems'
import { DesignChoice, DesignFields, Swatch } from './fields'
import { kindOf } from './names'
import { runArguments, useOwnCluster } from './own-cluster'
import { chosenDesigns, designFlags, parameter, setParameter } from './state'
import * as texts from '../../words/network'

/** Answer with the slowdowns of the run's own step; without a run, of an exposed share. A run that the designs cannot carry leaves the share. */
function useFailures(question: Arguments | null): {
  readonly live: Live<FailuresAnswer>
  readonly ofRun: boolean
  readonly reason?: string
} {
  const keys = useKeyList()
  const hasRun = runArguments() !== null && !parameter('exposed')
  const beside = question && hasRun && keys.length > 0 ? { ...question, ...optionsBeside(runText.value, keys) } : null
  const withRun = useAnswer<FailuresAnswer>('network/failures', beside)
  const reason = beside && withRun.problems[0]?.message
  const plain = useAnswer<FailuresAnswer>('network/failures', hasRun && !reason ? null : question)
  // Below a refusal of both stands the answer before it.
  const shown = plain.answer ? plain : { ...plain, answer: withRun.answer, stale: true }
  return reason ? { live: shown, ofRun: false, reason } : { live: hasRun ? withRun : plain, ofRun: hasRun }
}

export function FailuresDesk() {
  const ready = useOwnCluster()
  const question = {
    designs: chosenDesigns(),
    ...designFlags(),
    ...(parameter('exposed') ? { 'exposed-share': parameter('exposed') } : {}),
    ...(parameter('recovery') ? { recovery: parameter('recovery') } : {}),
  }
  const { live, ofRun, reason } = useFailures(ready ? question : null)
  const { answer } = live
  const most = Math.max(0, ...(answer?.designs ?? []).flatMap((one) => one.expected.classes.map((part) => part.lost_hours_per_month)))
  return (
    <>
      <section class="panel scope" aria-label={texts.designsAndJob}>
        <DesignChoice />
        <div class="entries">
          <DesignFields withKind={false} />
          <Amount
            title={texts.exposedShare}
            about={texts.shareOfTheStepThat}
            auto={ofRun ? texts.ofTheRun : '0.2'}
            unit={PERCENT}
            value={parameter('exposed')}
            onChange={(value) => setParameter('exposed', value)}
          />
          <Choice
            title={texts.trafficMovesTo}
            value={parameter('recovery')}
            options={[
              ['', texts.theWholeDomain],
              ['neighbour', texts.oneNeighbour],
              ['alone', texts.theDeviceItself],
            ]}
            onChange={(value) => setParameter('recovery', value)}
          />
        </div>
        <p class="muted">{ofRun ? texts.slowdownsAreThoseOfTheRun : texts.slowdownsFollowTheShare(reason)}</p>
      </section>
      <DesignProblems live={live} />
      {!answer && live.problems.length === 0 && <Loading heights={[240]} />}
      {answer && (
        <div class={`columns ${live.stale ? 'stale' : ''}`}>
          {answer.designs.length > 1 && <Compared answer={answer} />}
          <div class="columns failures">
            {answer.designs.map(({ expected }, at) => (
              <details
                key={expected.design}
                class="panel failures-design"
                open={at === 0}
                aria-label={texts.failuresOf(kindOf(expected.design).title)}
              >
                <summary>
                  <h2 class="swatched">
                    <Swatch id={expected.design} /> {kindOf(expected.design).title}
                  </h2>{' '}
                  <span class="muted">{texts.byPart}</span>
                </summary>
                <div class="panel-body">
                  <dl class="figures">
                    <Figure title={texts.failuresPerMonth} note={texts.stopTheJob2(digits(expected.interruptions_per_month, 2))}>
                      {digits(expected.failures_per_month, 2)}
                    </Figure>
                    <Figure title={texts.lostPerMonth} note={texts.gpuHours}>
                      {count(expected.lost_hours_per_month)}
                    </Figure>
                    <Figure title={texts.ofAll} note={texts.asIfGpusWereMissing(digits(expected.mean_lost_devices, 2))}>
                      {percent(expected.lost_share)}
                    </Figure>
                  </dl>
                </div>
                <Classes name={kindOf(expected.design).title} classes={expected.classes} most={most} />
              </details>
            ))}
          </div>
        </div>
      )}
    </>
  )
}

type Expected = FailuresAnswer['designs'][number]['expected']

/** Comparison of designs: loss per month. */
function Compared({ answer }: { answer: FailuresAnswer }) {
  const rows = answer.designs.map((one) => one.expected)
  const most = Math.max(...rows.map((row) => row.lost_hours_per_month))
  const columns: Column<Expected>[] = [
    {
      key: 'design',
      title: texts.design,
      value: (row) => row.design,
      cell: (row) => (
        <span class="swatched">
          <Swatch id={row.design} /> {kindOf(row.design).title}
        </span>
      ),
    },
    {
      key: 'fail',
      title: texts.failuresPerMonth,
      value: (row) => row.failures_per_month,
      cell: (row) => digits(row.failures_per_month, 2),
      align: 'right',
    },
    {
      key: 'stop',
      title: texts.stopTheJob,
      value: (row) => row.interruptions_per_month,
      cell: (row) => digits(row.interruptions_per_month, 2),
      align: 'right',
    },
    {
      key: 'lost',
      title: texts.gpuHoursLostPerMonth,
      value: (row) => row.lost_hours_per_month,
      cell: (row) => count(row.lost_hours_per_month),
      align: 'right',
    },
    {
      key: 'bar',
      title: texts.ofTheMost,
      value: (row) => row.lost_hours_per_month,
      cell: (row) => <ShareBar share={row.lost_hours_per_month / most} colour="var(--class-data)" />,
    },
    { key: 'share', title: texts.ofAll, value: (row) => row.lost_share, cell: (row) => percent(row.lost_share), align: 'right' },
    {
      key: 'missing',
      title: texts.asIfMissing,
      about: texts.gpus,
      value: (row) => row.mean_lost_devices,
      cell: (row) => digits(row.mean_lost_devices, 2),
      align: 'right',
    },
    {
      key: 'step',
      title: texts.stepOnAverage,
      about: texts.interruptionsAside,
      value: (row) => row.mean_slowdown,
      cell: (row) => `+${percent(row.mean_slowdown - 1)}`.replace('+<', '<'),
      align: 'right',
    },
  ]
  return (
    <section class="panel" aria-label={texts.designsCompared}>
      <div class="panel-head">
        <h2>
          {texts.designsCompared} <span class="about">{texts.lossesByFailuresOfSingle}</span>
        </h2>
      </div>
      <Table caption={texts.lossesOfDesigns} columns={columns} rows={rows} identify={(row) => row.design} />
    </section>
  )
}

const RESPONSES: Readonly<Record<string, string>> = { 'run-on': texts.runsOn, 'go-without': texts.goesWithout, wait: 'waits' }

function Classes({ name, classes, most }: { name: string; classes: readonly FailureClass[]; most: number }) {
  const columns: Column<FailureClass>[] = [
    {
      key: 'part',
      title: texts.onePartFails,
      value: (row) => row.part,
      cell: (row) => <span title={row.remark || row.rate.fit_source}>{row.part}</span>,
    },
    { key: 'count', title: texts.parts, value: (row) => row.count, cell: (row) => count(row.count), align: 'right' },
    {
      key: 'cut',
      title: texts.cutOff,
      about: texts.devicesWhoseOwnNicReaches,
      value: (row) => row.cut_off,
      cell: (row) => count(row.cut_off),
      align: 'right',
    },
    {
      key: 'step',
      title: texts.step,
      about: texts.exposedNetworkTimeGrowsBy,
      value: (row) => row.slowdown,
      cell: (row) => (row.slowdown === null ? <span class="tone-bad">{texts.stops}</span> : `+${percent(row.slowdown - 1)}`),
      align: 'right',
    },
    { key: 'then', title: texts.thenIt, value: (row) => RESPONSES[row.response] ?? row.response },
    {
      key: 'month',
      title: texts.perMonth,
      about: texts.failuresOfAllPartsOf,
      value: (row) => row.failures_per_month,
      cell: (row) => digits(row.failures_per_month, 2),
      align: 'right',
    },
    {
      key: 'hours',
      title: texts.gpuHoursPerMonth,
      value: (row) => row.lost_hours_per_month,
      cell: (row) => count(row.lost_hours_per_month),
      align: 'right',
    },
    {
      key: 'bar',
      title: texts.ofTheWorst,
      value: (row) => row.lost_hours_per_month,
      cell: (row) => <ShareBar share={most > 0 ? row.lost_hours_per_month / most : 0} colour="var(--class-data)" />,
    },
  ]
  return <Table caption={texts.failuresOfByPart(name)} columns={columns} rows={classes} identify={(row) => row.part} />
}
