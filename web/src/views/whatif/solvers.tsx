// Two solvers as actions on the run: modules to recompute by layer, and layers per stage.
// Their results are shown next to the current run, and applied by a button.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Answer, type Arguments, type Problem, Refusal, ask, identity } from '../../api/ask'
import { bytes, percent, probability, relative, seconds } from '../../charts/format'
import { Problems } from '../../ui/states'
import { Explained } from '../../ui/why'
import { BUBBLE_WORDS } from '../parts/bubble'
import { loadStrategy } from '../parts/load'
import type { Balance, Division, Recompute, Variant } from './answer'
import { Scroll } from '../parts/scroll'
import { NumberHead } from '../parts/table-panel'
import * as texts from '../../words/whatif'

interface Solved<T> {
  readonly answer: Answer<T> | null
  readonly problems: readonly Problem[]
  readonly busy: boolean
}

/** Runs a solver on request; a result for another run is dropped. */
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

/** A list of texts as one flag; words with spaces are quoted as in a shell. */
function flag(name: string, entries: readonly string[]): string {
  return `--${name} "${entries.join(',')}"`
}

/** Panel of a solver: purpose, switches and button, and its result below. */
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
        [texts.asSpecified, answer.given],
        ['Nothing', answer.none],
        ['Everything', answer.full],
        [texts.bestTheSameOnEvery, answer.uniform],
        [texts.bestStageByStage, answer.best],
      ]
    : []
  // A run without a recompute setting has no recompute: one row instead of two equal ones.
  const rows = ways
    .flatMap(([name, row]) => (row ? [{ name, row }] : []))
    .filter(({ name, row }) => !(name === 'As specified' && row.what === 'none'))
  return (
    <SolverPanel
      title={texts.selectiveRecompute}
      about={texts.modulesAndLayersToRecompute}
      switches={
        <>
          <Switch text={texts.sameOnEveryStage} on={uniform} set={setUniform} />
          <Switch text={texts.allowOffload} on={offload} set={setOffload} />
        </>
      }
      solved={solved}
      solve={solve}
    >
      {answer && (
        <>
          <Scroll label={texts.waysToRecomputeTable}>
            <table class="table">
              <caption class="hidden-visually">{texts.waysToRecompute}</caption>
              <thead>
                <tr>
                  <th scope="col">{texts.recompute}</th>
                  <NumberHead>{texts.step}</NumberHead>
                  <NumberHead>{texts.againstNone}</NumberHead>
                  <NumberHead>{texts.memory}</NumberHead>
                  <th scope="col">{texts.fits}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ name, row }) => (
                  <tr key={name} class={row === chosen ? 'chosen' : ''}>
                    <th scope="row">
                      {name}{' '}
                      {!['none', 'full', texts.byStage].includes(row.what) && (
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
                {texts.loadItIntoTheCalculator}
              </button>
              {answer.gain_over_full !== null && (
                <span class="muted check">
                  {percent(answer.gain_over_full)} {texts.moreTokensPerSecondThan}
                </span>
              )}
            </div>
          ) : (
            <p class="tone-bad">{texts.nothingFitsEvenWithFull}</p>
          )}
          <details>
            <summary>{texts.stageByStage}</summary>
            <Scroll label={texts.stageByStageTable}>
              <table class="table">
                <thead>
                  <tr>
                    <NumberHead>{texts.stage}</NumberHead>
                    <NumberHead>{texts.layers}</NumberHead>
                    <th scope="col">{texts.recompute}</th>
                    <NumberHead>{texts.costPerMicroBatch}</NumberHead>
                    <NumberHead>{texts.memoryWithout}</NumberHead>
                    <NumberHead>{texts.memory}</NumberHead>
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
      title={texts.pipelineBalance}
      about={texts.layersPerStageCountingEmbedding}
      switches={<Switch text={texts.withRecompute} on={recompute} set={setRecompute} />}
      solved={solved}
      solve={solve}
    >
      {before && (
        <Scroll label={texts.divisionsOfLayersTable}>
          <table class="table">
            <caption class="hidden-visually">{texts.divisionsOfLayers}</caption>
            <thead>
              <tr>
                <th scope="col">{texts.layersByStage}</th>
                <NumberHead>{texts.step}</NumberHead>
                <th scope="col" class="right">
                  <Explained id="bubble.idle" list={BUBBLE_WORDS}>
                    {texts.idle}
                  </Explained>
                </th>
                <th scope="col" class="right" title={texts.timeOfTheSlowestStage}>
                  {texts.uneven}
                </th>
                <NumberHead>{texts.memory}</NumberHead>
                <th scope="col">{texts.fits}</th>
              </tr>
            </thead>
            <tbody>
              <DivisionRow name={texts.asItIs} of={before} />
              {best && <DivisionRow name="best" of={best} chosen />}
            </tbody>
          </table>
        </Scroll>
      )}
      {best && before && isSame(best, before) && (
        <p class="muted">
          {texts.theCurrentAssignmentIsThe} {answer?.priced} {texts.divisionsPriced}
        </p>
      )}
      {best && before && !isSame(best, before) && (
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
              {texts.loadItIntoTheCalculator}
            </button>
            <span class="muted check">
              {answer?.priced} {texts.divisionsPriced}
            </span>
          </div>
        </>
      )}
      {answer && !best && <p class="tone-bad">{texts.noDivisionFitsTryIt}</p>}
    </SolverPanel>
  )
}

/** True if nothing changes: the same layers and recompute on every stage. */
const isSame = (best: Division, before: Division): boolean =>
  best.layers.join() === before.layers.join() &&
  best.stages.every((stage, at) => stage.recompute.join() === before.stages[at]?.recompute.join())

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

/** Time of each stage before and after as thin bars, with texts for screen readers. */
function StageBars({ before, best }: { before: Division; best: Division }) {
  const most = Math.max(...before.stages.map((stage) => stage.time), ...best.stages.map((stage) => stage.time))
  return (
    <ol class="stage-bars" aria-label={texts.timeOfAMicroBatch}>
      {best.stages.map((stage, index) => {
        const was = before.stages[index]
        const title = texts.stage2(
          stage.stage,
          was ? texts.timeThen(seconds(was.time)) : '',
          seconds(stage.time),
          stage.embedding ? texts.hasTheEmbedding : '',
          stage.head ? texts.hasTheHead : '',
        )
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

function Fits({ fits, with: chance }: { fits: boolean; with?: number }) {
  const words = chance === undefined ? '' : ` ${probability(chance)}`
  return (
    <span class={fits ? 'badge good' : 'badge bad'}>
      {fits ? 'fits' : texts.doesNotFit}
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

/** Flags of the run before those of the solver; `replaced` are run flags that the solver's flags replace. */
function withRun(run: Arguments, found: string, replaced: readonly string[]): string {
  const own = Object.entries(run)
    .filter(([name]) => name !== 'model' && !replaced.includes(name))
    .map(([name, value]) => (value === true ? `--${name}` : `--${name}="${String(value)}"`))
  return [...own, found].join(' ')
}
