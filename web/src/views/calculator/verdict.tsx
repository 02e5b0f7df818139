// Verdict above the numbers: fit, margin, largest kinds of memory in the critical stage, and changes that make the run fit, each with its
// effect and a button.
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Estimate } from '../../api/answers'
import { type Arguments, identity, withoutKeys } from '../../api/ask'
import { SETTLED, useAnswer } from '../../api/live'
import { report } from '../../api/report'
import * as format from '../../charts/format'
import { words } from '../../charts/colours'
import type { Valid } from '../../state/valid'
import { FIT } from '../parts/fit'
import { LAYOUT, fromFlags, summaryOf } from '../parts/strategy'
import type { SearchAnswer } from '../search/answer'
import { remedyWords } from '../search/nothing'
import type { WhatIf } from '../whatif/answer'
import { hold } from './holding'
import { type Remedy as Offered, candidates, remedies, searchedFor, withAuto } from './remedies'
import { set } from './scenarios'
import * as texts from '../../words/calculator'

/** Number of listed kinds of memory, largest first. */
const NAMED = 3
/** Number of listed remedies. */
const SHOWN = 3
/** Number of doublings of the devices that are tried. */
const DOUBLINGS = 7
/** Files with a layout of their own. */
const FILES = ['run', 'launch']
/** Settings that `whatif` does not take. */
const NOT_TAKEN = ['availability', 'why']

export function Verdict(props: { estimate: Estimate; letter: string; stale: boolean; question: Arguments | null; valid: Valid }) {
  const { memory } = props.estimate
  const stage = memory.stages[memory.worst]
  const fills = [...(stage?.kinds ?? [])].sort((a, b) => b.bytes - a.bytes).slice(0, NAMED)
  const where = memory.stages.length > 1 ? texts.stage3(memory.worst) : texts.aDevice
  return (
    <section
      class={`run-verdict ${FIT[memory.fit].verdict} ${props.stale ? 'stale' : ''}`}
      aria-label={props.letter ? texts.verdictOn(props.letter) : texts.verdict}
    >
      <p>
        {props.letter && <span class="letter">{props.letter}</span>}
        <strong class={`verdict ${FIT[memory.fit].verdict}`}>{FIT[memory.fit].words}</strong>{' '}
        {memory.margin >= 0
          ? texts.hasFreeOf(where, format.bytes(memory.margin), format.bytes(memory.device_memory))
          : texts.needsMoreThanTheOf(where, format.bytes(-memory.margin), format.bytes(memory.device_memory))}
        {memory.fit !== 'fits' && texts.chanceOfFitting(format.chance(memory.probability_of_fitting))}
        {memory.fit !== 'fits' && fills.length > 0 && (
          <span class="muted">
            {texts.largest} {fills.map((one) => `${words(one.kind)} ${format.bytes(one.bytes)}`).join(', ')}
          </span>
        )}
      </p>
      {memory.fit !== 'fits' && props.question && !report && (
        <Changes estimate={props.estimate} question={props.question} valid={props.valid} />
      )}
    </section>
  )
}

/** A layout that the program chose is searched again with every change, as the command line does; one that is set is only changed. */
function Changes(props: { estimate: Estimate; question: Arguments; valid: Valid }) {
  const isSet =
    Object.keys(props.question).some((key) => (LAYOUT as readonly string[]).includes(key)) || FILES.some((key) => props.question[key])
  return isSet ? <Remedies {...props} /> : <Searched {...props} />
}

/** Results of a search over all layouts: the fastest that fits, else the closest and the changes that make the run fit. */
function Searched({ estimate, question }: { estimate: Estimate; question: Arguments }) {
  const live = useAnswer<SearchAnswer>('search', searchedFor(estimate, question), SETTLED)
  if (!live.answer)
    return live.loading ? (
      <p class="muted small" role="status">
        {texts.lookingForChangesThatFit}
      </p>
    ) : null
  const { candidates, nothing_fits: nothing } = live.answer
  const [best] = candidates
  const [nearest] = nothing?.nearest_misses ?? []
  const share = (stepTime: number) => stepTime / estimate.step_time - 1
  return (
    <>
      {nearest && (
        <p class="small">
          {texts.closestLayout(summaryOf(nearest.layout), format.bytes(nearest.miss.device_memory + nearest.miss.missing))}
        </p>
      )}
      {nothing?.remedies.length === 0 && (
        <p class="small">
          {texts.noneOf} {nothing.remedies_tried} {texts.commonChangesMakesItFit}
        </p>
      )}
      <ul class={live.stale ? 'remedy-list stale' : 'remedy-list'} aria-label={texts.changesThatFit}>
        {best && (
          <Remedy
            name={summaryOf(best.layout)}
            fit="fits"
            memory={best.ranked.candidate.memory.device}
            stepTime={best.ranked.candidate.step_time}
            share={share(best.ranked.candidate.step_time)}
            apply={() => set(fromFlags(best.layout))}
          />
        )}
        {nothing?.remedies.map((one) => (
          <Remedy
            key={`${one.change}${one.devices}`}
            name={`${remedyWords(one)}: ${summaryOf(one.layout)}`}
            fit="fits"
            memory={null}
            stepTime={one.step_time}
            share={share(one.step_time)}
            apply={() => set({ gpus: String(one.devices), ...fromFlags(one.layout) })}
          />
        ))}
      </ul>
    </>
  )
}

