// Made from docs/reference/schema/recompute.json by scripts/types.mjs.

/**
 * Kind of memory.
 */
export type Kind =
  | 'parameters'
  | 'gradients'
  | 'master_weights'
  | 'optimizer_moments'
  | 'narrow_weights'
  | 'activations'
  | 'working_set'
  | 'logits'
  | 'communication_buffers'
  | 'optimizer_temporaries'
  | 'workspace'
  | 'fragmentation'
  | 'context'
/**
 * Sharding of a sequence over ranks.
 */
export type ContextKind = 'ring' | 'all_gather' | 'ulysses'
/**
 * Which parallel dimension takes neighbouring ranks, innermost first.
 */
export type RankOrder = 'tp-cp-ep-dp-pp' | 'tp-cp-pp-ep-dp'
/**
 * A number format of tensors or of matrix products.
 */
export type DataType = 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
/**
 * An optimizer.
 */
export type Optimizer = 'adam' | 'sgd' | 'lion' | 'muon' | 'adafactor' | 'lora'
/**
 * A module that gets adapters, by PEFT's or Megatron's name.
 */
export type LoraTarget =
  | 'all-linear'
  | 'linear_qkv'
  | 'linear_fc1'
  | 'q_proj'
  | 'k_proj'
  | 'v_proj'
  | 'o_proj'
  | 'gate_proj'
  | 'up_proj'
  | 'down_proj'
  | 'experts'
  | 'q_a_proj'
  | 'q_b_proj'
  | 'kv_a_proj_with_mqa'
  | 'kv_b_proj'
  | 'in_proj'
  | 'out_proj'
/**
 * What the backward pass computes again instead of keeping.
 */
export type Recompute =
  | {
      mode: 'none'
    }
  | {
      mode: 'selective'
      /**
       * Selection.
       */
      modules: RecomputeModule[]
      /**
       * Layers per stage that do; `None` is all.
       */
      layers: number | null
    }
  | {
      mode: 'full'
      /**
       * Layers per stage that do; `None` is all.
       */
      layers: number | null
    }
/**
 * A part of a layer that can be recomputed.
 */
export type RecomputeModule =
  'core_attention' | 'norm' | 'activation' | 'mlp' | 'moe' | 'latent_up_projection' | 'operators'
/**
 * A pipeline schedule.
 */
export type Schedule = 'gpipe' | '1f1b' | 'zb_h1' | 'zb_h2' | 'zb_v' | 'dual_pipe'
/**
 * The kernel that runs softmax attention.
 */
export type AttentionKernel = 'auto' | 'unfused' | 'flash1' | 'flash2' | 'flash3'

/**
 * Common fields of every answer.
 */
export interface RecomputeAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'recompute'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The run in one line.
   */
  title: string
  recompute: Answer
  /**
   * The best as flags of frameworks.
   */
  flags: Flags[]
  /**
   * The best plan; none where nothing fits.
   */
  plan: Plan | null
}
/**
 * The answer.
 */
export interface Answer {
  /**
   * Memory and cost of each module of a layer.
   */
  layers: LayerTable[]
  /**
   * Memory of the fullest stage without recompute.
   */
  kinds: KindShare[]
  /**
   * The stage.
   */
  fullest: number
  /**
   * Device memory. Unit: B.
   */
  device_memory: number
  /**
   * Memory limit of a stage for the required probability. Unit: B.
   */
  limit: number
  /**
   * That probability.
   */
  probability: number
  none: Variant
  full: Variant
  /**
   * The plan as it was given, where that is neither.
   */
  given: Variant | null
  /**
   * The best uniform policy that framework flags can express.
   */
  uniform: Variant | null
  /**
   * The best uniform policy, with or without framework flags.
   */
  uniform_any: Variant | null
  /**
   * The best.
   */
  best: Variant | null
  /**
   * Its stages.
   */
  stages: StageRow[]
  /**
   * What the step could still gain at most over the best, as a share: zero where it is proven to be the best.
   */
  gap: number
  /**
   * Throughput of the best over that of full recompute, less one.
   */
  gain_over_full: number | null
  /**
   * Changes that would make it fit, if nothing fits.
   */
  remedies: Remedy[]
}
/**
 * One kind of layer.
 */
