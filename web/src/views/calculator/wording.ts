// Names and choices of the plan as the controls write them.

export const SCHEDULES: readonly (readonly [string, string])[] = [
  ['1f1b', '1F1B'],
  ['gpipe', 'GPipe'],
  ['zb-h1', 'Zero bubble H1'],
  ['zb-h2', 'Zero bubble H2'],
  ['zb-v', 'Zero bubble V'],
  ['dualpipe', 'DualPipe'],
]

export const SHARDINGS: readonly (readonly [string, string])[] = [
  ['none', 'None'],
  ['zero1', 'ZeRO-1: optimizer'],
  ['zero2', 'ZeRO-2: + gradients'],
  ['fsdp', 'FSDP / ZeRO-3: all'],
  ['fsdp-no-reshard', 'FSDP, kept after forward'],
  ['hsdp:8', 'HSDP among 8'],
]

export const RECOMPUTES: readonly (readonly [string, string])[] = [
  ['none', 'None'],
  ['selective:core_attention', 'Core attention'],
  ['selective:norm,activation', 'Norms, activations'],
  ['selective:mlp', 'MLP'],
  ['full', 'Whole layers'],
]

export const PRECISIONS = ['bf16', 'fp16', 'fp8', 'mxfp8', 'nvfp4', 'int8', 'tf32', 'fp32'] as const

export const OVERLAPS: readonly (readonly ['gradient_reduce' | 'parameter_gather' | 'tensor' | 'pipeline' | 'expert', string, string])[] = [
  ['gradient_reduce', 'Gradient reduction', 'Overlap gradient reduction with the backward pass'],
  ['parameter_gather', 'Parameter all-gather', 'Overlap parameter all-gather with the forward pass'],
  ['tensor', 'Tensor parallel', 'Overlap tensor-parallel communication with GEMMs'],
  ['pipeline', 'Pipeline transfers', 'Overlap pipeline send and receive with compute'],
  ['expert', 'Expert all-to-all', 'Overlap expert all-to-all with compute'],
]

/** A plan's sharding as the flag writes it. */
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

/** A plan's recompute as the flag writes it. */
export function recomputeText(recompute: {
  readonly mode: string
  readonly layers?: number | null
  readonly modules?: readonly string[]
}): string {
  const modules = recompute.modules?.length ? `:${recompute.modules.join(',')}` : ''
  return `${recompute.mode}${modules}${recompute.layers ? `:${recompute.layers}` : ''}`
}

/** A flag as a person says it, for the list of differences. */
export function flagTitle(flag: string): string {
  return (
    (
      {
        tp: 'tensor parallel',
        pp: 'pipeline stages',
        cp: 'context parallel',
        vp: 'virtual stages',
        ep: 'expert parallel',
        etp: 'expert tensor parallel',
        gpus: 'devices',
        dp: 'data parallel',
      } as Record<string, string>
    )[flag] ?? flag.replaceAll('-', ' ')
  )
}
