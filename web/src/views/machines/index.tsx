// Machines view: the cluster size for a deadline or a budget, and the size up to which more devices are efficient.
import { useEffect } from 'preact/hooks'
import { identity } from '../../api/ask'
import { amount, count, dollars, percent, seconds } from '../../charts/format'
import { useKeys } from '../../state/keys'
import { change, own } from '../../state/location'
import { Empty } from '../../ui/states'
import { Switch, set } from '../parts/controls'
import { loadStrategy } from '../parts/load'
import { NoRun } from '../parts/no-run'
import { ProgressLine } from '../parts/progress'
import { RunBar, runParameter, useCatalogue } from '../parts/run-bar'
import { COUNT, DAYS, MILLIONS, PERCENT } from '../../state/amounts'
import { Amount, Amounts } from '../../ui/amounts'
import { Several } from '../parts/several'
import type { Row, SizeAnswer } from './answer'
import { Charts } from './charts'
import { choiceOf, finer, hasOneBatch } from './frontier'
import { PREFIX, question, sizing } from './question'
import { Sizes } from './table'
import '../parts/layout.css'
import './machines.css'
import { RunProblems } from '../parts/run-problems'
import * as texts from '../../words/machines'

export default function Machines() {
  const own_ = own(PREFIX)
  const clusters = useCatalogue().clusters.map((name) => [name, name] as const)
  const asked = question()
  sizing.useShown()
  const state = sizing.state.value
  const ran = own_.ran === '1'
  const start = () => {
    if (!asked) return
    if (!ran) set(PREFIX, 'ran', '1')
    sizing.start(asked, true)
  }
  useEffect(() => {
    if (ran && asked && !state.running && state.of === '') sizing.start(asked)
  }, [ran])
  useKeys(
    [
      { keys: 'r', title: texts.computeTheNumberOfMachines, group: 'Machines', run: () => (asked ? start() : false) },
      { keys: 'Escape', title: texts.stop, group: 'Machines', run: () => (sizing.state.value.running ? sizing.stop() : false) },
    ],
    [asked && identity('size', asked), ran],
  )
  const answer = state.answer?.answer
  const outdated = answer && !state.running && asked !== null && state.of !== identity('size', asked)
  const load = (row: Row) => {
    const layout = answer?.layouts[answer.size.rows.indexOf(row)] ?? ''
    loadStrategy(layout, { cluster: row.cluster, gpus: String(row.devices) })
  }
  const denser = (counts: readonly number[]) => {
    change({ [`${PREFIX}.gpus`]: counts.join(','), [`${PREFIX}.ran`]: '1' }, 'push')
    const next = question()
    if (next) sizing.start(next)
  }
  return (
    <div class="view machines">
      <h1 class="hidden-visually">{texts.machines}</h1>
      <section class="panel scope" aria-label={texts.goal}>
        <RunBar fields={['model', 'cluster', 'tokens', 'global-batch', 'sequence-length']} />
        <form
          class="entries"
          onSubmit={(event) => {
            event.preventDefault()
            start()
          }}
        >
          <Amount
            title={texts.deadline2}
            about={texts.longestTrainingTimeSuchAs}
            auto={texts.none}
            unit={DAYS}
            value={own_.deadline ?? ''}
            onChange={(value) => set(PREFIX, 'deadline', value)}
          />
          <Amount
            title={texts.budget2}
            about={texts.maximumRentalCostInDollars}
            auto={texts.none}
            unit={MILLIONS}
            value={own_.budget ?? ''}
            onChange={(value) => set(PREFIX, 'budget', value)}
          />
          <Amounts
            title={texts.gpus}
            about={texts.sizesToCompare}
            auto={texts.aroundTheGoal}
            unit={COUNT}
            value={own_.gpus ?? ''}
            onChange={(value) => set(PREFIX, 'gpus', value)}
          />
          <Several
            title={texts.machinesToCompare}
            placeholder={texts.theRunsCluster}
            value={own_.clusters ?? ''}
            options={clusters}
            free
            onChange={(value) => set(PREFIX, 'clusters', value)}
          />
          <Amount
            title={texts.leastMarginalEfficiency}
            about={texts.leastThroughputOfAnAdded}
            auto="0.5"
            unit={PERCENT}
            value={own_.worth ?? ''}
            onChange={(value) => set(PREFIX, 'worth', value)}
          />
          <Switch
            title={texts.batchGrowsWithTheGpus}
            about={texts.itChangesHowTheTraining}
            on={own_.growing === 'true'}
            onChange={(on) => set(PREFIX, 'growing', on ? 'true' : undefined)}
          />
          <button type="submit" class="button primary push" disabled={!asked || state.running}>
            {state.running ? 'Searching' : 'Size'} <kbd>r</kbd>
          </button>
        </form>
      </section>
      <ProgressLine state={state} unit="layouts" onStop={() => sizing.stop()} />
      <RunProblems problems={state.problems} />
      {outdated && (
        <div class="outdated" role="status">
          {texts.theGoalHasChangedSince}
          <button type="button" class="button" onClick={start}>
            {texts.askAgain}
          </button>
        </div>
      )}
      {!answer && !state.running && state.problems.length === 0 && <Start ready={asked !== null} onStart={start} />}
      {answer && (
        <div class={`columns ${state.running || outdated ? 'stale' : ''}`} aria-busy={state.running}>
          <Verdict answer={answer} onLoad={load} onFiner={denser} />
          <div class="columns halves">
            <Charts answer={answer} line={state.answer?.commandLine} onPick={load} />
          </div>
          <Sizes answer={answer} onPick={load} />
        </div>
      )}
    </div>
  )
}