export interface LayerTable {
  /**
   * The kind, as the model numbers them.
   */
  kind: number
  /**
   * The first layer of the kind, from 0.
   */
  first: number
  /**
   * Layers of the kind.
   */
  layers: number
  /**
   * What one keeps of one micro-batch when nothing is recomputed. Unit: B.
   */
  kept: number
  /**
   * What its forward and backward passes take for one micro-batch then. Unit: s.
   */
  time: number
  /**
   * Saving and cost of recompute, for each module and last for the whole layer.
   */
  rows: ModuleRow[]
}
/**
 * One module of it, or the whole layer.
 */
export interface ModuleRow {
  /**
   * As plans write it.
   */
  policy: string
  /**
   * Bytes that are not kept, of one micro-batch. Unit: B.
   */
  saved: number
  /**
   * Of what the layer keeps.
   */
  share: number
  /**
   * Time that is added, of one micro-batch. Unit: s.
   */
  cost: number
  /**
   * Of the layer's time.
   */
  cost_share: number
  /**
   * Seconds for each GiB: what is worth recomputing first. `None` where nothing is saved.
   */
  seconds_per_gib: number | null
}
/**
 * Share of one kind of memory on the fullest stage.
 */
export interface KindShare {
  kind: Kind
  /**
   * Amount. Unit: B.
   */
  bytes: number
  /**
   * Of what the stage needs.
   */
  share: number
}
/**
 * A way to recompute, priced.
 */
export interface Variant {
  /**
   * Recomputed modules, in short.
   */
  what: string
  /**
   * Step time. Unit: s.
   */
  step_time: number
  /**
   * Tokens per second of the whole cluster.
   */
  tokens_per_second: number
  /**
   * Memory of the fullest stage, as in an estimate. Unit: B.
   */
  memory: number
  /**
   * Probability that every stage fits.
   */
  probability_of_fitting: number
  /**
   * Whether that is enough.
   */
  fits: boolean
}
/**
 * One stage of the answer.
 */
export interface StageRow {
  /**
   * The stage, from 0.
   */
  stage: number
  /**
   * Layers on it.
   */
  layers: number
  /**
   * Recompute and offload, by virtual stage.
   */
  choice: string[]
  /**
   * Recompute of one micro-batch. Unit: s.
   */
  recompute: number
  /**
   * Time in passes of one micro-batch. Unit: s.
   */
  time: number
  /**
   * Memory without recompute. Unit: B.
   */
  memory_none: number
  /**
   * Memory with full recompute. Unit: B.
   */
  memory_full: number
  /**
   * As chosen. Unit: B.
   */
  memory: number
  /**
   * Probability that it fits, as chosen.
   */
  probability_of_fitting: number
}
/**
 * A change after which everything fits.
 */
export interface Remedy {
  /**
   * The change, in words.
   */
  change: string
}
/**
 * The settings of one framework.
 */
export interface Flags {
  /**
   * The framework.
   */
  framework: string
  /**
   * Flags, or lines of a settings file.
   */
  lines: string[]
  /**
   * Settings that are not expressible.
   */
  cannot: string[]
}
/**
 * All settings of a run except the model and the cluster.
 *
 * World size = tensor x context x pipeline x data. Expert parallelism uses the ranks of data x context x
 * tensor (Megatron's rule: `expert_tensor x expert x expert_data = tensor x context x data`).
 */
