// Sizes of an auto plan that are held while one of them is set: the program takes a plan with any size set as given, and the others as 1.
// Pure, apart from `hold`, which sets them.
import type { Estimate } from '../../api/answers'
import type { Parameters } from '../../state/fragment'
import { toast } from '../../state/toasts'
import { edited, set } from './scenarios'
import { flagTitle } from './wording'
import * as texts from '../../words/calculator'

/** Sizes of a layout, with the keys of the plan. */
const SIZES = [
  ['tp', 'tensor_parallel'],
  ['pp', 'pipeline_parallel'],
  ['vp', 'virtual_stages'],
  ['cp', 'context_parallel'],
  ['ep', 'expert_parallel'],
  ['etp', 'expert_tensor_parallel'],
] as const

/** Settings with which the program searches no layout. */
const CLOSING = ['tp', 'pp', 'cp', 'ep', 'dp', 'sharding', 'fsdp', 'hsdp', 'run', 'launch']
/** Settings that hold the sizes of an auto plan when they are set. */
export const HOLDING: readonly string[] = [...SIZES.map(([flag]) => flag), 'sharding', 'schedule']

type Answered = Pick<Estimate, 'chosen' | 'plan' | 'model'>

/** Sizes that the program chose, as settings; empty if the layout is not auto. */
export function heldPlan(text: Parameters, estimate: Answered | null): Record<string, string> {
  const isAuto = estimate?.chosen.some((one) => one.startsWith('layout:')) ?? false
  if (!estimate || !isAuto || CLOSING.some((key) => text[key] !== undefined)) return {}
  const { plan, model } = estimate
  const ofExperts = (flag: string) => flag === 'ep' || flag === 'etp'
  const found: Record<string, string> = {}
  for (const [flag, key] of SIZES) {
    if (text[flag] === undefined && (!ofExperts(flag) || model.parameters.routed_experts > 0)) found[flag] = String(plan[key])
  }
  const isUneven = plan.layers_per_stage !== null && text['uneven-stages'] === undefined && text['layers-per-stage'] === undefined
  return isUneven ? { ...found, 'uneven-stages': 'true' } : found
}

type Values = Readonly<Record<string, string | undefined>>

/** Virtual stages on another number of stages, so that chunks keep their layers; `undefined` if none do. */
function chunksOf(plan: Readonly<Record<string, string>>, stages: string): Values {
  if (plan.vp === undefined || plan.vp === '1' || plan.pp === undefined) return {}
  const chunks = (Number(plan.pp) * Number(plan.vp)) / Number(stages)
  return { vp: Number.isInteger(chunks) ? String(chunks) : undefined }
}

/** Values with the sizes of an auto plan that are held with them, and the names of these. */
export function withHeld(
  values: Values,
  text: Parameters,
  estimate: Answered | null,
): { readonly all: Values; readonly held: readonly string[] } {
  const holds = Object.entries(values).some(([key, value]) => HOLDING.includes(key) && value !== undefined)
  const plan = holds ? heldPlan(text, estimate) : {}
  // One stage has neither chunks nor an uneven distribution.
  const single = values.pp === '1' ? { vp: undefined, 'uneven-stages': undefined } : {}
  const kept = { ...plan, ...(values.pp === undefined ? {} : chunksOf(plan, values.pp)) }
  const held = Object.fromEntries(
    Object.entries(kept).filter(([key, value]) => value !== undefined && !(key in values) && !(key in single)),
  )
  return { all: { ...held, ...single, ...values }, held: Object.keys(held) }
}

/** A schedule, with virtual stages on auto: the program lists schedules as valid with their own number of them. */
export const ofSchedule = (schedule: string | undefined): Values => ({ schedule, vp: undefined })

/** Sets values; the sizes that the program chose are held if one of the values ends its search for a layout. */
export function hold(values: Values, estimate: Answered | null, history: 'push' | 'replace' = 'push'): void {
  const { all, held } = withHeld(values, edited.value, estimate)
  const before = Object.fromEntries(Object.keys(all).map((key) => [key, edited.value[key]]))
  set(all, history, held)
  if (held.length === 0) return
  const shown = held.filter((key) => all[key] !== '1')
  const list = shown.map((key) => (all[key] === 'true' ? flagTitle(key) : `${flagTitle(key)} ${all[key]}`)).join(', ')
  toast(texts.theOtherSizesAreHeld, {
    hint: texts.keptUntilReset(list),
    action: { title: texts.undo, run: () => set(before) },
  })
}
