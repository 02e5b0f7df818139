// Made from docs/reference/schema/search.json by scripts/types.mjs.

/**
 * Objective.
 */
export type Objective = 'time' | 'dollars' | 'devices' | 'headroom'
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
 * A family of operators: the finest line of a time breakdown.
 */
export type Family =
  | 'embedding'
  | 'norm'
  | 'attention_input'
  | 'attention_core'
  | 'attention_output'
  | 'mlp'
  | 'activation'
  | 'router'
  | 'experts'
  | 'residual'
  | 'head'
  | 'loss'
/**
 * A parallel dimension with communication.
 */
export type Dimension = 'tensor' | 'context' | 'expert' | 'shard' | 'host'
/**
 * Time of the peak.
 */
export type Moment = 'loss' | 'backward' | 'backward_end' | 'optimizer_step'
/**
 * Unusual features of a layout, the most severe first.
 */
export type UnusualFeature =
  | 'unequal_chunks'
  | 'torn_group'
  | 'short_context'
  | 'scattered_experts'
  | 'partial_sharding'
  | 'whole_optimizer'
  | 'tight_memory'
/**
 * Time for which devices are occupied, in hours, summed over devices.
 */
export type DeviceHours = number
/**
 * A part of the step on the critical stage. The parts sum to the step.
 */
export type Share =
  'compute' | 'recompute' | 'tensor' | 'context' | 'expert' | 'data' | 'bubble' | 'host' | 'optimizer' | 'other'
/**
 * Changed setting.
 */
export type Change =
  | 'free_degrees'
  | 'free_micro_batch'
  | 'free_recompute'
  | 'fused_loss'
  | 'shard_everything'
  | 'offload_optimizer'
  | 'offload_activations'
  | 'offload_both'
  | 'more_devices'
/**
 * Verdict on a strategy that is not the result.
 */
export type WhyNot =
  | {
      verdict: 'unanswered'
    }
  | {
      verdict: 'impossible'
      /**
       * Reasons for its rejection.
       */
      problems: Problem[]
    }
  | (TooLarge & {
      verdict: 'too_large'
    })
  | (Slower & {
      verdict: 'slower'
    })
  | (Candidate & {
      verdict: 'best'
    })
/**
 * Result of a cell.
 */
export type Outcome =
  | {
      is: 'fits'
      /**
       * Step time of the fastest layout, allocator retries included. Unit: s.
       */
      step_time: number
      /**
       * Throughput in tokens per second over all devices.
       */
      tokens_per_second: number
      /**
       * Layout as flags.
       */
      layout: string
    }
  | {
      is: 'out_of_memory'
      /**
       * Missing memory per device for the required probability of fitting. Unit: B.
       */
      lacks: number
      /**
       * Memory of a device. Unit: B.
       */
      device_memory: number
      /**
       * Stage with the largest memory.
       */
      stage: number
      /**
       * Layout as flags.
       */
      layout: string
    }
  | {
      is: 'invalid'
    }
  | {
      is: 'unsearched'
    }

/**
 * Common fields of every result.
 */
export interface SearchAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'search'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Search in one line.
   */
  title: string
  objective: Objective
  /**
   * The two objectives of a Pareto front, if requested.
   *
   * @minItems 2
   * @maxItems 2
   */
  pareto: [Objective, Objective] | null
  /**
   * Required probability of fitting, 0 to below 1.
   */
  fit_probability: number
  counters: Counters
  /**
   * True if the whole space was searched.
   */
  complete: boolean
  /**
   * Layouts, best first.
   */
  candidates: Shown[]
  /**
   * Layout of the specified launch file, in each setting where it is possible.
   */
  own: Shown[]
  /**
   * Free and fixed settings of the launch file, as text; `null` without one.
   */
  freed: string | null
  /**
   * Number of layouts found, shown or not; for a Pareto front, its length.
   */
  found: number
  /**
   * Fastest layout, if rows are families and it is not the first; else `null`.
   */
  fastest: Shown | null
  /**
   * True if each row is the simplest member of a family of tied layouts.
   */
  by_family: boolean
  /**
   * Settings that cannot be searched.
   */
  impossible: Impossible[]
  /**
   * Closest layouts and remedies, if nothing fits; else `null`.
   */
  nothing_fits: Nothing | null
  /**
   * Results for the layouts of `--why-not`.
   */
  why_not: Answer[]
  /**
   * Best layout of each pair of tensor- and pipeline-parallel size, or the missing memory if none fits;
   * empty unless requested.
   */
  map: Cell[]
  /**
   * Keys of the best plan without a Megatron-LM flag.
   */
  not_expressed_in_megatron: string[]
  /**
   * Layouts of the ranking whose measured step time would narrow all intervals most.
   */
  measure_next: Measure[]
  /**
   * Defaults of unspecified settings.
   */
  chosen: string[]
  /**
   * Warnings about the question.
   */
  doubts: string[]
}
/**
 * Strategies of a search by outcome. Every valid strategy is counted once as enumerated and once below.
 *
 * The numbers pruned depend on the order of threads. They are not serialized: the same search has the same
 * result.
 */