export interface Plan {
  /**
   * Ranks that share each matrix.
   */
  tensor_parallel: number
  /**
   * Whether norms and dropouts between the cut matrices are cut along the sequence (Korthikanti 2022).
   */
  sequence_parallel: boolean
  /**
   * Pipeline stages.
   */
  pipeline_parallel: number
  /**
   * Model chunks per stage (interleaving), 1 for none.
   */
  virtual_stages: number
  /**
   * Ranks that share each sequence.
   */
  context_parallel: number
  context_kind: ContextKind
  /**
   * Replicas of the model (shards included).
   */
  data_parallel: number
  /**
   * Ranks among which routed experts are spread.
   */
  expert_parallel: number
  /**
   * Ranks that share each expert matrix.
   */
  expert_tensor_parallel: number
  sharding: Sharding
  /**
   * Devices of each scale-up domain that the job uses; `None` uses all of them.
   */
  segment?: number | null
  rank_order: RankOrder
  /**
   * Sequences per micro-batch and replica.
   */
  micro_batch: number
  /**
   * Sequences per step.
   */
  global_batch: number
  /**
   * Tokens per sequence.
   */
  sequence_length: number
  precision: Precision
  optimizer: Optimizer
  /**
   * Rank and targets of LoRA's adapters; `None` where all weights are trained. `Plan::adapters` reads it.
   */
  lora?: Lora | null
  recompute: Recompute
  /**
   * What each pipeline stage (or each virtual stage, in pipeline order) recomputes and offloads, where they differ; `None` is
   * `Plan::recompute` on all of them.
   */
  stage_recompute?: StageRecompute[] | null
  offload: Offload
  schedule: Schedule
  /**
   * Layers per virtual stage in pipeline order; `None` divides evenly.
   */
  layers_per_stage: number[] | null
  overlap: Overlap
  attention_kernel: AttentionKernel
  /**
   * The software generation, an identifier of `catalog/software.toml`.
   */
  software: string
  /**
   * Whether dropout is on (it adds masks to memory and passes to time).
   */
  dropout: boolean
  /**
   * Tokens that the busiest expert gets over the mean; 1 is balanced.
   */
  expert_imbalance: number
  /**
   * Tokens that an expert accepts at most, as a multiple of the mean; `None` is dropless.
   */
  expert_capacity: number | null
  /**
   * Sequences are packed from documents of this many tokens on average, so attention is cut at document ends; `None` attends
   * over the whole sequence.
   */
  document_length: number | null
  /**
   * Multiple to which the vocabulary is padded, times tensor parallel (Megatron: 128); 1 is none.
   */
  vocabulary_multiple: number
}
/**
 * Tensors that data-parallel ranks shard.
 */
export interface Sharding {
  /**
   * ZeRO stage: 0 nothing, 1 optimizer states, 2 and gradients, 3 and parameters (FSDP full shard).
   */
  zero_stage: number
  /**
   * Ranks that share one copy; `None` is all data-parallel ranks. Smaller is hybrid sharding: replicas between the groups.
   */
  group: number | null
  /**
   * With stage 3: whether parameters are dropped after the forward pass and gathered again.
   */
  reshard_after_forward: boolean
}
/**
 * Number formats of a run.
 */
export interface Precision {
  compute: DataType
  parameters: DataType
  gradients: DataType
  gradient_reduce: DataType
  /**
   * Master weights; `None` keeps none.
   */
  master: DataType | null
  moments: DataType
  activations: DataType
  /**
   * Whether attention's products run in the compute format too (rare).
   */
  narrow_attention: boolean
}
/**
 * The adapters of a run.
 */
export interface Lora {
  /**
   * Inner width of an adapter.
   */
  rank: number
  /**
   * Modules that get one.
   */
  targets: LoraTarget[]
}
/**
 * What one pipeline stage recomputes, and what it keeps in host memory.
 */
export interface StageRecompute {
  /**
   * Policies in the order of the stage's layers, each for its number of layers; a policy without a number
   * covers all remaining layers. Other layers are not recomputed. `Selective` without modules skips
   * layers.
   */
  segments: Recompute[]
  /**
   * Share of the stage's activations in host memory; `None` is the plan's.
   */
  offload: number | null
}
/**
 * Tensors in host memory.
 */
export interface Offload {
  /**
   * Share of the optimizer states, stepped on the CPU.
   */
  optimizer: number
  /**
   * Share of the activations of each layer.
   */
  activations: number
  /**
   * Share of the parameters.
   */
  parameters: number
}
/**
 * Communication that overlaps with compute.
 */
export interface Overlap {
  /**
   * Gradient reduction with the backward pass.
   */
  gradient_reduce: boolean
  /**
   * Parameter gathering with the forward pass.
   */
  parameter_gather: boolean
  /**
   * Tensor-parallel communication with matrix products (async TP, userbuffers).
   */
  tensor: boolean
  /**
   * Stage-to-stage transfers with compute.
   */
  pipeline: boolean
  /**
   * Expert all-to-all with compute.
   */
  expert: boolean
}
