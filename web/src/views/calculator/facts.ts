// What the rules and the controls must know beside the parameters: the model's shapes, the cluster's formats, and the plan
// as the program completed it. Refuses to guess: what is unknown restricts nothing.
import type { Accelerator, ClusterEntry, Estimate, ModelShown, Plan } from '../../api/answers'
import { type Live, useAnswer } from '../../api/live'
import type { Parameters } from '../../state/fragment'
import { type Degrees, type Facts, modelFacts } from '../../state/rules'

/** Facts of a scenario; null until the model's shapes or a first estimate came. */
export function useFacts(text: Parameters, estimate: Estimate | null, accelerators: readonly Accelerator[]): Facts | null {
  const shown: Live<ModelShown> = useAnswer<ModelShown>('models/show', text.model ? { name: text.model } : null)
  const model = shown.answer && !shown.loading && shown.problems.length === 0 ? modelFacts(shown.answer.model) : null
  if (!estimate && !model) return null
  const peak = accelerators.find((one) => one.id === (estimate?.cluster.accelerator ?? text.cluster))?.peak ?? {}
  return {
    devices: number(text.gpus) ?? estimate?.cluster.devices ?? 8,
    devicesPerNode: estimate?.cluster.devices_per_node ?? 1,
    layers: model?.layers ?? estimate?.model.layers ?? 1,
    heads: model?.heads ?? [],
    widths: model?.widths ?? [],
    expertWidths: model?.expertWidths ?? [],
    experts: model ? model.experts : estimate && estimate.plan.expert_parallel > 1 ? estimate.plan.expert_parallel * 8 : null,
    longest: model?.longest ?? null,
    formats: Object.keys(peak),
  }
}

/** What the controls show before the program could complete a plan: what it does by default. */
export const ASSUMED: Plan = {
  tensor_parallel: 1,
  sequence_parallel: true,
  pipeline_parallel: 1,
  virtual_stages: 1,
  context_parallel: 1,
  context_kind: 'ring',
  data_parallel: 1,
  expert_parallel: 1,
  expert_tensor_parallel: 1,
  sharding: { zero_stage: 1, group: null, reshard_after_forward: false },
  micro_batch: 1,
  global_batch: 512,
  sequence_length: 8192,
  precision: { compute: 'bf16' },
  optimizer: 'adam',
  recompute: { mode: 'none' },
  offload: { optimizer: 0, activations: 0, parameters: 0 },
  schedule: '1f1b',
  overlap: { gradient_reduce: true, parameter_gather: true, tensor: false, pipeline: false, expert: false },
  software: '',
}

/** A plan's degrees: as said, else as the program completed it. */
export function degreesOf(text: Parameters, plan: Estimate['plan']): Degrees {
  return {
    tp: number(text.tp) ?? plan.tensor_parallel,
    pp: number(text.pp) ?? plan.pipeline_parallel,
    cp: number(text.cp) ?? plan.context_parallel,
    vp: number(text.vp) ?? plan.virtual_stages,
    ep: number(text.ep) ?? plan.expert_parallel,
    etp: number(text.etp) ?? plan.expert_tensor_parallel,
    microBatch: number(text['micro-batch']) ?? plan.micro_batch,
    globalBatch: number(text['global-batch']) ?? plan.global_batch,
    batchFollows: text['global-batch'] === undefined,
    sequence: number(text['sequence-length']) ?? plan.sequence_length,
    sequenceParallel: text['sequence-parallel'] ? text['sequence-parallel'] === 'true' : plan.sequence_parallel,
    uneven: text['uneven-stages'] === 'true' || text['layers-per-stage'] !== undefined,
    schedule: text.schedule ?? plan.schedule,
    ulysses: plan.context_kind === 'ulysses',
  }
}

/** Everything with the accelerators: presets first. */
export function acceleratorsOf(clusters: readonly ClusterEntry[], gpus: readonly Accelerator[]): readonly Accelerator[] {
  return [...clusters.map((cluster) => cluster.accelerator), ...gpus]
}

function number(text: string | undefined): number | undefined {
  const value = text === undefined ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}