export interface Counters {
  /**
   * Valid strategies.
   */
  enumerated: number
  /**
   * Invalid combinations (rejected sizes, batches, schedules), each counted once, regardless of the
   * number of strategies below it.
   */
  invalid: number
}
/**
 * A ranked candidate with the ways to use it.
 */
export interface Shown {
  ranked: Ranked
  /**
   * Index of its setting.
   */
  setting: number
  /**
   * Cluster as named by the user.
   */
  cluster: string
  /**
   * Layout as flags.
   */
  layout: string
  /**
   * Command that estimates the layout.
   */
  command: string
  /**
   * Run file of the layout.
   */
  run_file: string
}
/**
 * A candidate with its rank.
 */
export interface Ranked {
  /**
   * Rank, from 1.
   */
  rank: number
  candidate: Candidate
  /**
   * The layout in one line.
   */
  plan_summary: string
  /**
   * Time per token over that of the first, minus 1. Negative if a slower one is first for another reason.
   */
  behind: number
  /**
   * Rent per token over that of the first, minus 1. `null` without a price.
   */
  costlier: number | null
  step_time_interval: Interval
  /**
   * Model FLOPs utilization in the full attention convention, against the compute format's peak.
   */
  mfu: number | null
  /**
   * Rent for a trillion tokens. `null` without a price. Unit: USD.
   */
  dollars_per_trillion_tokens: number | null
  /**
   * Cost of the whole training. `null` without a token budget.
   */
  bill: Bill | null
  /**
   * Step breakdown.
   */
  spent: Spent[]
  /**
   * Warnings.
   */
  warnings: Warning[]
  /**
   * The step on the timeline; `null` if not requested or too long.
   */
  retimed: Retimed | null
}
/**
 * A plan with its time, memory and price.
 */
export interface Candidate {
  /**
   * The cluster's name.
   */
  cluster: string
  /**
   * Number of devices.
   */
  devices: number
  plan: Plan
  /**
   * Predicted step time. Unit: s.
   */
  step_time: number
  /**
   * Predicted step time including the slowdown by allocator retries near the memory limit: the sort key
   * of candidates. Unit: s.
   */
  expected_time: number
  time: TimeBreakdown
  memory: Peak
  /**
   * Memory of a device. Unit: B.
   */
  device_memory: number
  /**
   * Free memory at the peak. Unit: B.
   */
  headroom: number
  /**
   * Probability that it fits.
   */
  probability_of_fitting: number
  /**
   * Tokens per second over all devices.
   */
  tokens_per_second: number
  /**
   * Rent of the devices for a billion tokens; `null` without a price. Unit: USD.
   */
  dollars_per_billion_tokens: number | null
  /**
   * Unusual features, the most severe first.
   */
  oddities: UnusualFeature[]
  /**
   * True if its difference from the best is within the error of the model between two layouts.
   */
  tied_with_best: boolean
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
/**
 * Step breakdown on the critical rank. The parts sum to `total`.
 */
export interface TimeBreakdown {
  /**
   * The whole step. Unit: s.
   */
  total: number
  /**
   * Device compute by operator family, forward, backward and recompute together.
   */
  compute: [Family, number][]
  /**
   * Recomputed part of the compute. Unit: s.
   */
  recompute: number
  /**
   * Exposed communication inside the passes by dimension.
   */
  exposed: [Dimension, number][]
  /**
   * Waiting for the host's kernel launches. Unit: s.
   */
  host: number
  /**
   * Idle time in the pipeline, including transfers between stages. Unit: s.
   */
  bubble: number
  /**
   * Exposed reduction of gradients and gathering of parameters. Unit: s.
   */
  data_parallel: number
  /**
   * The optimizer step. Unit: s.
   */
  optimizer: number
  /**
   * Fixed per step: data, logging, synchronization. Unit: s.
   */
  fixed: number
  /**
   * Jitter allowance: unequal devices and network noise, growing with the number of devices. Unit: s.
   */
  jitter: number
}
/**
 * The worst stage's peak.
 */
export interface Peak {
  /**
   * The stage, from 0.
   */
  stage: number
  moment: Moment
  /**
   * Bytes allocated by tensors (torch's `max_memory_allocated`). Unit: B.
   */
  allocated: number
  /**
   * Bytes reserved by the allocator (torch's `max_memory_reserved`). Unit: B.
   */
  reserved: number
  /**
   * Memory reported by the device: reserved, the driver's context and the communicators. Unit: B.
   */
  device: number
  /**
   * Device memory of the stage. Unit: B.
   */
  available: number
}
/**
 * Interval in which a measurement is expected.
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
   * Lower end of the range that is expected to contain at least half of the measurements. Unit: s.
   */
  half_low: number
  /**
   * Upper end of that range. Unit: s.
   */
  half_high: number
  /**
   * Share of measurements from `low` to `high`.
   */
  coverage: number
  /**
   * Number of measured runs that determine the width.
   */
  runs: number
  /**
   * True if these runs are of the same software generation, or the user's own.
   */
  calibrated: boolean
  /**
   * Origin of the width.
   */
  source: string
}
/**
 * Time and cost of a training run.
 */
