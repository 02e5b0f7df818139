// The calculator: model, cluster and plan on the left; time, memory, communication and cost on the right, updated at every change. Two
// scenarios can be compared. `estimate` and `memory` compute the numbers.
import { useEffect, useMemo, useState } from 'preact/hooks'
import './calculator.css'
import type { Accelerator, ClusterEntry, Estimate, Memory, ModelEntry, ValidValues } from '../../api/answers'
import { type Arguments, type Problem, withoutKeys } from '../../api/ask'
import { type Live, REST, askOnce, useDrawn, useFollow } from '../../api/live'
import { report } from '../../api/report'
import { start } from '../../api/start'
import { change, location } from '../../state/location'
import type { Parameters } from '../../state/fragment'
import { planSummary, run, runB, runText, runTextB, toArguments } from '../../state/run'
import { ESTIMATE_ONLY, type Valid, validOf, validWith, valuesQuestion } from '../../state/valid'
import { Empty, Loading, Problems, type Suggestion } from '../../ui/states'
import { useLater } from '../../ui/later'
import { Breakdown } from './breakdown'
import { Blame } from './blame'
import { Controls } from './controls'
import { acceleratorsOf } from './facts'
import { Headlines } from './headline'
import { HOLDING, heldPlan } from './holding'
import { type Back, askedIn, baseOf, isSameJob, stuckIn } from './last-valid'
import { MemoryInside, MemoryOverTime } from './memory-inside'
import { MemoryStages, chosenStage } from './memory-stages'
import { NearRuns } from './near'
import { Notes } from './notes'
import { edited, editing, kept, set } from './scenarios'
import { suggestions } from './suggestions'
import { CommunicationTable, StageTable } from './tables'
import { Toolbar } from './toolbar'
import { Verdict } from './verdict'
import * as texts from '../../words/calculator'

/** Run that is shown first, if no run is specified. */
const FIRST = {
  model: 'llama-3.1-405b',
  cluster: 'dgx-h100',
  gpus: '1024',
  tp: '8',
  cp: '2',
  pp: '16',
  'uneven-stages': 'true',
  'global-batch': '512',
  tokens: '15.6T',
}

const complete = (values: Arguments | null) =>
  values && (values.run || values.launch || (values.model && (values.cluster || values.accelerator))) ? values : null

function memoryQuestion(values: Arguments | null): Arguments | null {
  if (!complete(values) || !values) return null
  const stage = kept.value.stage
  return {
    ...withoutKeys(values, ESTIMATE_ONLY),
    ...(stage === undefined ? {} : { stage }),
  }
}

export default function Calculator() {
  // A link to the calculator alone, also while it is open, shows the first run.
  const isEmpty = Object.keys(runText.value).length === 0
  useEffect(() => void (isEmpty && begin()), [isEmpty])
  const ofA = useFollow<Estimate>('estimate', () => complete(run.value))
  const ofB = useFollow<Estimate>('estimate', () => complete(runB.value))
  const [a, b] = [ofA.value, ofB.value]
  const memoryA = useFollow<Memory>('memory', () => memoryQuestion(run.value), REST).value
  const memoryB = useFollow<Memory>('memory', () => memoryQuestion(runB.value), REST).value
  const edits = () => (editing.value === 'b' ? ofB : ofA).value
  const own = useValid(() => ({ text: edited.value, answer: edits().answer }))
  // A rejected run lists values only of settings that alone make it valid; the others have those of the plan that they return to.
  const returned = useValid(() => {
    const { problems, of, answer } = edits()
    return problems.length === 0 ? null : { text: baseOf(edited.value, of), answer }
  })
  const catalogue = useCatalogue()
  const plan = a.problems.length === 0 ? (a.answer?.plan_summary ?? '') : ''
  useEffect(() => {
    planSummary.value = plan
    return () => (planSummary.value = '')
  }, [plan])
  const [railOpen, setRailOpen] = useState(false)
  const two = runB.value !== null
  const shownA = answerOf(a, () => runText.value)
  const shownB = two ? answerOf(b, () => runTextB.value) : null
  const edit = editing.value === 'b' ? b : a
  const accelerators = useMemo(() => acceleratorsOf(catalogue.clusters, catalogue.accelerators), [catalogue])
  // Signals that the settings read draw them again by themselves: a question on its way does not.
  const estimate = (editing.value === 'b' ? shownB : null) ?? shownA
  const isRefused = edit.problems.length > 0
  const back = useMemo<Back | null>(
    () => (isRefused && returned.size > 0 ? { of: edit.of, keys: stuckIn(own) } : null),
    [isRefused, returned, own, edit.of],
  )
  const valid = useMemo(() => (back ? validWith(own, returned, [...back.keys]) : own), [own, back, returned])
  const controls = useMemo(
    () => (
      <Controls
        estimate={estimate}
        models={catalogue.models}
        clusters={catalogue.clusters}
        accelerators={accelerators}
        valid={valid}
        refused={isRefused}
        back={back}
      />
    ),
    [estimate, catalogue, accelerators, valid, isRefused, back],
  )
  const toolbar = useMemo(
    () => <Toolbar a={shownA} b={shownB} commandA={a.commandLine} commandB={b.commandLine} />,
    [shownA, shownB, a.commandLine, b.commandLine],
  )
  return (
    <div class="calculator" aria-busy={a.loading || b.loading || memoryA.loading || memoryB.loading}>
      <button type="button" class="button rail-toggle" aria-expanded={railOpen} onClick={() => setRailOpen(!railOpen)}>
        {railOpen ? texts.closeTheSettings : texts.changeTheRun}
      </button>
      <aside class={`rail ${railOpen ? 'open' : ''}`} aria-label={texts.settings} tabIndex={report ? 0 : undefined}>
        {controls}
      </aside>
      <div class="results">
        {toolbar}
        <Refused live={a} letter={two ? 'A' : ''} estimate={shownA} valid={editing.value === 'a' ? own : null} />
        {two && <Refused live={b} letter="B" estimate={shownB ?? shownA} valid={editing.value === 'b' ? own : null} />}
        {shownA ? (
          <Results a={a} b={two ? b : null} memoryA={memoryA} memoryB={two ? memoryB : null} valid={valid} />
        ) : (
          a.problems.length === 0 && <Waiting />
        )}
      </div>
    </div>
  )
}

