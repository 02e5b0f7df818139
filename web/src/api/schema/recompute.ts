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
export interface RecomputeAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'recompute'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Title: the run in one line.
   */
  title: string
  recompute: Answer
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
  /**
   * Memory and cost of each module of a layer.
   */
  layers: LayerTable[]
  /**
   * Memory by kind without recompute, on the stage with the largest peak.
   */
  kinds: KindShare[]
  /**
   * Index of that stage.
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
   * The original plan. `null` if it is one of the two.
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
   * The best variant. `null` if none fits.
   */
  best: Variant | null
  /**
   * Its stages.
   */
  stages: StageRow[]
  /**
   * Upper bound on the remaining gain over the best, as a share of the step: zero if it is proven
   * optimal.
   */
  gap: number
  /**
   * Throughput of the best over that of full recompute, minus 1.
   */
  gain_over_full: number | null
  /**
   * Changes that make it fit; empty if something fits.
   */
  remedies: Remedy[]
}
/**
 * One kind of layer.
 */
export interface LayerTable {
  /**
   * Index of the kind in the model.
   */
  kind: number
  /**
   * The first layer of the kind, from 0.
   */
  first: number
  /**
   * Number of layers of the kind.
   */
  layers: number
  /**
   * Memory of one layer for one micro-batch without recompute. Unit: B.
   */
  kept: number
  /**
   * Time of its forward and backward passes for one micro-batch without recompute. Unit: s.
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
   * Policy, as in plans.
   */
  policy: string
  /**
   * Memory saved for one micro-batch. Unit: B.
   */
  saved: number
  /**
   * Share of the layer's kept memory (0 to 1).
   */
  share: number
  /**
   * Additional time of one micro-batch. Unit: s.
   */
  cost: number
  /**
   * Share of the layer's time.
   */
  cost_share: number
  /**
   * Seconds per GiB: the lowest is recomputed first. `null` without a saving.
   */
  seconds_per_gib: number | null
}
/**
 * Share of one kind of memory on the stage with the largest peak.
 */
export interface KindShare {
  kind: Kind
  /**
   * Amount. Unit: B.
   */
  bytes: number
  /**
   * Share of the stage's need (0 to 1).
   */
  share: number
}
/**
 * A recompute setting with its price.
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
}
/**
 * One stage of the result.
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
   * Recompute time of one micro-batch. Unit: s.
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
   * Memory with the selected recompute. Unit: B.
   */
  memory: number
  /**
   * Probability that it fits with the selected recompute.
   */
  probability_of_fitting: number
}
/**
 * A change after which everything fits.
 */
export interface Remedy {
  /**
   * The change, as text.
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
