// Data for the controls: the resolved plan, and the accelerators of the catalogue.
import type { Accelerator, ClusterEntry, Estimate, Plan } from '../../api/answers'
import type { Parameters } from '../../state/fragment'

/** Numbers shown by the steppers. */
export interface Degrees {
  readonly gpus: number
  readonly tp: number
  readonly pp: number
  readonly cp: number
  readonly vp: number
  readonly ep: number
  readonly etp: number
  readonly 'micro-batch': number
  readonly 'global-batch': number
  readonly 'sequence-length': number
}

/** Values of the controls before the plan is resolved. */
export const ASSUMED: Pick<
  Plan,
  | 'tensor_parallel'
  | 'sequence_parallel'
  | 'pipeline_parallel'
  | 'virtual_stages'
  | 'context_parallel'
  | 'expert_parallel'
  | 'expert_tensor_parallel'
  | 'sharding'
  | 'micro_batch'
  | 'global_batch'
  | 'sequence_length'
  | 'recompute'
  | 'schedule'
  | 'overlap'
> & { precision: Pick<Plan['precision'], 'compute'> } = {
  tensor_parallel: 1,
  sequence_parallel: true,
  pipeline_parallel: 1,
  virtual_stages: 1,
  context_parallel: 1,
  expert_parallel: 1,
  expert_tensor_parallel: 1,
  sharding: { zero_stage: 1, group: null, reshard_after_forward: false },
  micro_batch: 1,
  global_batch: 512,
  sequence_length: 8192,
  precision: { compute: 'bf16' },
  recompute: { mode: 'none' },
  schedule: '1f1b',
  overlap: { gradient_reduce: true, parameter_gather: true, tensor: false, pipeline: false, expert: false },
}

/** Numbers of a run: as specified, else as resolved. */
export function degreesOf(text: Parameters, estimate: Estimate | null): Degrees {
  const plan = estimate?.plan ?? ASSUMED
  return {
    gpus: number(text.gpus) ?? estimate?.cluster.devices ?? 8,
    tp: number(text.tp) ?? plan.tensor_parallel,
    pp: number(text.pp) ?? plan.pipeline_parallel,
    cp: number(text.cp) ?? plan.context_parallel,
    vp: number(text.vp) ?? plan.virtual_stages,
    ep: number(text.ep) ?? plan.expert_parallel,
    etp: number(text.etp) ?? plan.expert_tensor_parallel,
    'micro-batch': number(text['micro-batch']) ?? plan.micro_batch,
    'global-batch': number(text['global-batch']) ?? plan.global_batch,
    'sequence-length': number(text['sequence-length']) ?? plan.sequence_length,
  }
}

/** All clusters and accelerators, presets first. */
export function acceleratorsOf(clusters: readonly ClusterEntry[], gpus: readonly Accelerator[]): readonly Accelerator[] {
  return [...clusters.map((cluster) => cluster.accelerator), ...gpus]
}

function number(text: string | undefined): number | undefined {
  const value = text === undefined ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** Number of devices of each kind: `16 × H100 SXM5 80GB + 16 × A100 SXM4 80GB`. Pure. */
export function devicesOf({
  devices,
  accelerator_name,
  pools = [],
}: Pick<Estimate['cluster'], 'devices' | 'accelerator_name' | 'pools'>): string {
  const others = pools.reduce((sum, pool) => sum + pool.devices, 0)
  const kinds = [{ devices: devices - others, accelerator_name }, ...pools]
  return kinds.map((kind) => `${kind.devices.toLocaleString('en')} × ${kind.accelerator_name}`).join(' + ')
}

export interface Pool {
  readonly name: string
  /** Number of devices as text; empty until it is set. */
  readonly devices: string
}

/** `dgx-a100:16,dgx-v100:8` to its kinds. Pure. */
export function poolsOf(text: string): readonly Pool[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
    .map((one) => {
      const at = one.lastIndexOf(':')
      return at < 0 ? { name: one, devices: '' } : { name: one.slice(0, at), devices: one.slice(at + 1) }
    })
}

export const poolsText = (pools: readonly Pool[]): string => pools.map(({ name, devices }) => `${name}:${devices}`).join(',')
