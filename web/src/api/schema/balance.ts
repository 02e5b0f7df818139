// Made from docs/reference/schema/balance.json by scripts/types.mjs.

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
export interface BalanceAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'balance'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The run in one line.
   */
  title: string
  balance: Answer
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
  before: Division
  /**
   * The best; `None` where none fits.
   */
  best: Division | null
  /**
   * Share of the step before that the best saves; below zero where the division before is faster but does not fit.
   */
  gain: number | null
  /**
   * Share of the best's step that another division could save at most: zero where the best is proven to be; `None` where nothing
   * is proven.
   */
  gap: number | null
  /**
   * Divisions that were priced.
   */
  priced: number
  /**
   * Device memory. Unit: B.
   */
  device_memory: number
  /**
   * Required fit probability.
   */
  probability: number
  /**
   * The most that a stage may take for that probability. Unit: B.
   */
  limit: number
}
/**
 * A division of the layers.
 */
export interface Division {
  /**
   * Layers by virtual stage, in pipeline order.
   */
  layers: number[]
  /**
   * Step time. Unit: s.
   */
  step_time: number
  /**
   * Tokens per second of the whole cluster.
   */
  tokens_per_second: number
  /**
   * Mean over stages of the share of the pipeline's duration in which they run no pass.
   */
  idle: number
  /**
   * Longest time in passes of a stage over the mean, less one.
   */
  imbalance: number
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
  /**
   * Its stages.
   */
  stages: StageRow[]
}
/**
 * One stage under a division.
 */
export interface StageRow {
  /**
   * The stage, from 0.
   */
  stage: number
  /**
   * Layers of each of its virtual stages.
   */
  layers: number[]
  /**
   * Whether the word embedding lies on it.
   */
  embedding: boolean
  /**
   * Whether the head and the loss lie on it.
   */
  head: boolean
  /**
   * Recompute by virtual stage.
   */
  recompute: string[]
  /**
   * Passes of one micro-batch. Unit: s.
   */
  time: number
  /**
   * Time in passes in a step. Unit: s.
   */
  busy: number
  /**
   * The rest of the pipeline's duration. Unit: s.
   */
  bubble: number
  /**
   * Share of the pipeline's duration in which it runs no pass. The estimate's bubble is that of the critical stage, over the step.
   */
  idle: number
  /**
   * Its memory, as in an estimate. Unit: B.
   */
  memory: number
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