/** The answer, unless the run is rejected and the numbers are those of another model or cluster. */
function answerOf({ problems, of, answer }: Live<Estimate>, text: () => Parameters): Estimate | null {
  const asked = problems.length > 0 ? askedIn(of) : null
  return asked && !isSameJob(text(), asked) ? null : answer
}

/** Valid values of a run's settings; `null` asks nothing. */
function useValuesOf(text: () => Parameters | null): ValidValues | null {
  return useFollow<ValidValues>(
    'values',
    () => {
      const asked = text()
      return asked && valuesQuestion(toArguments(asked))
    },
    REST,
  ).value.answer
}

/** Valid values of a run. A size that is set holds the others of an auto plan: its values are those valid with the plan that is shown. */
function useValid(question: () => { readonly text: Parameters; readonly answer: Estimate | null } | null): Valid {
  const asked = () => (report ? null : question())
  const free = useValuesOf(() => asked()?.text ?? null)
  const held = useValuesOf(() => {
    const run = asked()
    const plan = run ? heldPlan(run.text, run.answer) : {}
    return run && Object.keys(plan).length > 0 ? { ...run.text, ...plan } : null
  })
  // Chunks follow the number of stages.
  const stages = useValuesOf(() => {
    const run = asked()
    const { vp, ...plan } = run ? heldPlan(run.text, run.answer) : {}
    return run && vp !== undefined && vp !== '1' ? { ...run.text, ...plan } : null
  })
  return useMemo(() => validWith(validWith(validOf(free), validOf(held), HOLDING), validOf(stages), ['pp']), [free, held, stages])
}

interface Shown {
  readonly a: Live<Estimate>
  readonly b: Live<Estimate> | null
  readonly memoryA: Live<Memory>
  readonly memoryB: Live<Memory> | null
  /** Valid values of the edited scenario. */
  readonly valid: Valid
}

/** Key figures immediately, charts one frame later, so that the numbers of a slider never wait for charts. */
function Results(props: Shown) {
  const a = props.a.answer
  const b = props.b?.answer ?? null
  const [stale, staleB] = [props.a.stale, props.b?.stale ?? false]
  const headlines = useMemo(() => a && <Headlines a={a} b={b} stale={stale} staleB={staleB} />, [a, b, stale, staleB])
  if (!a) return null
  return (
    <>
      <div class={`first ${refused(props) ? 'outdated' : ''}`} data-of={props.a.of} data-of-b={props.b?.of}>
        <Verdict
          estimate={a}
          letter={b ? 'A' : ''}
          stale={props.a.stale}
          question={editing.value === 'a' ? complete(run.value) : null}
          valid={props.valid}
        />
        {b && props.b && (
          <Verdict
            estimate={b}
            letter="B"
            stale={props.b.stale}
            question={editing.value === 'b' ? complete(runB.value) : null}
            valid={props.valid}
          />
        )}
        {headlines}
      </div>
      <Panels a={props.a} b={props.b} memoryA={props.memoryA} memoryB={props.memoryB} />
    </>
  )
}

/** True if the current plan is rejected: the last numbers stay readable, without colour. */
const refused = (props: Pick<Shown, 'a' | 'b'>) => props.a.problems.length > 0 || (props.b?.problems.length ?? 0) > 0

