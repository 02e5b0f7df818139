// Names of settings and of their values, as shown in the controls. Which values there are, the program lists.
import { withoutHandle } from '../../api/uploads'
import * as texts from '../../words/calculator'

/** Titles of values whose names are no words; other values are shown as they are named. */
const TITLES: Readonly<Record<string, string>> = {
  '1f1b': '1F1B',
  gpipe: 'GPipe',
  'zb-h1': texts.zeroBubbleH1,
  'zb-h2': texts.zeroBubbleH2,
  'zb-v': texts.zeroBubbleV,
  dualpipe: 'DualPipe',
  none: 'None',
  zero1: 'ZeRO-1: optimizer',
  zero2: 'ZeRO-2: + gradients',
  fsdp: 'FSDP / ZeRO-3: all',
  'fsdp-no-reshard': texts.fsdpKeptAfterForward,
  'hsdp:8': texts.hsdpAmong8,
  'selective:core_attention': texts.coreAttention,
  'selective:norm,activation': texts.normsActivations,
  'selective:mlp': 'MLP',
  full: texts.wholeLayers,
}

/** Values as options with their titles; `chunks` virtual stages make 1F1B the interleaved schedule. */
export function optionsOf(values: readonly string[], chunks = 1): readonly (readonly [string, string])[] {
  return values.map((value) => [value, value === '1f1b' && chunks > 1 ? texts.interleaved1F1b : (TITLES[value] ?? value)] as const)
}

export const OVERLAPS: readonly (readonly ['gradient_reduce' | 'parameter_gather' | 'tensor' | 'pipeline' | 'expert', string, string])[] = [
  ['gradient_reduce', texts.gradientReduction, texts.overlapGradientReductionWithThe],
  ['parameter_gather', texts.parameterAllGather, texts.overlapParameterAllGatherWith],
  ['tensor', texts.tensorParallel, texts.overlapTensorParallelCommunicationWith],
  ['pipeline', texts.pipelineTransfers, texts.overlapPipelineSendAndReceive],
  ['expert', texts.expertAllToAll, texts.overlapExpertAllToAll],
]

/** Sharding of a plan as its flag. */
export function shardingText(sharding: {
  readonly zero_stage: number
  readonly group: number | null
  readonly reshard_after_forward: boolean
}): string {
  if (sharding.zero_stage === 3)
    return sharding.group ? `hsdp:${sharding.group}` : sharding.reshard_after_forward ? 'fsdp' : 'fsdp-no-reshard'
  const name = sharding.zero_stage === 0 ? 'none' : `zero${sharding.zero_stage}`
  return sharding.group ? `${name}:${sharding.group}` : name
}

/** Recompute of a plan as its flag. */
export function recomputeText(recompute: {
  readonly mode: string
  readonly layers?: number | null
  readonly modules?: readonly string[]
}): string {
  const modules = recompute.modules?.length ? `:${recompute.modules.join(',')}` : ''
  return `${recompute.mode}${modules}${recompute.layers ? `:${recompute.layers}` : ''}`
}

/** Readable name of a flag, for the list of differences. */
export function flagTitle(flag: string): string {
  return (
    (
      {
        tp: texts.tensorParallel2,
        pp: texts.pipelineStages2,
        cp: texts.contextParallel2,
        vp: texts.virtualStages2,
        ep: texts.expertParallel2,
        etp: texts.expertTensorParallel2,
        gpus: 'devices',
        dp: texts.dataParallel2,
      } as Record<string, string>
    )[flag] ?? flag.replaceAll('-', ' ')
  )
}

/** Title of an answer that starts with the model's name. */
export function titleOfRun(title: string, given: string | undefined): string {
  const at = title.indexOf(', ')
  return at < 0 ? title : `${nameOfModel(title.slice(0, at), given)}${title.slice(at)}`
}

/** A model's name: an uploaded file is called what the user called it, not by its place on the server. */
export function nameOfModel(name: string, given: string | undefined): string {
  const file = withoutHandle(given ?? '')
  return /^upload:[^/]+$/.test(name) && file !== (given ?? '') ? file : name
}
