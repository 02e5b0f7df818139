// The plan that controls return to from a rejected run: the last one that the program accepted, else the run with its layout on auto.
// Pure, apart from `moveBack`, which sets it. Without it a control with no value that alone makes the run valid would have nothing to offer.
import type { Estimate } from '../../api/answers'
import type { Parameters } from '../../state/fragment'
import { toast } from '../../state/toasts'
import type { Valid } from '../../state/valid'
import { withoutLayout } from '../parts/strategy'
import { withHeld } from './holding'
import { edited, set } from './scenarios'
import { toAuto } from './to-auto'
import { flagTitle } from './wording'
import * as texts from '../../words/calculator'

type Values = Readonly<Record<string, string | undefined>>

/** A way back from a rejected run. */
export interface Back {
  /** Identity of the last accepted question. */
  readonly of: string
  /** Settings without a value that alone makes the run valid. */
  readonly keys: ReadonlySet<string>
}

/** What makes two runs the same job: the plan of another model or cluster says nothing about this one. */
const JOB = ['model', 'cluster', 'accelerator', 'run', 'launch'] as const

export const isSameJob = (one: Parameters, other: Parameters): boolean => JOB.every((key) => one[key] === other[key])

/** Parameters of a question, by its identity in `Live.of`; null before the first answer. */
export function askedIn(of: string): Parameters | null {
  const at = of.indexOf('{')
  if (at < 0) return null
  const asked = JSON.parse(of.slice(at)) as Record<string, unknown>
  return Object.fromEntries(Object.entries(asked).map(([key, value]) => [key, String(value)]))
}

/** Parameters that a rejected run returns to; `of` is the identity of the last accepted one. */
export function baseOf(text: Parameters, of: string): Parameters {
  const last = askedIn(of)
  return last && isSameJob(text, last) ? last : withoutLayout(text)
}

/** Settings of the rejected run that have no value of their own. */
export const stuckIn = (valid: Valid): ReadonlySet<string> =>
  new Set([...valid].filter(([, values]) => values.length === 0).map(([key]) => key))

/** Changes from one run to another. */
export function changesTo(base: Parameters, text: Parameters): Values {
  const keys = [...new Set([...Object.keys(text), ...Object.keys(base)])]
  return Object.fromEntries(keys.filter((key) => text[key] !== base[key]).map((key) => [key, base[key]]))
}

/** Sets values on the plan that is returned to, and names what else changed. */
export function moveBack(values: Values, { of }: Back, estimate: Estimate | null, history: 'push' | 'replace'): void {
  const before = edited.value
  const base = baseOf(before, of)
  const back = changesTo(base, before)
  const { all, held } = withHeld(values, base, estimate)
  const kept = { ...back, ...all }
  // Beside a size that is set, one that is not set is 1.
  const chosen = Object.fromEntries(Object.entries({ ...base, ...kept }).filter((one): one is [string, string] => one[1] !== undefined))
  const autos = Object.keys(back).filter((key) => kept[key] === undefined)
  const next = Object.assign({ ...kept }, ...autos.map((key) => toAuto(key, chosen))) as Values
  set(next, history, held)
  const others = Object.keys(back).filter((key) => !(key in values))
  if (others.length === 0) return
  toast(texts.backToAValidPlan, {
    hint: others.map((key) => `${flagTitle(key)} ${next[key] ?? texts.auto}`).join(', '),
    action: { title: texts.undo, run: () => set(Object.fromEntries(Object.keys(next).map((key) => [key, before[key]]))) },
  })
}