function Start({ ready, onStart }: { ready: boolean; onStart: () => void }) {
  if (ready) {
    return (
      <Empty title={texts.deadlineOrBudget} text={texts.forEachNumberOfMachines}>
        <button type="button" class="button primary" onClick={onStart}>
          {texts.size}
        </button>
      </Empty>
    )
  }
  if (runParameter('model') && runParameter('cluster')) {
    return (
      <Empty title={texts.howManyTokens} text={texts.daysAndDollarsDependOn}>
        {['1T', '2T', '15T'].map((tokens) => (
          <button key={tokens} type="button" class="button" onClick={() => change({ tokens })}>
            {tokens}
          </button>
        ))}
      </Empty>
    )
  }
  return <NoRun title={texts.noRunYet} text={texts.nameAModelAMachine} />
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function Verdict({
  answer,
  onLoad,
  onFiner,
}: {
  answer: SizeAnswer
  onLoad: (row: Row) => void
  onFiner: (counts: readonly number[]) => void
}) {
  const { rows, verdict, goal, machines } = answer.size
  const chosen = verdict.chosen === null ? undefined : rows[verdict.chosen]
  const nearest = verdict.nearest ? rows[verdict.nearest.row] : undefined
  const misses = [
    verdict.nearest?.late ? `${seconds(verdict.nearest.late)} late` : '',
    verdict.nearest?.over_budget ? `${dollars(verdict.nearest.over_budget)} over the budget` : '',
  ]
    .filter(Boolean)
    .join(', ')
  const price = rows[0]?.bill.device_price
  const known = [...new Set(rows.map((row) => row.devices))]
  // All machine types have the same sizes, so these are multiples of the largest machine.
  const grid = finer(known, Math.max(1, ...machines.map((machine) => machine.devices)))
  const more = grid.length - known.length
  return (
    <section class="panel verdict" aria-label={texts.answer}>
      <div>
        {chosen && (
          <p class="large">
            {capital(
              choiceOf(
                goal,
                rows.every((row) => row.bill.rent !== null),
              ),
            )}
            : <strong>{texts.gpusOf(count(chosen.devices), chosen.accelerator)}</strong>, {seconds(chosen.bill.calendar)} {texts.and}{' '}
            {dollars(chosen.bill.rent)}
          </p>
        )}
        {verdict.is_no && (
          <p class="large tone-bad">
            {texts.noNumberMeetsTheGoal}
            {nearest
              ? texts.nearestOf(
                  texts.gpusOf(count(nearest.devices), nearest.accelerator),
                  seconds(nearest.bill.calendar),
                  dollars(nearest.bill.rent),
                  misses,
                )
              : ''}
          </p>
        )}
        {!chosen && !verdict.is_no && <p class="large">{texts.noGoalIsSetCluster}</p>}
        <ul class="remarks">
          {verdict.stops.map((stop) => {
            const row = rows[stop.row]
            return (
              row && (
                <li key={stop.machine}>
                  {stop.is_reached
                    ? texts.beyondAddedGpusDoLess(count(row.devices), machines[stop.machine]?.name, percent(goal.worth).replace('.0', ''))
                    : texts.upToAddedGpusAre(count(row.devices), machines[stop.machine]?.name)}
                </li>
              )
            )
          })}
          <li>
            {amount(answer.tokens)} {texts.tokens}
            {answer.growing_batch
              ? texts.theBatchGrowsWithThe
              : (hasOneBatch(answer.size.rows) ? texts.sequencesAStepForEvery : texts.sequencesAStepOrNearest)(count(answer.global_batch))}
            {price ? texts.aGpuAndHour(dollars(price.amount), price.source.split(',')[0]) : ''}
          </li>
          {!answer.complete && <li class="warn">{texts.stoppedEarlyResultsSoFar}</li>}
        </ul>
      </div>
      <div class="actions">
        {chosen && (
          <button type="button" class="button primary" onClick={() => onLoad(chosen)}>
            {texts.loadIntoTheCalculator}
          </button>
        )}
        {more > 0 && (
          <button type="button" class="button" onClick={() => onFiner(grid)}>
            {texts.add} {count(more)} {more === 1 ? 'size' : 'sizes'} {texts.inBetween}
          </button>
        )}
      </div>
    </section>
  )
}
