// Families of layouts: one per combination of TP, PP, CP, EP and sharding. Pure.
import type { Plan } from '../../api/answers'
import { shardingText } from '../calculator/wording'
import { relative } from '../../charts/format'
import * as texts from '../../words/search'
import type { Found } from './answer'

type Shape = Pick<Plan, 'tensor_parallel' | 'pipeline_parallel' | 'context_parallel' | 'expert_parallel' | 'sharding'>

const SHARDING: Readonly<Record<string, string>> = {
  none: texts.noSharding,
  zero1: 'ZeRO-1',
  zero2: 'ZeRO-2',
  fsdp: 'FSDP',
  'fsdp-no-reshard': texts.fsdpNoReshard,
}

/** Name of a family: `TP8 PP2, ZeRO-1`; sizes of 1 are omitted. */
export function titleOf(plan: Shape): string {
  const sizes = (
    [
      ['TP', plan.tensor_parallel],
      ['CP', plan.context_parallel],
      ['PP', plan.pipeline_parallel],
      ['EP', plan.expert_parallel],
    ] as const
  ).filter(([, size]) => size > 1)
  const sharding = shardingText(plan.sharding)
  return `${sizes.map(([name, size]) => `${name}${size}`).join(' ') || texts.dataParallelOnly}, ${SHARDING[sharding] ?? sharding}`
}

/** A family as restrictions of a search. */
export function spaceOf(plan: Shape): string[] {
  return [
    `tp=${plan.tensor_parallel}`,
    `pp=${plan.pipeline_parallel}`,
    `cp=${plan.context_parallel}`,
    `ep=${plan.expert_parallel}`,
    `sharding=${shardingText(plan.sharding)}`,
  ]
}

/** Standing of a layout: the recommended one is the simplest of the tie; `fastest` is the fastest of the search if it is another one. */
export function standingOf(one: Found, fastest: Found | null): string {
  const { behind, candidate } = one.ranked
  if (behind === 0) return fastest ? texts.recommended : texts.recommendedAndFastest
  const isFastest = fastest !== null && behind <= fastest.ranked.behind
  const parts = [relative(1 + behind, 1), isFastest ? texts.fastest : '', candidate.tied_with_best ? texts.tie : '']
  return parts.filter(Boolean).join(', ')
}

/** True if a layout of this step time is as fast as the recommended one within the model error: a slower layout is tied with the best. */
export function isTied(seconds: number, found: readonly Pick<Found, 'ranked'>[]): boolean {
  const first = found[0]
  if (!first) return false
  return [first, ...found.filter((one) => one.ranked.candidate.tied_with_best)].some((one) => seconds <= one.ranked.candidate.step_time)
}
