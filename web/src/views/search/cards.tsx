// Layouts as cards, one per family: its simplest member within the tie, its step time and cost, and the other members on demand.
import { useState } from 'preact/hooks'
import type { Estimate } from '../../api/answers'
import { type Arguments, Refusal } from '../../api/ask'
import { startJob } from '../../api/jobs'
import { useAnswer } from '../../api/live'
import { bytes, percent, probability, relative, seconds } from '../../charts/format'
import { toArguments } from '../../state/run'
import { FIT } from '../parts/fit'
import { layoutOf } from '../parts/strategy'
import type { Found, SearchAnswer } from './answer'
import { spaceOf, standingOf, titleOf } from './family'
import { runParameters } from './question'
import { SpentBar } from './ranking'
import * as texts from '../../words/search'

/** Number of cards before the button for more. */
const FIRST = 6
/** Maximum number of shown layouts per family. */
const MEMBERS = 12

interface Props {
  readonly found: readonly Found[]
  /** Fastest layout, if it is not the first. */
  readonly fastest: Found | null
  /** Question of the search, to be restricted to a family. */
  readonly question: Arguments
  readonly onPick: (one: Found) => void
}

export function Cards(props: Props) {
  const [all, setAll] = useState(false)
  const best = props.found[0]
  if (!best) return null
  const shown = all ? props.found : props.found.slice(0, FIRST)
  return (
    <section class="panel" aria-label={texts.layoutsByFamily}>
      <div class="panel-head">
        <h2>
          {texts.layouts} <span class="about">{texts.theSimplestOfEachCombination}</span>
        </h2>
      </div>
      <div class="cards">
        <Own best={best} />
        {shown.map((one) => (
          <Card key={one.command} one={one} {...props} />
        ))}
      </div>
      {props.found.length > FIRST && (
        <p class="table-more">
          <button type="button" class="button" onClick={() => setAll(!all)}>
            {all ? texts.showFewer : texts.showAll(props.found.length)}
          </button>
        </p>
      )}
    </section>
  )
}

function Card({ one, fastest, question, onPick }: Props & { one: Found }) {
  const { candidate, mfu, spent, plan_summary: summary } = one.ranked
  const title = titleOf(candidate.plan)
  return (
    <article class="card" aria-label={title}>
      <h3>{title}</h3>
      <p class="card-time">
        <strong>{seconds(candidate.step_time)}</strong>{' '}
        <span class="muted" title={candidate.tied_with_best ? texts.withinTheModelErrorOf : undefined}>
          {standingOf(one, fastest)}
        </span>
      </p>
      <SpentBar spent={spent} wide />
      <p class="muted small">
        {texts.mfu} {percent(mfu)}, {bytes(candidate.memory.device)} {texts.perDeviceFitsWith}{' '}
        {probability(candidate.probability_of_fitting)}
      </p>
      <p class="muted small">{summary}</p>
      <div class="actions">
        <button type="button" class="button" onClick={() => onPick(one)}>
          {texts.load}
        </button>
      </div>
      <Members one={one} question={question} onPick={onPick} />
    </article>
  )
}

/** Other members of a family, searched when opened. */
function Members({ one, question, onPick }: Omit<Props, 'found' | 'fastest'> & { one: Found }) {
  const [members, setMembers] = useState<readonly Found[] | null>(null)
  const [problem, setProblem] = useState('')
  const load = (open: boolean) => {
    if (!open || members !== null) return
    const space = [...(Array.isArray(question.space) ? question.space : []), ...spaceOf(one.ranked.candidate.plan)]
    startJob<SearchAnswer>(
      'search',
      { ...question, gpus: one.ranked.candidate.devices, cluster: one.cluster, space, all: true, top: MEMBERS },
      () => undefined,
    ).done.then(
      ({ answer }) => setMembers(answer.candidates),
      (error: unknown) => setProblem(error instanceof Refusal ? error.message : String(error)),
    )
  }
  return (
    <details onToggle={(event) => load(event.currentTarget.open)}>
      <summary>{texts.otherLayoutsOfThisFamily}</summary>
      {problem && <p class="warn">{problem}</p>}
      {members === null && !problem && (
        <p class="muted" role="status">
          {texts.searching}
        </p>
      )}
      {members && (
        <ul class="members">
          {members.map((member) => (
            <li key={member.command}>
              <button type="button" class="link" onClick={() => onPick(member)}>
                {seconds(member.ranked.candidate.step_time)}
              </button>{' '}
              <span class="muted">{member.ranked.plan_summary}</span>
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

/** Estimate of the layout of the run; null if the run has none. */
export function useOwn() {
  const run = runParameters()
  const has = Object.keys(layoutOf(run)).length > 0
  const own = useAnswer<Estimate>('estimate', has ? toArguments(run) : null)
  return has ? own : null
}

/** The run's own layout next to the results. */
function Own({ best }: { best: Found }) {
  const own = useOwn()
  if (!own) return null
  const estimate = own.answer
  return (
    <article class="card own" aria-label={texts.yourLayout}>
      <h3>{texts.yourLayout}</h3>
      {estimate ? (
        <>
          <p class="card-time">
            <strong>{seconds(estimate.step_time)}</strong>{' '}
            <span class="muted">
              {relative(estimate.step_time, best.ranked.candidate.step_time)} {texts.againstTheBest}
            </span>
          </p>
          <p class="muted small">
            <span class={`verdict ${FIT[estimate.memory.fit].verdict}`}>{FIT[estimate.memory.fit].words}</span>{' '}
            {bytes(estimate.memory.peak)} {texts.perDevice}
          </p>
          <p class="muted small">{estimate.plan_summary}</p>
        </>
      ) : (
        <p class="muted small">{own.problems[0]?.message ?? 'Estimating…'}</p>
      )}
    </article>
  )
}
