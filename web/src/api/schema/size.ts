// Made from docs/reference/schema/size.json by scripts/types.mjs.

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
   * Model and tokens in one line.
   */
  title: string
  size: Sized
  /**
   * Each row's layout as flags, in the order of the rows.
   */
  layouts: string[]
  /**
   * The command that estimates the chosen row.
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
   * Whether the batch grows with the number of devices.
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
