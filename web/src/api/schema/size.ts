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
       * Layers per stage with recompute; `None`: all.
       */
      layers: number | null
    }
  | {
      mode: 'full'
      /**
       * Layers per stage with recompute; `None`: all.
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
 * Hours that devices are taken, summed over devices.
 */
export type DeviceHours = number

/**
 * Common fields of every answer.
 */
export interface SizeAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
   * Command that estimates the chosen row; `None` if no row is chosen.
   */
  command: string | null
  /**
   * Training tokens.
   */
  tokens: number
  /**
   * Sequences of a step.
   */
  global_batch: number
  /**
   * Tokens of a sequence.
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
   * Whether everything was searched.
   */
  complete: boolean
}
/**
 * The whole answer.
 */
export interface Sized {
  goal: Goal
  /**
   * The kinds of machines.
   */
  machines: Machine[]
  /**
   * Every number that was tried and can train the model, by machine, rising.
   */
  rows: Row[]
  /**
   * Those that cannot.
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
   * Most that the devices' rent may come to. Unit: USD.
   */
  budget: number | null
  /**
   * Least work that an added device must do, as a share of what a device of the smallest number does, to be worth adding.
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
   * Devices in one machine: what numbers are multiples of.
   */
  devices: number
  /**
   * The numbers to try first, rising.
   */
  numbers: number[]
  /**
   * No more than this makes sense: some replica would have no sequence to train on.
   */
  most: number
}
/**
 * One number of devices of one kind, with the best layout that was found for it.
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
   * Devices.
   */
  devices: number
  /**
   * Machines that hold them.
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
   * Model FLOPs utilisation, attention counted in full, against the compute format's peak.
   */
  mfu: number | null
  /**
   * Probability that the layout fits.
   */
  probability_of_fitting: number
  /**
   * Tokens per second and device over those of the smallest number of the same machine.
   */
  efficiency: number
  /**
   * Whether no mixture of a smaller and a larger number does more per device: rows off this hull divide badly.
   */
  on_hull: boolean
  /**
   * What the devices beyond the next smaller number on the hull do, as a share of what those of the smallest number do. `None` for the
   * smallest, and for numbers that are no faster than a smaller one.
   */
  marginal_efficiency: number | null
  /**
   * Days saved by each of these added devices.
   */
  days_saved_per_device: number | null
  /**
   * Rent of each day that they save; negative where the larger number is the cheaper one. Unit: USD.
   */
  dollars_per_day_saved: number | null
  bill: Bill
  /**
   * Whether it ends by the deadline.
   */
  in_time: boolean
  /**
   * Whether its rent stays within the budget.
   */
  in_budget: boolean
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
   * True if norms and dropout between the sharded GEMMs are sharded along the sequence (Korthikanti 2022).
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
   * Devices used per scale-up domain; `None`: all.
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
   * Layers per virtual stage in pipeline order; `None`: even division.
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
   * Expert capacity factor: maximum tokens per expert relative to the mean; `None` is dropless.
   */
  expert_capacity: number | null
  /**
   * Mean length in tokens of the documents packed into a sequence; attention does not cross documents. `None`: one document per
   * sequence.
   */
  document_length: number | null
  /**
   * Multiple to which the vocabulary is padded, times the tensor-parallel size (Megatron: 128); 1: no padding.
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
   * Ranks that share one copy; `None`: all data-parallel ranks. Smaller groups are hybrid sharding, with a replica per group.
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
   * Master weights; `None`: none are kept.
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
   * Policies in the order of the stage's layers, each for its number of layers. A policy without a number covers all remaining layers.
   * Other layers are not recomputed. `Selective` without modules skips layers.
   */
  segments: Recompute[]
  /**
   * Share of the stage's activations in host memory, 0 to 1; `None`: the plan's.
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
   * Whether they are of the same software generation, or one's own.
   */
  calibrated: boolean
  /**
   * Origin of the width.
   */
  source: string
}
/**
 * Time and cost of a training.
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
   * Time in which steps make progress. Unit: s.
   */
  productive: number
  /**
   * Share of the calendar in which steps make progress.
   */
  availability: number
  /**
   * Origin of that share, if failures are modelled.
   */
  failures?: Failures | null
  /**
   * Time on the calendar, failures and restarts included. Unit: s.
   */
  calendar: number
  device_hours: DeviceHours
  /**
   * Rent of the devices; `None` without a price. Unit: USD.
   */
  rent: number | null
  /**
   * The price of a device-hour that was used.
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
 * Origin of the goodput of a run.
 */
export interface Failures {
  /**
   * Goodput at the highest published failure rate.
   */
  lowest: number
  /**
   * Goodput at the lowest.
   */
  highest: number
  /**
   * Mean time between failures of the whole job. Unit: s.
   */
  mtbf: number
  /**
   * Time from the start of a checkpoint until it is restorable. Unit: s.
   */
  checkpoint: number
  /**
   * Bytes of a checkpoint, where its time follows from the bandwidth of the storage. Unit: B.
   */
  checkpoint_bytes?: number | null
  /**
   * Time of training between checkpoints, the one with the highest goodput. Unit: s.
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
   * The setting, by its flag.
   */
  setting: string
  /**
   * Its value, in words.
   */
  value: string
  /**
   * Origin.
   */
  source: string
}
/**
 * A price and where it was read.
 */
export interface DatedPrice {
  /**
   * The price. Unit: USD.
   */
  amount: number
  /**
   * Lowest and highest that were seen, where a range is known.
   *
   * @minItems 2
   * @maxItems 2
   */
  range: [number, number] | null
  /**
   * Date and source, or that the user gave it.
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
 * A number of devices on which nothing can be trained.
 */
export interface Impossible {
  /**
   * Index of the kind of machine.
   */
  machine: number
  /**
   * Devices.
   */
  devices: number
  /**
   * Reason.
   */
  reason: string
}
/**
 * Selection.
 */
export interface Verdict {
  /**
   * Index of the row to take; `None` when no row meets the goal, or nothing was asked.
   */
  chosen: number | null
  /**
   * Whether a goal was set and no row meets it.
   */
  is_no: boolean
  /**
   * The row nearest to the goal when none meets it.
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
   * Time beyond the deadline; 0 when it is kept. Unit: s.
   */
  late: number
  /**
   * Rent beyond the budget; 0 when it is kept. Unit: USD.
   */
  over_budget: number
}
/**
 * The last number of a kind of machine whose enlargement pays.
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
   * Whether a larger number was tried and did not pay; otherwise it still pays at the end of the table.
   */
  is_reached: boolean
}
