// Made from docs/reference/schema/size.json by scripts/types.mjs.

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
 * Time for which devices are occupied, in hours, summed over devices.
 */
export type DeviceHours = number

/**
 * Common fields of every result.
 */
export interface SizeAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'size'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Title: model and tokens in one line.
   */
  title: string
  size: Sized
  /**
   * Layout of each row as flags, in the order of the rows.
   */
  layouts: string[]
  /**
   * Command that estimates the chosen row; `null` if no row is chosen.
   */
  command: string | null
  /**
   * Training tokens.
   */
  tokens: number
  /**
   * Global batch size in sequences.
   */
  global_batch: number
  /**
   * Sequence length in tokens.
   */
  sequence_length: number
  /**
   * True if the global batch scales with the number of devices.
   */
  growing_batch: boolean
  /**
   * Defaults of unspecified settings.
   */
  chosen: string[]
  /**
   * True if the whole space was searched.
   */
  complete: boolean
}
/**
 * Result of cluster sizing.
 */
export interface Sized {
  goal: Goal
  /**
   * The kinds of machines.
   */
  machines: Machine[]
  /**
   * All tried numbers that can train the model, by machine, ascending.
   */
  rows: Row[]
  /**
   * Tried numbers that cannot train the model.
   */
  impossible: Impossible[]
  verdict: Verdict
}
/**
 * Goal of the training.
 */
export interface Goal {
  /**
   * Latest end, in time on the calendar from the start. Unit: s.
   */
  deadline: number | null
  /**
   * Maximum rent of the devices. Unit: USD.
   */
  budget: number | null
  /**
   * Minimum marginal efficiency for adding devices: work of an added device as a share of that of a
   * device of the smallest number.
   */
  worth: number
}
/**
 * A kind of machine to buy or rent.
 */
export interface Machine {
  /**
   * Name given by the caller.
   */
  name: string
  /**
   * Devices in one machine: all numbers are multiples of it.
   */
  devices: number
  /**
   * The numbers to try first, ascending.
   */
  numbers: number[]
  /**
   * Maximum number of devices: above it, some replica would have no sequence.
   */
  most: number
}
/**
 * One number of devices of one kind, with its best layout.
 */
export interface Row {
  /**
   * Index of the kind of machine.
   */
  machine: number
  /**
   * The cluster's name.
   */
  cluster: string
  /**
   * The vendor's name of the accelerator.
   */
  accelerator: string
  /**
   * Number of devices.
   */
  devices: number
  /**
   * Number of machines.
   */
  machines: number
  /**
   * The layout in one line.
   */
  plan_summary: string
  plan: Plan
  /**
   * Step time. Unit: s.
   */
  step_time: number
  step_time_interval: Interval
  /**
   * Tokens per second.
   */
  tokens_per_second: number
  /**
   * Model FLOPs utilization in the full attention convention, against the compute format's peak.
   */
  mfu: number | null
  /**
   * Probability that the layout fits.
   */
  probability_of_fitting: number
  /**
   * Tokens per second and device, relative to those of the smallest number of the same machine.
   */
  efficiency: number
  /**
   * True if the row is on the upper hull of throughput over devices. Numbers below it divide the batch or
   * the model badly.
   */
  on_hull: boolean
  /**
   * Marginal efficiency of the devices added to the next smaller number on the hull, relative to those of
   * the smallest number. `null` for the smallest, and for numbers that are no faster than a smaller
   * one.
   */
  marginal_efficiency: number | null
  /**
   * Days saved per added device.
   */
  days_saved_per_device: number | null
  /**
   * Rent per saved day; negative if the larger number is cheaper. Unit: USD.
   */
  dollars_per_day_saved: number | null
  bill: Bill
  /**
   * True if it ends by the deadline.
   */
  in_time: boolean
  /**
   * True if its rent is within the budget.
   */
  in_budget: boolean
  /**
   * True if a smaller number of the same machine takes no longer.
   */
  is_wasted: boolean
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
 * A number of devices without a valid layout.
 */
export interface Impossible {
  /**
   * Index of the kind of machine.
   */
  machine: number
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
 * The selected size.
 */
export interface Verdict {
  /**
   * Index of the selected row. `null` if no row meets the goal, or without a goal.
   */
  chosen: number | null
  /**
   * True if a goal was set and no row meets it.
   */
  is_no: boolean
  /**
   * The row nearest to the goal. `null` if a row meets it.
   */
  nearest: Miss | null
  /**
   * Largest efficient size, by kind of machine.
   */
  stops: Stop[]
}
/**
 * Distance of the nearest row from the goal.
 */
export interface Miss {
  /**
   * Index of the row.
   */
  row: number
  /**
   * Time beyond the deadline; 0 if it is met. Unit: s.
   */
  late: number
  /**
   * Rent above the budget; 0 if it is met. Unit: USD.
   */
  over_budget: number
}
/**
 * The largest efficient number of a kind of machine.
 */
export interface Stop {
  /**
   * Index of the kind of machine.
   */
  machine: number
  /**
   * Index of the row.
   */
  row: number
  /**
   * True if a larger number was tried and was inefficient. Otherwise the end of the table is still
   * efficient.
   */
  is_reached: boolean
}
