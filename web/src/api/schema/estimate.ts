// Made from docs/reference/schema/estimate.json by scripts/types.mjs.

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
 * Convention for attention.
 */
export type Convention = 'causal_attention' | 'full_attention'
/**
 * Evidence for a cost.
 */
export type Source = 'nothing' | 'calibrated' | 'measured' | 'interpolated' | 'derived'
/**
 * Predicted memory fit of a plan.
 */
export type Fit = 'fits' | 'at_risk' | 'does_not_fit'
/**
 * Time of the peak.
 */
export type Moment = 'loss' | 'backward' | 'backward_end' | 'optimizer_step'
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
 * Module of a layer; the unit of recompute and of memory reports.
 */
export type Module =
  | 'embedding'
  | 'norm'
  | 'attention_input'
  | 'attention_core'
  | 'attention_output'
  | 'mlp'
  | 'router'
  | 'experts'
  | 'shared_expert'
  | 'head'
  | 'multi_token_prediction'
/**
 * Time for which devices are occupied, in hours, summed over devices.
 */
export type DeviceHours = number

/**
 * Common fields of every result.
 */
export interface EstimateAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'estimate'
  /**
   * Version of the program.
   */
  railwright: string
  model: ModelIdentity
  cluster: ClusterIdentity
  /**
   * Layout in one line.
   */
  plan_summary: string
  plan: Plan
  software: SoftwareIdentity
  /**
   * Time of one step. Unit: s.
   */
  step_time: number
  step_time_interval: Interval
  throughput: Throughput
  efficiency: Efficiency
  time: Part
  /**
   * Rows of all pipeline stages.
   */
  stages: StageRow[]
  /**
   * Collectives of the critical stage, by kind.
   */
  communication: CommunicationRow[]
  memory: MemoryEstimate
  /**
   * Time and cost of the token budget; absent without a budget.
   */
  money: Bill | null
  /**
   * Evidence for the step time; the shares sum to 1.
   */
  provenance: EvidenceShare[]
  /**
   * Warnings.
   */
  warnings: Warning[]
  /**
   * Derivations of the main numbers.
   */
  why: Explanation[]
  /**
   * Settings that were not specified.
   */
  chosen: string[]
  software_is_inferred: boolean
  /**
   * Features of the software that were assumed, those that change the step most.
   */
  open_features: OpenFeature[]
  /**
   * Measurements of the run's log; absent without a log.
   */
  measured?: Measured | null
  comparisons?: Comparison[] | null
  /**
   * Terms of the report, with `--explain`.
   */
  explained?: Item[] | null
}
/**
 * The model.
 */
export interface ModelIdentity {
  /**
   * Its name.
   */
  name: string
  /**
   * Its family.
   */
  family: string
  /**
   * Layers.
   */
  layers: number
  /**
   * Width of the residual stream.
   */
  hidden_size: number
  /**
   * Vocabulary size.
   */
  vocabulary: number
  parameters: ParameterCount
}
/**
 * Parameter counts of a model, in all conventions of model cards.
 */
export interface ParameterCount {
  /**
   * All parameters, including towers, a tied embedding counted once, without multi-token prediction.
   */
  total: number
  /**
   * Word embedding.
   */
  word_embedding: number
  /**
   * Matrix of the head; 0 if tied.
   */
  head: number
  /**
   * All routed experts of all layers.
   */
  routed_experts: number
  /**
   * Parameters active per token, input embedding included.
   */
  active: number
  /**
   * Parameters active per token, without the input embedding unless it is also the head.
   */
  active_without_embedding: number
  /**
   * Further stacks (an encoder, a vision tower), part of `total`.
   */
  towers?: number
  /**
   * Multi-token-prediction modules, not included in `total`.
   */
  multi_token_prediction: number
}
/**
 * The cluster.
 */
