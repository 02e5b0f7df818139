// Made from docs/reference/schema/balance.json by scripts/types.mjs.

/**
 * Context-parallel algorithm: sharding of a sequence over ranks.
 */
export type ContextKind = 'ring' | 'all_gather' | 'ulysses'
/**
 * Order of parallel dimensions in the rank layout, innermost first.
 */
export type RankOrder = 'tp-cp-ep-dp-pp' | 'tp-cp-pp-ep-dp'
/**
 * A number format of tensors or GEMMs.
 */
export type DataType = 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
/**
 * An optimizer.
 */
export type Optimizer = 'adam' | 'sgd' | 'lion' | 'muon' | 'adafactor' | 'lora'
/**
 * A target module, by PEFT's or Megatron's name.
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
 * Number format of the frozen weights under adapters.
 */
export type FrozenWeights = 'parameters' | 'nf4'
/**
 * Activation checkpointing policy: activations that the backward pass recomputes.
 */
export type Recompute =
  | {
      mode: 'none'
    }
  | {
      mode: 'selective'
      /**
       * Recomputed modules.
       */
      modules: RecomputeModule[]
      /**
       * Layers per stage with recompute; `null`: all.
       */
      layers: number | null
    }
  | {
      mode: 'full'
      /**
       * Layers per stage with recompute; `null`: all.
       */
      layers: number | null
    }
/**
 * A module of a layer that can be recomputed.
 */
export type RecomputeModule =
  'core_attention' | 'norm' | 'activation' | 'mlp' | 'moe' | 'latent_up_projection' | 'operators'
/**
 * A pipeline schedule.
 */
export type Schedule = 'gpipe' | '1f1b' | 'zb_h1' | 'zb_h2' | 'zb_v' | 'dual_pipe'
/**
 * Kernel of softmax attention.
 */
export type AttentionKernel = 'auto' | 'unfused' | 'flash1' | 'flash2' | 'flash3'

/**
 * Common fields of every result.
 */
export interface BalanceAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'balance'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Title: the run in one line.
   */
  title: string
  balance: Answer
  /**
   * Best result as flags of frameworks.
   */
  flags: Flags[]
  /**
   * Best plan; `null` if nothing fits.
   */
  plan: Plan | null
}
/**
 * Result of the solver.
 */