function Panels(props: Omit<Shown, 'valid'>) {
  const liveA = useLater(useDrawn(props.a))
  const liveB = useLater(useDrawn(props.b))
  const memory = useLater(useDrawn(props.memoryA))
  const memoryB = useLater(useDrawn(props.memoryB))
  return useMemo(() => <Drawn a={liveA} b={liveB} memoryA={memory} memoryB={memoryB} />, [liveA, liveB, memory, memoryB])
}

function Drawn(props: Omit<Shown, 'valid'>) {
  const a = props.a.answer
  const b = props.b?.answer ?? null
  if (!a) return null
  const dimA = props.a.stale
  const dimB = props.b?.stale ?? false
  const either = dimA || dimB
  const memory = props.memoryA
  return (
    <div class={`panels ${b ? 'of-two' : ''} ${refused(props) ? 'outdated' : ''}`}>
      <Breakdown a={a} b={b} stale={either} />
      <MemoryStages a={a} b={b} stale={either} />
      <MemoryInside live={memory} stage={chosenStage(a)} letter={b ? 'A: ' : ''} />
      <MemoryOverTime a={memory} b={b ? props.memoryB : null} />
      {b && props.memoryB && <MemoryInside live={props.memoryB} stage={chosenStage(b)} letter="B: " />}
      <CommunicationTable a={a} b={b} stale={either} />
      {a.stages.length > 1 && <StageTable estimate={a} letter={b ? 'A' : ''} stale={dimA} />}
      {b && b.stages.length > 1 && <StageTable estimate={b} letter="B" stale={dimB} />}
      <NearRuns estimate={a} />
      <Notes a={a} b={b} remarks={[...props.a.notes, ...(props.b?.notes ?? [])]} stale={either} />
    </div>
  )
}

function Refused(props: { live: Live<Estimate>; letter: string; estimate: Estimate | null; valid: Valid | null }) {
  const { problems } = props.live
  if (problems.length === 0) return null
  const suggest = (problem: Problem): readonly Suggestion[] =>
    suggestions(problem).map((one) => ({ title: one.title, run: () => set(one.values) }))
  return (
    <div class="refused-banner">
      {props.letter && (
        <p class="muted">
          {texts.scenario} {props.letter}
        </p>
      )}
      {!report && props.valid && <Blame valid={props.valid} />}
      <Problems problems={problems} suggest={report ? undefined : suggest} />
      {props.estimate && <p class="muted small">{texts.theNumbersBelowAreThose}</p>}
    </div>
  )
}

function Waiting() {
  const { parameters } = location.value
  if (parameters.model && !parameters.cluster && !parameters.accelerator) {
    return <Empty title={texts.whichCluster} text={texts.chooseASystemOrAn} />
  }
  if (!parameters.model && Object.keys(parameters).length > 0) return <Empty title={texts.whichModel} text={texts.chooseOneOnTheLeft} />
  return (
    <>
      <Searching />
      <Loading heights={[86, 260, 300]} label={texts.computing} />
    </>
  )
}

/** Message during the search for a layout, which starts if no common one fits; it takes long if none fits at all. */
function Searching() {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 1500)
    return () => clearTimeout(timer)
  }, [])
  if (!isLong) return null
  return (
    <p class="muted searching" role="status">
      {texts.noCommonLayoutFitsAll}
    </p>
  )
}

/** Initial state: the arguments of the server, else an example. */
async function begin(): Promise<void> {
  if (report || Object.keys(runText.value).length > 0) return
  const given = await start().then(
    ({ run }) => run,
    () => null,
  )
  if (Object.keys(runText.value).length > 0) return
  const text = given
    ? Object.fromEntries(
        Object.entries(given)
          .filter(([, value]) => value !== false && value != null)
          .map(([key, value]) => [key, String(value)]),
      )
    : {}
  change(Object.keys(text).length > 0 ? text : FIRST, 'replace')
}

interface Catalogue {
  readonly models: readonly ModelEntry[]
  readonly clusters: readonly ClusterEntry[]
  readonly accelerators: readonly Accelerator[]
}

function useCatalogue(): Catalogue {
  const [catalogue, setCatalogue] = useState<Catalogue>({ models: [], clusters: [], accelerators: [] })
  useEffect(() => {
    if (report) return
    void Promise.all([
      askOnce<{ models: ModelEntry[] }>('models/list'),
      askOnce<{ clusters: ClusterEntry[] }>('clusters/list'),
      askOnce<{ accelerators: Accelerator[] }>('gpus/list'),
    ]).then(
      ([models, clusters, gpus]) =>
        setCatalogue({ models: models.answer.models, clusters: clusters.answer.clusters, accelerators: gpus.answer.accelerators }),
      () => undefined,
    )
  }, [])
  return catalogue
}
