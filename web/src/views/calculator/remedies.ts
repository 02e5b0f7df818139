// Changes that may make a run fit, as `whatif` takes them, with their results. Pure: the program prices them.
import type { Estimate } from '../../api/answers'
import { type Arguments, withoutKeys } from '../../api/ask'
import { ESTIMATE_ONLY, type Valid, numbersOf } from '../../state/valid'
import type { Change } from '../whatif/answer'
import { flagOf } from '../whatif/changes'
import * as texts from '../../words/calculator'

/** A change with which the run fits, with its effect on step time. */
export interface Remedy {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  readonly fit: 'fits' | 'at_risk'
  readonly stepTime: number
  /** Step time relative to the run that does not fit. */
  readonly share: number
  readonly memory: number
}

/** Readable names of changed settings. */
const NAMES: Readonly<Record<string, (value: string) => string>> = {
  recompute: (value) => (value === 'full' ? texts.fullRecompute : texts.recomputeCoreAttention),
  sharding: (value) => (value === 'fsdp' ? 'FSDP' : value === 'zero1' ? 'ZeRO-1' : value),
  'offload.optimizer': () => texts.optimizerStatesOnTheHost,
  tensor_parallel: (value) => `TP ${value}`,
  pipeline_parallel: (value) => `PP ${value}`,
  context_parallel: (value) => `CP ${value}`,
  expert_parallel: (value) => `EP ${value}`,
  micro_batch: (value) => texts.microBatch2(value),
}

/** Changes to try: each setting alone, the next larger valid sizes, and the two most promising combinations. */
export function candidates({ plan }: Pick<Estimate, 'plan'>, valid: Valid): string[] {
  const next = (flag: string, now: number) => numbersOf(valid, flag).find((value) => value > now)
  const sizes = (
    [
      ['tensor_parallel', 'tp'],
      ['pipeline_parallel', 'pp'],
      ['context_parallel', 'cp'],
      ['expert_parallel', 'ep'],
    ] as const
  ).flatMap(([key, flag]) => {
    const larger = next(flag, plan[key])
    return larger === undefined ? [] : [`${key}=${larger}`]
  })
  const smaller = numbersOf(valid, 'micro-batch').filter((value) => value < plan.micro_batch)
  const shardings = (valid.get('sharding') ?? []).filter(
    (name) => (name === 'zero1' && plan.sharding.zero_stage < 1) || (name === 'fsdp' && plan.sharding.zero_stage < 3),
  )
  const recomputes =
    plan.recompute.mode === 'full'
      ? []
      : plan.recompute.mode === 'none'
        ? ['recompute=selective:core_attention', 'recompute=full']
        : ['recompute=full']
  const offloads = plan.offload.optimizer < 1 ? ['offload.optimizer=1'] : []
  const single = [
    ...recomputes,
    ...shardings.map((name) => `sharding=${name}`),
    ...smaller.slice(0, 1).map((value) => `micro_batch=${value}`),
    ...sizes,
    ...offloads,
  ]
  const full = recomputes.at(-1)
  const pairs =
    full === undefined ? [] : [...shardings.map((name) => `sharding=${name}`), ...sizes, ...offloads].map((one) => `${one},${full}`)
  return [...single, ...pairs]
}

/** The search of `estimate` on the command line if nothing fits: all layouts, with the batch of the estimate. */
export function searchedFor({ plan }: { readonly plan: Pick<Estimate['plan'], 'global_batch'> }, question: Arguments): Arguments {
  const run = withoutKeys(question, ESTIMATE_ONLY)
  const hasBatch = ['global-batch', 'batch-tokens'].some((key) => run[key] !== undefined)
  return { ...run, ...(hasBatch ? {} : { 'global-batch': plan.global_batch }), top: 1 }
}

/** Readable form of `tensor_parallel=16,recompute=full`. */
export function nameOf(change: string): string {
  const words = change.split(',').map((part) => {
    const [key = '', value = ''] = part.split('=')
    return NAMES[key]?.(value) ?? `${key.replaceAll('_', ' ')} ${value}`
  })
  return words.join(' + ')
}

/** Changes with which the run fits, fastest first. Of changes with the same result, only the one with the fewest settings is kept. */
export function remedies(changes: readonly Change[]): Remedy[] {
  const found: Remedy[] = []
  for (const { name, outcome, moved } of changes) {
    if (outcome.outcome !== 'possible' || outcome.after.fit === 'does_not_fit') continue
    const settings = Object.fromEntries(
      name.split(',').map((part) => {
        const [key = '', value = ''] = part.split('=')
        return [flagOf(key), value]
      }),
    )
    // A change may need a recompute that the program chose: it is part of the offer, and of its name.
    const recompute = moved.find((one) => one.key === 'plan.recompute')?.after
    const also = recompute && settings.recompute === undefined && recompute !== 'none' ? texts.withRecompute(recompute) : ''
    found.push({
      name: `${nameOf(name)}${also}`,
      settings,
      fit: outcome.after.fit,
      stepTime: outcome.after.step_time,
      share: outcome.difference.share,
      memory: outcome.after.memory,
    })
  }
  const rank = (one: Remedy) => (one.fit === 'fits' ? 0 : 1)
  const sorted = found.sort(
    (a, b) => rank(a) - rank(b) || a.stepTime - b.stepTime || Object.keys(a.settings).length - Object.keys(b.settings).length,
  )
  const same = (a: Remedy, b: Remedy) => a.fit === b.fit && a.stepTime === b.stepTime && a.memory === b.memory
  return sorted.filter((one, at) => !sorted.slice(0, at).some((other) => same(one, other)))
}

/** Remedies with the layout on auto among them, if it fits: first of those with its fit, as it needs no choice. Those that fit come first. */
export function withAuto<R extends Pick<Remedy, 'fit'>>(
  found: readonly R[],
  auto: 'fits' | 'at_risk' | 'does_not_fit' | null,
): (R | 'auto')[] {
  if (auto === null || auto === 'does_not_fit') return [...found]
  const at = auto === 'fits' ? 0 : found.filter((one) => one.fit === 'fits').length
  return [...found.slice(0, at), 'auto', ...found.slice(at)]
}