export interface Answer {
  before: Division
  /**
   * The best division. `null` if none fits.
   */
  best: Division | null
  /**
   * Step time saved by the best division, as a share of the step before. Negative if the division before
   * is faster but does not fit.
   */
  gain: number | null
  /**
   * Upper bound on the saving by any other division, as a share of the best step: zero if the best is
   * proven optimal. `null` without a proof.
   */
  gap: number | null
  /**
   * Number of priced divisions.
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
   * Maximum memory of a stage for that probability. Unit: B.
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
   * Share of the pipeline's duration without a pass, mean over stages.
   */
  idle: number
  /**
   * Longest time in passes of a stage over the mean, minus 1.
   */
  imbalance: number
  /**
   * Memory of the stage with the largest peak, as in an estimate. Unit: B.
   */
  memory: number
  /**
   * Probability that every stage fits.
   */
  probability_of_fitting: number
  /**
   * True if that is at least the required probability.
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
   * True if the word embedding is on it.
   */
  embedding: boolean
  /**
   * True if the head and the loss are on it.
   */
  head: boolean
  /**
   * Recompute by virtual stage.
   */
  recompute: string[]
  /**
   * Time of the passes of one micro-batch. Unit: s.
   */
  time: number
  /**
   * Time in passes per step. Unit: s.
   */
  busy: number
  /**
   * The rest of the pipeline's duration. Unit: s.
   */
  bubble: number
  /**
   * Share of the pipeline's duration without a pass. The estimate's bubble is that of the critical stage,
   * relative to the step.
   */
  idle: number
  /**
   * Memory, as in an estimate. Unit: B.
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
   * Tensor-parallel size: ranks that shard each weight matrix.
   */
  tensor_parallel: number
  /**
   * True if norms and dropout between sharded GEMMs are sharded along the sequence (Korthikanti 2022).
   */
  sequence_parallel: boolean
  /**
   * Pipeline-parallel size: number of stages.
   */
  pipeline_parallel: number
  /**
   * Model chunks per stage (interleaving); 1 without interleaving.
   */
  virtual_stages: number
  /**
   * Context-parallel size: ranks that shard each sequence.
   */
  context_parallel: number
  context_kind: ContextKind
  /**
   * Data-parallel size, sharded replicas included.
   */
  data_parallel: number
  /**
   * Expert-parallel size: ranks that share the routed experts.
   */
  expert_parallel: number
  /**
   * Expert tensor-parallel size: ranks that shard each expert matrix.
   */
  expert_tensor_parallel: number
  sharding: Sharding
  /**
   * Devices used per scale-up domain; `null`: all.
   */
  segment?: number | null
  rank_order: RankOrder
  /**
   * Micro-batch size in sequences, per replica.
   */
  micro_batch: number
  /**
   * Global batch size in sequences.
   */
  global_batch: number
  /**
   * Sequence length in tokens.
   */
  sequence_length: number
  precision: Precision
  optimizer: Optimizer
  /**
   * Rank and targets of LoRA adapters; `null` if all weights are trained. Read through
   * `Plan::adapters`.
   */
  lora?: Lora | null
  frozen_weights: FrozenWeights & string
  recompute: Recompute
  /**
   * Recompute and offload of each pipeline stage (or of each virtual stage, in pipeline order); `null`:
   * `Plan::recompute` on all stages.
   */
  stage_recompute?: StageRecompute[] | null
  offload: Offload
  schedule: Schedule
  /**
   * Layers per virtual stage in pipeline order; `null`: even division.
   */
  layers_per_stage: number[] | null
  overlap: Overlap
  attention_kernel: AttentionKernel
  /**
   * Software generation, an identifier of `catalog/software.toml`.
   */
  software: string
  /**
   * True if dropout is on, which adds masks to memory and passes to time.
   */
  dropout: boolean
  /**
   * Load of the busiest expert relative to the mean; 1 is balanced.
   */
  expert_imbalance: number
  /**
   * Expert capacity factor: maximum tokens per expert relative to the mean; `null` is dropless.
   */
  expert_capacity: number | null
  /**
   * Mean length in tokens of the documents packed into a sequence; attention does not cross documents.
   * `null`: one document per sequence.
   */
  document_length: number | null
  /**
   * Coefficient of variation of the lengths of these documents (standard deviation over mean).
   */
  document_length_cv: number
  /**
   * Multiple to which the vocabulary is padded, times the tensor-parallel size (Megatron: 128); 1: none.
   */
  vocabulary_multiple: number
}
/**
 * Tensors sharded over data-parallel ranks.
 */
export interface Sharding {
  /**
   * ZeRO stage. 0: nothing, 1: optimizer states, 2: also gradients, 3: also parameters (FSDP full shard).
   */
  zero_stage: number
  /**
   * Ranks that share one copy; `null`: all data-parallel ranks. Smaller groups are hybrid sharding, with
   * a replica per group.
   */
  group: number | null
  /**
   * With stage 3: true if parameters are freed after the forward pass and gathered again.
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
   * Master weights; `null`: none are kept.
   */
  master: DataType | null
  moments: DataType
  activations: DataType
  /**
   * True if attention GEMMs run in the compute format too (rare).
   */
  narrow_attention: boolean
}
/**
 * Adapters of a run.
 */
export interface Lora {
  /**
   * Inner width of an adapter.
   */
  rank: number
  /**
   * Target modules.
   */
  targets: LoraTarget[]
}
/**
 * Recompute and offload of one pipeline stage.
 */
export interface StageRecompute {
  /**
   * Policies in the order of the stage's layers, each for its number of layers. A policy without a number
   * covers all remaining layers. Other layers are not recomputed. `Selective` without modules skips
   * layers.
   */
  segments: Recompute[]
  /**
   * Share of the stage's activations in host memory, 0 to 1; `null`: the plan's.
   */
  offload: number | null
}
/**
 * Tensors offloaded to host memory.
 */
export interface Offload {
  /**
   * Share of the optimizer states, 0 to 1, updated on the CPU.
   */
  optimizer: number
  /**
   * Share of the activations of each layer, 0 to 1.
   */
  activations: number
  /**
   * Share of the parameters, 0 to 1.
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
   * Tensor-parallel communication with GEMMs (async TP, userbuffers).
   */
  tensor: boolean
  /**
   * Pipeline send and receive with compute.
   */
  pipeline: boolean
  /**
   * Expert all-to-all with compute.
   */
  expert: boolean
}
