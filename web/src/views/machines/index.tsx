// The machines view: how many machines of which kind, for a deadline or a budget, and where more stop paying.
import { useEffect } from 'preact/hooks'
import { identity } from '../../api/ask'
import { amount, count, dollars, percent, seconds } from '../../charts/format'
import { useKeys } from '../../state/keys'
import { change, own } from '../../state/location'
import { Empty, Problems } from '../../ui/states'
import { Switch, Text, set } from '../parts/controls'
import { loadStrategy } from '../parts/load'
import { NoRun } from '../parts/no-run'
import { ProgressLine } from '../parts/progress'
import { RunBar, said } from '../parts/run-bar'
import type { Row, SizeAnswer } from './answer'
import { Charts } from './charts'
import { choiceOf, finer } from './frontier'
import { PREFIX, question, sizing } from './question'
import { Sizes } from './table'
import '../parts/layout.css'
import './machines.css'

export default function Machines() {
  const own_ = own(PREFIX)
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
      { keys: 'r', title: 'Ask how many machines', group: 'Machines', run: () => (asked ? start() : false) },
      { keys: 'Escape', title: 'Stop', group: 'Machines', run: () => (sizing.state.value.running ? sizing.stop() : false) },
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
      <h1 class="hidden-visually">Machines</h1>
      <section class="panel scope" aria-label="Goal">
        <RunBar fields={['model', 'cluster', 'tokens', 'global-batch', 'sequence-length']} />
        <form
          class="entries"
          onSubmit={(event) => {
            event.preventDefault()
            start()
          }}
        >
          <Text
            title="Deadline"
            placeholder="none"
            about="Latest end of the training: 90d, 2000h"
            value={own_.deadline ?? ''}
            onChange={(value) => set(PREFIX, 'deadline', value)}
          />
          <Text
            title="Budget"
            placeholder="none"
            about="Most that the rent may come to, in dollars: 30M"
            value={own_.budget ?? ''}
            onChange={(value) => set(PREFIX, 'budget', value)}
          />
          <Text
            title="GPUs"
            placeholder="around the goal"
            about="512,1024,2048 or 256..4096"
            value={own_.gpus ?? ''}
            onChange={(value) => set(PREFIX, 'gpus', value)}
          />
          <Text
            title="Machines to compare"
            wide
            placeholder="dgx-h100,dgx-b200"
            value={own_.clusters ?? ''}
            onChange={(value) => set(PREFIX, 'clusters', value)}
          />
          <Text
            title="An added GPU must do"
            placeholder="0.5"
            about="Least share of the work of a GPU at the fewest that an added one must do to be worth adding"
            value={own_.worth ?? ''}
            onChange={(value) => set(PREFIX, 'worth', value)}
          />
          <Switch
            title="Batch grows with the GPUs"
            about="It changes how the training converges"
            on={own_.growing === 'true'}
            onChange={(on) => set(PREFIX, 'growing', on ? 'true' : undefined)}
          />
          <button type="submit" class="button primary push" disabled={!asked || state.running}>
            {state.running ? 'Searching' : 'Size'} <kbd>r</kbd>
          </button>
        </form>
      </section>
      <ProgressLine state={state} unit="strategies" onStop={() => sizing.stop()} />
      {state.problems.length > 0 && <Problems problems={state.problems} />}
      {outdated && (
        <div class="outdated" role="status">
          The goal has changed since this answer.
          <button type="button" class="button" onClick={start}>
            Ask again
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
      <Empty
        title="Deadline or budget"
        text="For each number of machines, the best layout is searched. The answer has days, cost and the marginal efficiency of more machines."
      >
        <button type="button" class="button primary" onClick={onStart}>
          Size
        </button>
      </Empty>
    )
  }
  if (said('model') && said('cluster')) {
    return (
      <Empty title="How many tokens?" text="Days and dollars need to know what is trained.">
        {['1T', '2T', '15T'].map((tokens) => (
          <button key={tokens} type="button" class="button" onClick={() => change({ tokens })}>
            {tokens}
          </button>
        ))}
      </Empty>
    )
  }
  return <NoRun title="No run yet" text="Name a model, a machine and the tokens above, or begin with an example." />
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
  // All machines get the same counts, so these are multiples of the largest.
  const grid = finer(known, Math.max(1, ...machines.map((machine) => machine.devices)))
  const more = grid.length - known.length
  return (
    <section class="panel verdict" aria-label="Answer">
      <div>
        {chosen && (
          <p class="large">
            {capital(
              choiceOf(
                goal,
                rows.every((row) => row.bill.rent !== null),
              ),
            )}
            : <strong>{count(chosen.devices)}</strong> × {chosen.accelerator}, {seconds(chosen.bill.calendar)} and{' '}
            {dollars(chosen.bill.rent)}
          </p>
        )}
        {verdict.is_no && (
          <p class="large tone-bad">
            No number meets the goal
            {nearest
              ? `; nearest: ${count(nearest.devices)} × ${nearest.accelerator}, ${seconds(nearest.bill.calendar)} for ${dollars(nearest.bill.rent)}, ${misses}`
              : ''}
          </p>
        )}
        {!chosen && !verdict.is_no && <p class="large">No goal said: the table, and where more stop paying.</p>}
        <ul class="remarks">
          {verdict.stops.map((stop) => {
            const row = rows[stop.row]
            return (
              row && (
                <li key={stop.machine}>
                  {stop.is_reached
                    ? `Beyond ${count(row.devices)} × ${machines[stop.machine]?.name}, added GPUs do less than ${percent(goal.worth).replace('.0', '')} of the work of one at the fewest.`
                    : `Up to ${count(row.devices)} × ${machines[stop.machine]?.name}, added GPUs are worth their rent.`}
                </li>
              )
            )
          })}
          <li>
            {amount(answer.tokens)} tokens
            {answer.growing_batch ? ', the batch grows with the GPUs' : `, ${count(answer.global_batch)} sequences a step for every number`}
            {price ? `; ${dollars(price.amount)} a GPU and hour (${price.source.split(',')[0]})` : ''}
          </li>
          {!answer.complete && <li class="warn">Stopped early: results so far.</li>}
        </ul>
      </div>
      <div class="actions">
        {chosen && (
          <button type="button" class="button primary" onClick={() => onLoad(chosen)}>
            Load into the calculator
          </button>
        )}
        {more > 0 && (
          <button type="button" class="button" onClick={() => onFiner(grid)}>
            Add {count(more)} {more === 1 ? 'count' : 'counts'} in between
          </button>
        )}
      </div>
    </section>
  )
}