export interface Bill {
  /**
   * Tokens trained on.
   */
  tokens: number
  /**
   * Optimizer steps.
   */
  steps: number
  /**
   * Time of steps that make progress. Unit: s.
   */
  productive: number
  /**
   * Share of the calendar with progress.
   */
  availability: number
  /**
   * Origin of that share, if failures are modelled.
   */
  failures?: Failures | null
  /**
   * Time on the calendar, including failures and restarts. Unit: s.
   */
  calendar: number
  device_hours: DeviceHours
  /**
   * Rent of the devices; `null` without a price. Unit: USD.
   */
  rent: number | null
  /**
   * The applied price of a device-hour.
   */
  device_price: DatedPrice | null
  /**
   * Mean power of the whole job at the facility's meter. Unit: W.
   */
  power: number
  /**
   * Energy at the facility's meter. Unit: kWh.
   */
  energy: number
  /**
   * Cost of that energy. It is included in most rental prices, so it is not added. Unit: USD.
   */
  electricity: number
  electricity_price: DatedPrice
  /**
   * Warnings.
   */
  warnings: Warning[]
}
/**
 * Failure model behind the goodput of a run.
 */
export interface Failures {
  /**
   * Goodput at the highest published failure rate.
   */
  lowest: number
  /**
   * Goodput at the lowest published failure rate.
   */
  highest: number
  /**
   * Mean time between failures of the whole job. Unit: s.
   */
  mtbf: number
  /**
   * Time from the start of a checkpoint until it can be restored. Unit: s.
   */
  checkpoint: number
  /**
   * Bytes of a checkpoint. `null` unless its time follows from the bandwidth of the storage. Unit: B.
   */
  checkpoint_bytes?: number | null
  /**
   * Training time between checkpoints with the highest goodput. Unit: s.
   */
  interval: number
  /**
   * Assumed values with sources.
   */
  assumed: Assumed[]
}
/**
 * Defaults of unspecified settings.
 */
export interface Assumed {
  /**
   * The setting, as its flag.
   */
  setting: string
  /**
   * Its value, as text.
   */
  value: string
  /**
   * Origin.
   */
  source: string
}
/**
 * A price with its source.
 */
export interface DatedPrice {
  /**
   * The price. Unit: USD.
   */
  amount: number
  /**
   * Lowest and highest observed price, if known.
   *
   * @minItems 2
   * @maxItems 2
   */
  range: [number, number] | null
  /**
   * Date and source; or the user's setting.
   */
  source: string
}
/**
 * A doubtful setting or result that did not stop the work.
 */
export interface Warning {
  /**
   * Stable identifier for `railwright explain`, such as `memory-margin-small`.
   */
  id: string
  /**
   * Warning in one sentence, with the action if there is one.
   */
  message: string
}
/**
 * Time of a part.
 */
export interface Spent {
  on: Share
  /**
   * Duration. Unit: s.
   */
  time: number
  /**
   * Share of the step (0 to 1).
   */
  share: number
}
/**
 * A step on the timeline compared with the fast path.
 */
export interface Retimed {
  /**
   * Length of the timeline. Unit: s.
   */
  timeline: number
  /**
   * Length of the timeline over the fast path's step time, minus 1.
   */
  difference: number
  /**
   * True if the schedule overlaps steps, so that one isolated step is longer than their interval.
   */
  steps_overlap: boolean
}
/**
 * A combination of cluster and devices that cannot be searched.
 */
