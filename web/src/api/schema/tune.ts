// Made from docs/reference/schema/tune.json by scripts/types.mjs.

/**
 * A number format of tensors or of matrix products.
 */
export type DataType = 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
/**
 * A part of a layer that can be recomputed.
 */
export type RecomputeModule =
  'core_attention' | 'norm' | 'activation' | 'mlp' | 'moe' | 'latent_up_projection' | 'operators'
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
       * Which.
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
 * What stands around the fields of every answer.
 */
export interface TuneAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
  kind: 'tune'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The file that is tuned.
   */
  file: string
  /**
   * Its format.
   */
  format: string | null
  title: string
  /**
   * Settings that are kept.
   */
  kept: string[]
  /**
   * Framework habits that the search keeps.
   */
  habits: string[]
  /**
   * Whether everything was searched.
   */
  is_complete: boolean
  /**
   * Minimum probability of fitting.
   */
  fit_probability: number
  /**
   * Relative difference of step times within which layouts tie.
   */
  tie_band: number
  own: RowFields
  /**
   * Where the file sets what the search is free to change.
   */
  origins: OriginFields[]
  /**
   * Layouts, best first.
   */
  layouts: RowFields1[]
  /**
   * Lines of the file that stay as they are because they are not understood.
   */
  untouched: string[]
  /**
   * Ratio of measured to predicted step times of the logs.
   */
  level: Level | null
  /**
   * Rank of the layout whose measurement reduces doubt most.
   */
  run_next: number | null
}
/**
 * The layout of the file.
 */
export interface RowFields {
  rank: number
  layout: string
  /**
   * Unit: s.
   */
  step_time: number
  step_time_interval: Interval
  /**
   * Relative change of the step time from the file's layout.
   */
  change: number
  /**
   * Memory of the fullest device. Unit: B.
   */
  memory: number
  /**
   * Unit: B.
   */
  device_memory: number
  probability_of_fitting: number
  mfu: number | null
  plan: Plan
  measured: MeasuredField | null
  expected: ExpectedField | null
  /**
   * Changes of the file; none where it cannot be changed.
   */
  changes: Change[] | null
  /**
   * Why the file cannot be changed.
   */
  refused: Refused | null
  warnings: Warning[]
}
/**
 * Bounds between which a measurement is expected.
 */
