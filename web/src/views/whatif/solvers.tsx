// Two solvers as actions on the run: which modules of which layers to recompute, how many layers each stage should hold.
// Their answers are shown beside the run as it is, and loaded by a button. Refuses to decide.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Answer, type Arguments, type Problem, Refusal, ask, identity } from '../../api/ask'
import { bytes, percent, relative, seconds } from '../../charts/format'
import { Problems } from '../../ui/states'
import { Explained } from '../../ui/why'
import { BUBBLE_WORDS } from '../parts/bubble'
import { loadStrategy } from '../parts/load'
import type { Balance, Division, Recompute, Variant } from './answer'
import { Scroll } from '../parts/scroll'

interface Solved<T> {
  readonly answer: Answer<T> | null
  readonly problems: readonly Problem[]
  readonly busy: boolean
}

/** Asks when told to; an answer of another run is dropped. */
function useSolver<T>(command: string, values: Arguments): [Solved<T>, () => void] {
  const [solved, setSolved] = useState<Solved<T>>({ answer: null, problems: [], busy: false })
  const of = identity(command, values)
  useEffect(() => setSolved({ answer: null, problems: [], busy: false }), [of])
  const solve = () => {
    setSolved((before) => ({ ...before, busy: true, problems: [] }))
    ask<T>(command, values).then(
      (answer) => setSolved({ answer, problems: [], busy: false }),
      (error: unknown) =>
        setSolved({ answer: null, problems: error instanceof Refusal ? error.problems : [{ message: String(error) }], busy: false }),
    )
  }
  return [solved, solve]
}

/** A list of texts as one flag; words that hold spaces are quoted as a shell would want. */
function flag(name: string, entries: readonly string[]): string {
  return `--${name} "${entries.join(',')}"`
}

/** A solver's panel: what it finds, its switches and its button, and below them what it said. */
function SolverPanel<T>({
  title,
  about,
  switches,
  solved,
  solve,
  children,
}: {
  title: string
  about: string
  switches: ComponentChildren
  solved: Solved<T>
  solve: () => void
  children: ComponentChildren
}) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>
          {title} <span class="about">{about}</span>
        </h2>
        {switches}
        <button type="button" class="button" disabled={solved.busy} onClick={solve}>
          {solved.busy ? 'Solving' : 'Solve'}
        </button>
      </div>
      {(solved.problems.length > 0 || solved.answer) && (
        <div class="panel-body">
          {solved.problems.length > 0 && <Problems problems={solved.problems} />}
          {children}
        </div>
      )}
    </section>
  )
}

function Switch({ text, on, set }: { text: string; on: boolean; set: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} /> {text}
    </label>
  )
}