export interface ClusterIdentity {
  /**
   * Its name.
   */
  name: string
  /**
   * The accelerator's identifier in the catalogue.
   */
  accelerator: string
  /**
   * The vendor's name for it.
   */
  accelerator_name: string
  /**
   * Its architecture.
   */
  architecture: string
  /**
   * Accelerators used.
   */
  devices: number
  /**
   * Devices of other kinds among them.
   */
  pools?: PoolIdentity[]
  /**
   * Accelerators per server.
   */
  devices_per_node: number
  /**
   * Accelerators per scale-up domain.
   */
  domain_size: number
  /**
   * File of the calibration, if any.
   */
  calibration?: string | null
}
/**
 * Devices of a different kind in the job.
 */
export interface PoolIdentity {
  /**
   * Name of the accelerator.
   */
  accelerator_name: string
  /**
   * First rank on these devices.
   */
  first_rank: number
  /**
   * Number of devices.
   */
  devices: number
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
 * The software generation.
 */
export interface SoftwareIdentity {
  /**
   * Its identifier.
   */
  id: string
  /**
   * Title for display.
   */
  name: string
  /**
   * Origin of its constants.
   */
  source: string
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
 * Throughput of a step.
 */
export interface Throughput {
  /**
   * Sequences per step.
   */
  sequences_per_step: number
  /**
   * Micro-batches per replica and step.
   */
  micro_batches: number
  /**
   * Tokens per step.
   */
  tokens_per_step: number
  /**
   * Tokens per second.
   */
  tokens_per_second: number
  /**
   * Tokens per second and accelerator.
   */
  tokens_per_second_per_device: number
  /**
   * Steps per day.
   */
  steps_per_day: number
}
/**
 * Utilization of the compute units.
 */
export interface Efficiency {
  /**
   * Arithmetic of the model, by convention.
   */
  model_flop: ModelFlop[]
  /**
   * Arithmetic that all devices execute in a step, including recompute and excluding masked attention.
   * Never less than in the causal convention. Unit: FLOP.
   */
  hardware_flop: number
  /**
   * Executed arithmetic per second and accelerator. Unit: FLOP/s.
   */
  hardware_flop_rate: number
  /**
   * HFU by peak.
   */
  hardware: Utilization[]
}
/**
 * The arithmetic of one step in one convention.
 */
export interface ModelFlop {
  convention: Convention
  /**
   * Forward and backward arithmetic of one token. Unit: FLOP.
   */
  per_token: number
  /**
   * Arithmetic of one step. Unit: FLOP.
   */
  per_step: number
  /**
   * Achieved arithmetic per second and accelerator. Unit: FLOP/s.
   */
  rate: number
  /**
   * MFU by peak: that of the compute format first, and of bf16 if the compute format is narrower.
   */
  utilisation: Utilization[]
}
/**
 * A share of a peak.
 */
export interface Utilization {
  peak_format: DataType
  /**
   * Dense peak of that format per accelerator. Unit: FLOP/s.
   */
  peak: number
  /**
   * Utilization (0 to 1).
   */
  share: number
}
/**
 * A part of the step.
 */
export interface Part {
  /**
   * Stable identifier, documented by `railwright explain`: `step`, `compute`, `compute.mlp`,
   * `compute.mlp.forward`.
   */
  id: string
  /**
   * Title for display.
   */
  title: string
  /**
   * Duration. Unit: s.
   */
  time: number
  /**
   * Share of the step (0 to 1).
   */
  share: number
  /**
   * Child parts, whose times sum to this one.
   */
  children: Part[]
}
/**
 * One stage.
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
   * True if the word embedding is on it.
   */
  embedding: boolean
  /**
   * True if the head and the loss are on it.
   */
  head: boolean
  /**
   * Forward pass of one micro-batch through all its chunks by itself, host included. Unit: s.
   */
  forward: number
  /**
   * Backward pass of one micro-batch, recompute and host included. Unit: s.
   */
  backward: number
  /**
   * Recompute part of the backward pass. Unit: s.
   */
  recompute: number
  /**
   * Time in passes per step. Below the sum of individual passes with DualPipe, which fuses passes of its
   * two directions. Unit: s.
   */
  busy: number
  /**
   * Exposed communication in this time. Unit: s.
   */
  exposed: number
  /**
   * Rest of the pipeline's duration: idle time and blocking transfers. Unit: s.
   */
  bubble: number
  /**
   * Exposed gradient reduction on this stage. Unit: s.
   */
  gradient_exposed: number
  /**
   * Memory at the stage's peak. Unit: B.
   */
  memory: number
  /**
   * True if the breakdown describes this stage.
   */
  critical: boolean
}
/**
 * Collectives of one kind, bytes and group.
 */
export interface CommunicationRow {
  /**
   * `tensor`, `context`, `expert`, `shard`, `pipeline` or `data`.
   */
  dimension: string
  /**
   * Title of its purpose.
   */
  title: string
  /**
   * `all_reduce`, `all_gather`, ...
   */
  operation: string
  /**
   * Bytes of one call, by nccl-tests' convention. Unit: B.
   */
  bytes: number
  /**
   * Ranks of the group.
   */
  ranks: number
  /**
   * Number of scale-up domains of the group.
   */
  domains: number
  /**
   * Calls per step; 0.5 is half of a collective.
   */
  count: number
  /**
   * Time of one call. Unit: s.
   */
  time_each: number
  /**
   * Time of all calls in a step, hidden or exposed. Unit: s.
   */
  time: number
  /**
   * Exposed time; absent if it is part of the pipeline bubble. Unit: s.
   */
  exposed: number | null
  /**
   * Lower and upper bound on the time of one call. `null` if measurements cover it.
   *
   * @minItems 2
   * @maxItems 2
   */
  unmeasured?: [number, number] | null
  /**
   * Bus bandwidth, by nccl-tests' convention. Unit: B/s.
   */
  bus_bandwidth: number
  /**
   * Assumed algorithm of the library.
   */
  algorithm: string
  source: Source
}
/**
 * Memory of the run, compared with the device's.
 */
export interface MemoryEstimate {
  /**
   * Memory of the device of the worst stage. Unit: B.
   */
  device_memory: number
  /**
   * Memory of the worst stage, including context. Unit: B.
   */
  peak: number
  /**
   * Free memory on it; negative if the allocator must release reserved memory, or if the plan does not
   * fit. Unit: B.
   */
  margin: number
  /**
   * Minimum memory with which the worst stage runs, after the allocator releases unused memory. Unit: B.
   */
  least: number
  fit: Fit
  /**
   * Probability that the real peak fits.
   */
  probability_of_fitting: number
  /**
   * True if the peak is close enough to the limit to cause allocator retries.
   */
  near_limit: boolean
  /**
   * The stage with the largest need.
   */
  worst: number
  /**
   * Memory of every stage.
   */
  stages: StageMemory[]
  /**
   * The largest items of the worst stage.
   */
  top: TopItem[]
}
/**
 * One stage.
 */
export interface StageMemory {
  /**
   * The stage, from 0.
   */
  stage: number
  moment: Moment
  /**
   * Micro-batches in flight, per chunk.
   */
  in_flight: number[]
  /**
   * Bytes allocated by tensors. Unit: B.
   */
  allocated: number
  /**
   * Bytes reserved by the allocator. Unit: B.
   */
  reserved: number
  /**
   * Memory reported by the device; the kinds sum to it. Unit: B.
   */
  device: number
  /**
   * Memory of the device; that of the smallest kind on the stage. Unit: B.
   */
  available: number
  /**
   * Memory by kind, in the order of `Kind`.
   */
  kinds: KindBytes[]
}
/**
 * Memory of one kind.
 */
export interface KindBytes {
  kind: Kind
  /**
   * Amount. Unit: B.
   */
  bytes: number
}
/**
 * Memory of one kind and module, over all layers of the stage.
 */
export interface TopItem {
  kind: Kind
  /**
   * Module, if any.
   */
  module: Module | null
  /**
   * Amount. Unit: B.
   */
  bytes: number
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
 * A share of the step with its evidence.
 */
export interface EvidenceShare {
  /**
   * `operators.calibrated`, `operators.measured`, `operators.fitted`, `operators.derived`,
   * `operators.roofline`, `collectives.calibrated`, `collectives.measured`, `collectives.
   * interpolated`, `collectives.derived`, `software`, `schedule`.
   */
  id: string
  /**
   * Title for display.
   */
  title: string
  /**
   * Time in the step with this evidence. Unit: s.
   */
  time: number
  /**
   * Share of the step (0 to 1).
   */
  share: number
}
/**
 * One number explained.
 */
export interface Explanation {
  /**
   * Identifier, as in the breakdown and in `railwright explain`.
   */
  id: string
  /**
   * Title for display.
   */
  title: string
  /**
   * The number.
   */
  value: number
  /**
   * Its unit; empty for counts and shares.
   */
  unit: string
  /**
   * The number as text.
   */
  text: string
  /**
   * The equation, with the inputs' names.
   */
  formula: string
  /**
   * Inputs.
   */
  inputs: Input[]
  /**
   * Basis of the equation.
   */
  source: string
}
/**
 * A number that an equation uses.
 */
export interface Input {
  /**
   * Name in the equation.
   */
  name: string
  /**
   * Value.
   */
  value: number
  /**
   * Its unit; empty for counts and shares.
   */
  unit: string
  /**
   * Origin.
   */
  source: string
}
/**
 * An assumed feature, and the step time without it.
 */
export interface OpenFeature {
  /**
   * Key of a run file that specifies the feature.
   */
  key: string
  /**
   * Title of the feature.
   */
  title: string
  /**
   * Assumed value.
   */
  assumed: string
  /**
   * Alternative with the largest effect on step time.
   */
  alternative: string
  /**
   * Relative change of step time with the alternative.
   */
  change: number
  /**
   * Option to add to the command.
   */
  remedy: string
}
/**
 * Measurements of a run in its log. Times are in seconds.
 */
export interface Measured {
  /**
   * Iterations that the log reports on, over all restarts.
   */
  reported: number
  /**
   * Starts of the run in this log: 1, or more with restarts.
   */
  starts: number
  /**
   * Iterations left out as warm-up.
   */
  left_out: number
  /**
   * Iterations left out because they have another batch size than the last.
   */
  other_batch: number
  /**
   * Seconds of one step: the median of the reports that were kept, each weighted with the iterations that
   * it averages over. Unit: s.
   */
  step_time: number
  /**
   * The tenth and ninetieth percentile of the same. Unit: s.
   *
   * @minItems 2
   * @maxItems 2
   */
  step_time_range: [number, number]
  /**
   * Tokens per step, if the log has batch and sequence length.
   */
  tokens_per_step: number | null
  /**
   * Model TFLOP/s of one device as in the log, the median of the reports that were kept. Unit: TFLOP/s.
   */
  tflops_per_device: number | null
  /**
   * Maximum memory allocated on a rank, in bytes. Unit: B.
   */
  allocated: number | null
  /**
   * Maximum memory reserved by the allocator on a rank, in bytes. Unit: B.
   */
  reserved: number | null
}
/**
 * One figure, measured and predicted.
 */
export interface Comparison {
  /**
   * Name of the figure: `step_time`, `tokens_per_second_per_device`, `tflops_per_device`, `allocated` or
   * `reserved`.
   */
  figure: string
  /**
   * Measured, in seconds, tokens per second, TFLOP/s or bytes.
   */
  measured: number
  /**
   * Predicted.
   */
  predicted: number
  /**
   * Predicted over measured, minus 1.
   */
  difference: number
  /**
   * True if the measurement is inside the interval. `null` for figures without one.
   */
  inside: boolean | null
}
/**
 * Something to explain.
 */
export interface Item {
  /**
   * Identifier, as in the report or `railwright explain`.
   */
  id: string
  /**
   * Meaning.
   */
  topic?: Topic | null
  /**
   * Value in this run.
   */
  value: string
  /**
   * The equation, in the inputs' names.
   */
  formula?: string | null
  /**
   * Inputs: name, value, source.
   */
  inputs: [string, string, string][]
  /**
   * Basis of the equation.
   */
  source?: string | null
}
/**
 * Explanation of an identifier.
 */
export interface Topic {
  /**
   * Identifier.
   */
  id: string
  /**
   * Group: `warning`, `time`, `memory`, `finding`, `concept`, `term`, ...
   */
  group: string
  /**
   * Title of one line.
   */
  title: string
  /**
   * Text of one paragraph.
   */
  text: string
}