export interface Impossible {
  /**
   * Cluster as named by the user.
   */
  cluster: string
  /**
   * Number of devices.
   */
  devices: number
  /**
   * Reason.
   */
  reason: string
}
/**
 * Result of a search in which nothing fits.
 */
export interface Nothing {
  /**
   * Closest layouts.
   */
  nearest_misses: Missed[]
  /**
   * Changes that make the run fit, with their step time.
   */
  remedies: Remedied[]
  /**
   * Number of remedies tried.
   */
  remedies_tried: number
  /**
   * True if all remedies were tried.
   */
  complete: boolean
}
/**
 * A layout that almost fits.
 */
export interface Missed {
  miss: Miss
  /**
   * Layout as flags.
   */
  layout: string
}
/**
 * A strategy that almost fits.
 */
export interface Miss {
  /**
   * The cluster's name.
   */
  cluster: string
  /**
   * Number of devices.
   */
  devices: number
  plan: Plan
  memory: Peak
  /**
   * Memory of a device. Unit: B.
   */
  device_memory: number
  /**
   * Probability that it fits.
   */
  probability_of_fitting: number
  /**
   * Additional device memory required. Unit: B.
   */
  missing: number
}
/**
 * A remedy that makes the run fit.
 */
export interface Remedied {
  change: Change
  /**
   * Number of devices.
   */
  devices: number
  /**
   * Step time of the best layout after the change. Unit: s.
   */
  step_time: number
  /**
   * Best layout after the change, as flags.
   */
  layout: string
  /**
   * The stack after a change of the software.
   */
  software?: string | null
}
/**
 * Result for a requested layout: the reason why it is not the best.
 */
export interface Answer {
  /**
   * Requested settings, as written.
   */
  named: string
  why_not: WhyNot
  /**
   * Examined layout, as flags; `null` if none is possible.
   */
  layout: string
  /**
   * Reason why the layout is outside the search space; `null` if it is inside.
   */
  outside: string | null
}
/**
 * A problem of an input.
 */
export interface Problem {
  /**
   * Problem and cause, in a lowercase fragment.
   */
  message: string
  /**
   * Place in the input; `null` if unknown.
   */
  place: Place | null
  /**
   * Action or nearest valid name; `null` without one.
   */
  hint: string | null
  /**
   * Known settings that each remove this problem; the hint contains them in words.
   */
  remedies?: Remedy[]
}
/**
 * A place in an input.
 */
export interface Place {
  /**
   * File, or its substitute (`--set`, `--tp`).
   */
  file: string
  /**
   * Line from 1; `null` if unknown.
   */
  line: number | null
  /**
   * Column from 1; `null` if unknown.
   */
  column: number | null
  /**
   * Dotted key; `null` if unknown.
   */
  key: string | null
  /**
   * Line of text with the problem; `null` if unknown.
   */
  text: string | null
}
/**
 * A setting that removes a problem.
 */
export interface Remedy {
  /**
   * Dotted key of a run file.
   */
  key: string
  /**
   * Value, as in a run file or a flag.
   */
  value: string
}
/**
 * Figures of a strategy that does not fit.
 */
export interface TooLarge {
  miss: Miss
  /**
   * The stage with the largest need.
   */
  stage: number
  /**
   * Additional device memory for the required probability of fitting. Unit: B.
   */
  lacks: number
}
/**
 * Figures of a slower strategy.
 */
export interface Slower {
  candidate: Candidate
  /**
   * Its time per token over the winner's, minus 1.
   */
  behind: number
  /**
   * True if that is within the error of the model between two layouts.
   */
  is_tie: boolean
  /**
   * Time lost and gained by part, largest first.
   */
  differences: Difference[]
}
/**
 * Additional time of one step on a part; negative is less.
 */
export interface Difference {
  on: Share
  /**
   * Additional time. Unit: s.
   */
  more: number
}
/**
 * All layouts with one tensor- and one pipeline-parallel size.
 */
export interface Cell {
  /**
   * Cluster as named by the user.
   */
  cluster: string
  /**
   * Number of devices.
   */
  devices: number
  /**
   * Tensor-parallel size.
   */
  tensor: number
  /**
   * Pipeline-parallel size.
   */
  pipeline: number
  outcome: Outcome
}
/**
 * A layout worth measuring.
 */
export interface Measure {
  /**
   * Rank of the layout, from 1.
   */
  rank: number
  /**
   * Layout as flags, for `calibrate --step "LAYOUT=SECONDS"`.
   */
  layout: string
  /**
   * Current width of the rows' 90% intervals: upper over lower end, geometric mean.
   */
  width_now: number
  /**
   * Width after measuring this layout and those before it in the list.
   */
  width_afterwards: number
}