export function RecomputeSolver({ run }: { run: Arguments }) {
  const [uniform, setUniform] = useState(false)
  const [offload, setOffload] = useState(false)
  const [solved, solve] = useSolver<Recompute>('recompute', { ...run, uniform, 'allow-offload': offload })
  const answer = solved.answer?.answer.recompute
  const chosen = uniform ? (answer?.uniform ?? answer?.best) : answer?.best
  const ways: readonly (readonly [string, Variant | null])[] = answer
    ? [
        ['As specified', answer.given],
        ['Nothing', answer.none],
        ['Everything', answer.full],
        ['Best, the same on every stage', answer.uniform],
        ['Best, stage by stage', answer.best],
      ]
    : []
  // A run that says nothing of it recomputes nothing: one row, not two alike.
  const rows = ways
    .flatMap(([name, row]) => (row ? [{ name, row }] : []))
    .filter(({ name, row }) => !(name === 'As specified' && row.what === 'none'))
  return (
    <SolverPanel
      title="Selective recompute"
      about="which modules of how many layers, so that it fits and loses least"
      switches={
        <>
          <Switch text="same on every stage" on={uniform} set={setUniform} />
          <Switch text="allow offload" on={offload} set={setOffload} />
        </>
      }
      solved={solved}
      solve={solve}
    >
      {answer && (
        <>
          <Scroll label="Ways to recompute: table">
            <table class="table">
              <caption class="hidden-visually">Ways to recompute</caption>
              <thead>
                <tr>
                  <th scope="col">Recompute</th>
                  <th scope="col" class="right">
                    Step
                  </th>
                  <th scope="col" class="right">
                    Against none
                  </th>
                  <th scope="col" class="right">
                    Memory
                  </th>
                  <th scope="col">Fits</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ name, row }) => (
                  <tr key={name} class={row === chosen ? 'chosen' : ''}>
                    <th scope="row">
                      {name}{' '}
                      {!['none', 'full', 'by stage'].includes(row.what) && (
                        <code class="muted">{row.what.replace(' on every stage', '')}</code>
                      )}
                    </th>
                    <td class="right">{seconds(row.step_time)}</td>
                    <td class="right">{relative(row.step_time, answer.none.step_time)}</td>
                    <td class="right">{bytes(row.memory)}</td>
                    <td>
                      <Fits fits={row.fits} with={row.probability_of_fitting} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          {chosen ? (
            <div class="actions">
              <button
                type="button"
                class="button primary"
                onClick={() =>
                  loadStrategy(
                    withRun(
                      run,
                      flag(
                        'stage-recompute',
                        answer.stages.map((stage) => stage.choice.join(' ')),
                      ),
                      ['recompute', 'stage-recompute'],
                    ),
                  )
                }
              >
                Load it into the calculator
              </button>
              {answer.gain_over_full !== null && (
                <span class="muted check">{percent(answer.gain_over_full)} more tokens a second than recomputing everything</span>
              )}
            </div>
          ) : (
            <p class="tone-bad">Nothing fits, even with full recompute.</p>
          )}
          <details>
            <summary>Stage by stage</summary>
            <Scroll label="Stage by stage: table">
              <table class="table">
                <thead>
                  <tr>
                    <th scope="col" class="right">
                      Stage
                    </th>
                    <th scope="col" class="right">
                      Layers
                    </th>
                    <th scope="col">Recompute</th>
                    <th scope="col" class="right">
                      Costs a micro batch
                    </th>
                    <th scope="col" class="right">
                      Memory without
                    </th>
                    <th scope="col" class="right">
                      Memory
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {answer.stages.map((stage) => (
                    <tr key={stage.stage}>
                      <th scope="row" class="right">
                        {stage.stage}
                      </th>
                      <td class="right">{stage.layers}</td>
                      <td>
                        <code>{stage.choice.join(' ')}</code>
                      </td>
                      <td class="right">{seconds(stage.recompute)}</td>
                      <td class="right">{bytes(stage.memory_none)}</td>
                      <td class="right">{bytes(stage.memory)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          </details>
        </>
      )}
    </SolverPanel>
  )
}

export function BalanceSolver({ run }: { run: Arguments }) {
  const [recompute, setRecompute] = useState(false)
  const [solved, solve] = useSolver<Balance>('balance', { ...run, 'with-recompute': recompute })
  const answer = solved.answer?.answer.balance
  const { before, best } = answer ?? {}
  return (
    <SolverPanel
      title="Pipeline balance"
      about="how many layers each stage should hold, embedding and head counted"
      switches={<Switch text="with recompute" on={recompute} set={setRecompute} />}
      solved={solved}
      solve={solve}
    >
      {before && (
        <Scroll label="Divisions of layers: table">
          <table class="table">
            <caption class="hidden-visually">Divisions of layers</caption>
            <thead>
              <tr>
                <th scope="col">Layers by stage</th>
                <th scope="col" class="right">
                  Step
                </th>
                <th scope="col" class="right">
                  <Explained id="bubble.idle" list={BUBBLE_WORDS}>
                    Idle
                  </Explained>
                </th>
                <th scope="col" class="right" title="How much longer the slowest stage takes than the mean of all">
                  Uneven
                </th>
                <th scope="col" class="right">
                  Memory
                </th>
                <th scope="col">Fits</th>
              </tr>
            </thead>
            <tbody>
              <DivisionRow name="as it is" of={before} />
              {best && <DivisionRow name="best" of={best} chosen />}
            </tbody>
          </table>
        </Scroll>
      )}
      {best && before && (
        <>
          <StageBars before={before} best={best} />
          <div class="actions">
            <button
              type="button"
              class="button primary"
              onClick={() =>
                loadStrategy(
                  withRun(
                    run,
                    [
                      flag('layers-per-stage', best.layers.map(String)),
                      recompute
                        ? flag(
                            'stage-recompute',
                            best.stages.map((stage) => stage.recompute.join(' ')),
                          )
                        : '',
                    ].join(' '),
                    ['layers-per-stage', 'uneven-stages', ...(recompute ? ['recompute', 'stage-recompute'] : [])],
                  ),
                )
              }
            >
              Load it into the calculator
            </button>
            <span class="muted check">{answer?.priced} divisions priced</span>
          </div>
        </>
      )}
      {answer && !best && <p class="tone-bad">No division fits. Try it with recompute.</p>}
    </SolverPanel>
  )
}

function DivisionRow({ name, of, chosen = false }: { name: string; of: Division; chosen?: boolean }) {
  return (
    <tr class={chosen ? 'chosen' : ''}>
      <th scope="row" class="wrap">
        {name} <code>{runs(of.layers)}</code>
      </th>
      <td class="right">{seconds(of.step_time)}</td>
      <td class="right">{percent(of.idle)}</td>
      <td class="right">{percent(of.imbalance)}</td>
      <td class="right">{bytes(of.memory)}</td>
      <td>
        <Fits fits={of.fits} />
      </td>
    </tr>
  )
}

/** Time of each stage before and after, as thin bars side by side; in words for those who do not see them. */
function StageBars({ before, best }: { before: Division; best: Division }) {
  const most = Math.max(...before.stages.map((stage) => stage.time), ...best.stages.map((stage) => stage.time))
  return (
    <ol class="stage-bars" aria-label="Time of a micro batch by stage, as it is and best">
      {best.stages.map((stage, index) => {
        const was = before.stages[index]
        const title = `stage ${stage.stage}: ${was ? `${seconds(was.time)}, then ` : ''}${seconds(stage.time)}${stage.embedding ? ', has the embedding' : ''}${stage.head ? ', has the head' : ''}`
        return (
          <li key={stage.stage} title={title}>
            <span class="hidden-visually">{title}</span>
            <span class="pair" aria-hidden="true">
              <span class="was" style={{ height: `${((was?.time ?? 0) / most) * 100}%` }} />
              <span class="now" style={{ height: `${(stage.time / most) * 100}%` }} />
            </span>
            <span class="muted" aria-hidden="true">
              {stage.stage}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

function Fits({ fits, with: probability }: { fits: boolean; with?: number }) {
  const words = probability === undefined ? '' : ` ${percent(probability)}`
  return (
    <span class={fits ? 'badge good' : 'badge bad'}>
      {fits ? 'fits' : 'does not fit'}
      {words}
    </span>
  )
}

/** `7, 14 × 8, 7`. */
function runs(layers: readonly number[]): string {
  const groups: { value: number; times: number }[] = []
  for (const value of layers) {
    const last = groups[groups.length - 1]
    if (last?.value === value) last.times += 1
    else groups.push({ value, times: 1 })
  }
  return groups.map(({ value, times }) => (times > 1 ? `${times} × ${value}` : String(value))).join(', ')
}

/** The run's own flags before those that a solver found; `replaced` are those that the found ones stand for. */
function withRun(run: Arguments, found: string, replaced: readonly string[]): string {
  const own = Object.entries(run)
    .filter(([name]) => name !== 'model' && !replaced.includes(name))
    .map(([name, value]) => (value === true ? `--${name}` : `--${name}="${String(value)}"`))
  return [...own, found].join(' ')
}