export interface Interval {
  /**
   * Lower bound. Unit: s.
   */
  low: number
  /**
   * Upper bound. Unit: s.
   */
  high: number
  /**
   * Share of measurements that lie between them.
   */
  coverage: number
  /**
   * Measured runs that the width rests on.
   */
  runs: number
  /**
   * Whether they are of the same software generation.
   */
  calibrated: boolean
  /**
   * Where the width comes from.
   */
  source: string
}
/**
 * Every choice about a run beside the model and the machines.
 *
 * World size = tensor x context x pipeline x data. Expert parallelism borrows ranks of data x context x tensor (Megatron's
 * rule: `expert_tensor x expert x expert_data = tensor x context x data`).
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
  /**
   * How they share it.
   */
  context_kind: 'ring' | 'all_gather' | 'ulysses'
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
  /**
   * Which dimension lies innermost, in Megatron's notation.
   */
  rank_order: 'tp-cp-ep-dp-pp' | 'tp-cp-pp-ep-dp'
  /**
   * Sequences per micro batch and replica.
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
  /**
   * The optimizer.
   */
  optimizer: 'adam' | 'sgd' | 'lion' | 'muon' | 'adafactor' | 'lora'
  /**
   * What is recomputed in the backward pass.
   */
  recompute:
    | {
        mode: 'none'
      }
    | {
        mode: 'selective'
        /**
         * Which.
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
   * What each pipeline stage (or each virtual stage, in pipeline order) recomputes and offloads, where they differ; `None` is
   * `Plan::recompute` on all of them.
   */
  stage_recompute?: StageRecompute[] | null
  offload: Offload
  /**
   * The pipeline schedule.
   */
  schedule: 'gpipe' | '1f1b' | 'zb_h1' | 'zb_h2' | 'zb_v' | 'dual_pipe'
  /**
   * Layers per virtual stage in pipeline order; `None` divides evenly.
   */
  layers_per_stage: number[] | null
  overlap: Overlap
  /**
   * The attention kernel.
   */
  attention_kernel: 'auto' | 'unfused' | 'flash1' | 'flash2' | 'flash3'
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
 * What data-parallel ranks shard.
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
 * Number formats.
 */
export interface Precision {
  /**
   * Matrix products.
   */
  compute: 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
  /**
   * Parameters as the forward pass keeps them.
   */
  parameters: 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
  /**
   * Gradient accumulation.
   */
  gradients: 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
  /**
   * Gradients on the wire.
   */
  gradient_reduce: 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
  /**
   * Master weights; `None` keeps none.
   */
  master: DataType | null
  /**
   * A number format of tensors or of matrix products.
   */
  moments: 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
  /**
   * A number format of tensors or of matrix products.
   */
  activations: 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
  /**
   * Whether attention's products run in the compute format too (rare).
   */
  narrow_attention: boolean
}
/**
 * What one pipeline stage recomputes, and what it keeps in host memory.
 */
export interface StageRecompute {
  /**
   * Policies along the stage's layers, each for as many as it says; one without a number takes all that are left. Layers
   * beyond keep everything. `Selective` of no modules keeps everything, too: it passes layers over.
   */
  segments: Recompute[]
  /**
   * Share of the stage's activations in host memory; `None` is the plan's.
   */
  offload: number | null
}
/**
 * What is kept in host memory.
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
 * What communication runs beside compute.
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
/**
 * Step time in a log.
 */
export interface MeasuredField {
  /**
   * Unit: s.
   */
  seconds: number
  log: string
}
/**
 * Step time after reading the logs.
 */
export interface ExpectedField {
  /**
   * Unit: s.
   */
  seconds: number
  /**
   * Unit: s.
   */
  low: number
  /**
   * Unit: s.
   */
  high: number
}
/**
 * One setting that an edit changes.
 */
export interface Change {
  /**
   * The setting, in the framework's words: `--tensor-model-parallel-size`, `parallelism.tensor_parallel_degree`.
   */
  name: string
  /**
   * What the file has; `None` where it leaves the setting out.
   */
  before: string | null
  /**
   * What it is to have; `None` where the setting goes.
   */
  after: string | null
}
/**
 * An edit that was not made.
 */
export interface Refused {
  /**
   * Why, in a lowercase fragment.
   */
  reason: string
  /**
   * The changes to make by hand, in the framework's words.
   */
  by_hand: Change[]
}
/**
 * Something doubtful that did not stop the work.
 */
export interface Warning {
  /**
   * A stable identifier that `railwright explain` knows, such as `memory-margin-small`.
   */
  id: string
  /**
   * What is doubtful and what to do, in one sentence.
   */
  message: string
}
export interface OriginFields {
  key: string
  value: string
  /**
   * The text of the file.
   */
  said: string
  line: number | null
}
export interface RowFields1 {
  rank: number
  layout: string
  /**
   * Unit: s.
   */
  step_time: number
  step_time_interval: Interval
  /**
   * Relative change of the step time from the file's layout.
   */
  change: number
  /**
   * Memory of the fullest device. Unit: B.
   */
  memory: number
  /**
   * Unit: B.
   */
  device_memory: number
  probability_of_fitting: number
  mfu: number | null
  plan: Plan
  measured: MeasuredField | null
  expected: ExpectedField | null
  /**
   * Changes of the file; none where it cannot be changed.
   */
  changes: Change[] | null
  /**
   * Why the file cannot be changed.
   */
  refused: Refused | null
  warnings: Warning[]
}
/**
 * What measured layouts of a job tell about the others: a factor that all of them share, and how far a layout departs from it.
 */
export interface Level {
  /**
   * Measured over predicted, the geometric mean over layouts.
   */
  factor: number
  /**
   * Standard deviation of the logarithm of one layout's own departure from the factor.
   */
  departure: number
  /**
   * Measured layouts.
   */
  layouts: number
}