function Remedies(props: { estimate: Estimate; question: Arguments; valid: Valid }) {
  const change = useMemo(() => candidates(props.estimate, props.valid), [props.estimate, props.valid])
  const question = withoutKeys(props.question, NOT_TAKEN)
  const live = useAnswer<WhatIf>('whatif', props.valid.size > 0 && change.length > 0 ? { ...question, change } : null, SETTLED)
  // The whole layout on auto, if a part of it is set.
  const laid = Object.keys(props.question).filter((key) => (LAYOUT as readonly string[]).includes(key))
  const onAuto = laid.length > 0 ? withoutKeys(props.question, laid) : null
  const plan = useAnswer<Estimate>('estimate', onAuto, SETTLED)
  if (!live.answer)
    return live.loading ? (
      <p class="muted small" role="status">
        {texts.lookingForChangesThatFit}
      </p>
    ) : null
  const found = remedies(live.answer.alone)
  const auto = onAuto && plan.answer && plan.answer.memory.fit !== 'does_not_fit' ? plan.answer : null
  // The layout on auto may take long to find: until then the answer is that of an older run, whose step time is no measure of this one's.
  const isOfThis = onAuto !== null && plan.of === identity('estimate', onAuto)
  if (found.length === 0 && !auto)
    return (
      <>
        <p class="small">
          {texts.noneOf} {change.length} {texts.commonChangesMakesItFit}
        </p>
        <MoreDevices estimate={props.estimate} question={props.question} laid={laid} />
      </>
    )
  return (
    <ul class={live.stale ? 'remedy-list stale' : 'remedy-list'} aria-label={texts.changesThatFit}>
      {withAuto(found.slice(0, SHOWN), auto?.memory.fit ?? null).map((one) =>
        one === 'auto' ? (
          auto && (
            <Remedy
              key="auto"
              name={texts.layoutOnAuto}
              fit={auto.memory.fit}
              memory={auto.memory.peak}
              stepTime={auto.step_time}
              share={auto.step_time / props.estimate.step_time - 1}
              pending={!isOfThis}
              apply={() => set(Object.fromEntries(laid.map((key) => [key, undefined])))}
            />
          )
        ) : (
          <Remedy key={one.name} {...one} apply={() => hold(one.settings, props.estimate)} />
        ),
      )}
    </ul>
  )
}

/** The smallest of the doubled numbers of devices with which the run fits, its layout on auto; one is tried after the other. */
function MoreDevices({ estimate, question, laid }: { estimate: Estimate; question: Arguments; laid: readonly string[] }) {
  const base = withoutKeys(question, [...laid, 'devices'])
  const run = JSON.stringify(base)
  const [tried, setTried] = useState({ run, doublings: 1 })
  // Another run starts again.
  const doublings = tried.run === run ? tried.doublings : 1
  const gpus = estimate.cluster.devices * 2 ** doublings
  const live = useAnswer<Estimate>('estimate', doublings <= DOUBLINGS ? { ...base, gpus } : null, SETTLED)
  const isOfThis = live.answer?.cluster.devices === gpus && !live.stale
  const fits = isOfThis && live.answer?.memory.fit !== 'does_not_fit'
  const isRefused = !live.loading && live.problems.length > 0
  useEffect(() => {
    if ((isOfThis && !fits) || isRefused) setTried({ run, doublings: doublings + 1 })
  }, [run, gpus, isOfThis, fits, isRefused])
  if (!fits || !live.answer) return null
  const { memory, step_time } = live.answer
  return (
    <ul class="remedy-list" aria-label={texts.changesThatFit}>
      <Remedy
        name={laid.length > 0 ? texts.devicesWithLayoutOnAuto(format.count(gpus)) : texts.onDevices(format.count(gpus))}
        fit={memory.fit}
        memory={memory.peak}
        stepTime={step_time}
        share={step_time / estimate.step_time - 1}
        apply={() => set({ ...Object.fromEntries(laid.map((key) => [key, undefined])), gpus: String(gpus) })}
      />
    </ul>
  )
}

type Row = Omit<Offered, 'settings' | 'fit' | 'memory'> & {
  fit: keyof typeof FIT
  memory: number | null
  pending?: boolean
  apply: () => void
}

/** A change with its button; a pending one has no numbers yet. */
function Remedy(props: Row) {
  return (
    <li>
      <button type="button" class="button" onClick={props.apply}>
        {texts.apply}
      </button>
      <span>
        <strong>{props.name}</strong>{' '}
        <span class="muted">
          {props.pending ? (
            texts.isComputed
          ) : (
            <>
              {FIT[props.fit].words}
              {props.memory !== null && `, ${format.bytes(props.memory)}`}
              {texts.step} {format.seconds(props.stepTime)}, {format.relative(1 + props.share, 1)} {texts.againstThisPlan}
            </>
          )}
        </span>
      </span>
    </li>
  )
}
