// The search view: scope, running job, and its answer as key figures, a plot and a table.
import { useEffect, useRef, useState } from 'preact/hooks'
import { amount, count } from '../../charts/format'
import { identity } from '../../api/ask'
import { useKeys } from '../../state/keys'
import { change } from '../../state/location'
import { Empty } from '../../ui/states'
import { set } from '../parts/controls'
import { loadStrategy } from '../parts/load'
import { NoRun } from '../parts/no-run'
import { ProgressLine } from '../parts/progress'
import { runParameter } from '../parts/run-bar'
import type { Found } from './answer'
import { Cards } from './cards'
import { Landscape } from './landscape'
import { NothingFits } from './nothing'
import { identify, Plot } from './plot'
import {
  frontQuestion,
  mapping,
  mapQuestion,
  paretoFront,
  PREFIX,
  question,
  ranking,
  rankingQuestion,
  scope as scopeOf,
  whyNot,
} from './question'
import { Ranking } from './ranking'
import { ScopePanel } from './scope'
import { named } from './strategies'
import { WhyNotPanel } from './why-not'
import { Winner } from './winner'
import '../parts/layout.css'
import './search.css'
import { RunProblems } from '../parts/run-problems'
import { runText } from '../../state/run'
import { titleOfRun } from '../calculator/wording'
import * as texts from '../../words/search'

export default function Search() {
  const scope = scopeOf()
  const asked = rankingQuestion(scope)
  const edge = frontQuestion(scope)
  for (const job of [ranking, paretoFront, mapping, whyNot]) job.useShown()
  const state = ranking.state.value
  const frontState = paretoFront.state.value
  const mapState = mapping.state.value
  const mapped = mapQuestion(scope)
  const [pointed, setPointed] = useState<string | null>(null)
  const wanted = asked ? identity('search', asked) : ''
  const start = () => {
    if (!asked) return
    if (!scope.ran) set(PREFIX, 'ran', '1')
    paretoFront.stop()
    mapping.stop()
    ranking.start(asked, true)
  }
  // A link to a result starts the search; later changes of the scope require the button.
  useEffect(() => {
    if (scope.ran && asked && !state.running && state.of === '') ranking.start(asked)
    const text = scope.whyNot
    const base = question(scope)
    if (named(text).length > 0 && base && whyNot.state.value.of === '' && !whyNot.state.value.running)
      whyNot.start({ ...base, objective: scope.objective, top: 1, 'why-not': named(text) })
  }, [scope.ran])
  // The URL has `ran` only for the scope that was searched: a changed scope requires the button, here and in opened links.
  const before = useRef(wanted)
  useEffect(() => {
    if (before.current !== wanted && scope.ran && state.of !== wanted && state.asking !== wanted) set(PREFIX, 'ran', undefined, 'replace')
    before.current = wanted
  }, [wanted])
  // The Pareto front is searched after the ranking, because two concurrent searches would take longer than one after the other.
  const answered =
    state.answer && !state.running && state.of === wanted && state.answer.answer.complete && state.answer.answer.candidates.length > 0
  useEffect(() => {
    if (answered && edge) paretoFront.start(edge)
  }, [answered, edge && identity('search', edge)])
  // The map is last, because it searches once per pair of TP and PP.
  const mapWanted = mapped ? identity('search', mapped) : ''
  const frontDone = !answered || !edge || (!frontState.running && frontState.of === identity('search', edge))
  const mapReady = state.answer !== null && !state.running && state.of === wanted && state.answer.answer.complete && frontDone
  useEffect(() => {
    if (mapReady && mapped) mapping.start(mapped)
  }, [mapReady, mapWanted])
  useKeys([
    {
      keys: 'Escape',
      title: texts.stopTheSearch,
      group: 'Search',
      run: () => {
        const running = [ranking, mapping].find((job) => job.state.value.running)
        return running ? running.stop() : false
      },
    },
  ])

  const answer = state.answer?.answer
  const outdated = answer && !state.running && state.of !== wanted
  const load = (one: Found) => loadStrategy(one.command)
  const frontKnown = edge && frontState.of === identity('search', edge) ? (frontState.answer?.answer.candidates ?? []) : []
  const landscape = (mapState.of === mapWanted || mapState.asking === mapWanted) && (
    <Landscape state={mapState} onStop={() => mapping.stop()} />
  )
  return (
    <div class="view search">
      <ScopePanel scope={scope} ready={asked !== null} running={state.running} onStart={start} />
      <ProgressLine state={state} unit="layouts" onStop={() => ranking.stop()} />
      <RunProblems problems={state.problems} />
      {outdated && (
        <div class="outdated" role="status">
          {texts.theScopeHasChangedSince}
          <button type="button" class="button" onClick={start}>
            {texts.searchAgain}
          </button>
        </div>
      )}
      {!answer &&
        !state.running &&
        state.problems.length === 0 &&
        (asked ? <Invitation onStart={start} /> : <NoRun title={texts.noRunYet} text={texts.nameAModelAndA} />)}
      {answer && (
        <div class={state.running || outdated ? 'results stale' : 'results'} aria-busy={state.running}>
          <p class="summary muted">
            {titleOfRun(answer.title, runText.value.model)}: {amount(answer.counters.enumerated)} {texts.layoutsCovered}
            {state.took !== null && texts.inS(state.took.toFixed(1))}
            {texts.mostAreNotEvaluated}, {count(answer.found)} {texts.rankedEachFitsWithAt} {Math.round(answer.fit_probability * 100)}%
          </p>
          <NothingFits answer={answer} cluster={runParameter('cluster')} />
          {answer.candidates.length === 0 && landscape}
          {answer.candidates.length > 0 && (
            <>
              <div class="columns two">
                <Plot
                  found={answer.candidates}
                  onFront={frontKnown}
                  looking={frontState.running}
                  scope={scope}
                  line={state.answer?.commandLine}
                  pointed={pointed}
                  stale={false}
                  onPick={load}
                />
                <Winner answer={answer} onLoad={load} />
              </div>
              {answer.by_family && asked && <Cards found={answer.candidates} fastest={answer.fastest} question={asked} onPick={load} />}
              {landscape}
              <WhyNotPanel scope={scope} />
              <Ranking found={answer.candidates} filter={scope.filter} pointed={pointed} onPoint={setPointed} onPick={load} />
            </>
          )}
        </div>
      )}
    </div>
  )
}

function Invitation({ onStart }: { onStart: () => void }) {
  return (
    <Empty title={texts.searchAllLayouts} text={texts.theSearchPricesTheValid}>
      <button type="button" class="button primary" onClick={onStart}>
        {texts.search}
      </button>
      <button type="button" class="button" onClick={() => change({ 's.space': 'vp=1 cp=1' })}>
        {texts.onlyWithoutInterleavingAndContext}
      </button>
    </Empty>
  )
}

export { identify }
