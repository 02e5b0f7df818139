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
 * Hours that devices are taken, summed over devices.
 */
export type DeviceHours = number

/**
 * Common fields of every answer.
 */
export interface EstimateAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
   * How, in one line.
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
   * Every pipeline stage.
   */
  stages: StageRow[]
  /**
   * Every kind of collective of the stage that the others wait for.
   */
  communication: CommunicationRow[]
  memory: MemoryEstimate
  /**
   * Time and cost of the token budget; absent without a budget.
   */
  money: Bill | null
  /**
   * Evidence for the step time; the shares add up to 1.
   */
  provenance: Foundation[]
  /**
   * Warnings.
   */
  warnings: Warning[]
  /**
   * Reason why the main numbers are what they are.
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
   * Words.
   */
  vocabulary: number
  parameters: ParameterCount
}
/**
 * Parameter counts of a model, in all conventions of model cards.
 */
export interface ParameterCount {
  /**
   * All parameters, towers included, a tied embedding counted once, without multi-token prediction.
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
   * Accelerators per server.
   */
  devices_per_node: number
  /**
   * Accelerators per scale-up domain.
   */
  domain_size: number
  /**
   * The file of the calibration, if there is one.
   */
  calibration?: string | null
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
 * The software generation.
 */
export interface SoftwareIdentity {
  /**
   * Its identifier.
   */
  id: string
  /**
   * Title for people.
   */
  name: string
  /**
   * Origin of its constants.
   */
  source: string
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
 * Throughput of a step.
 */
export interface Throughput {
  /**
   * Sequences per step.
   */
  sequences_per_step: number
  /**
   * Micro batches per replica and step.
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
 * Utilisation of the compute units.
 */
export interface Efficiency {
  /**
   * The arithmetic that the model needs, by convention.
   */
  model_flop: ModelFlop[]
  /**
   * Arithmetic that all devices execute in a step, recompute included and masked attention not: never less than the causal convention's. Unit: FLOP.
   */
  hardware_flop: number
  /**
   * The same per second and accelerator. Unit: FLOP/s.
   */
  hardware_flop_rate: number
  /**
   * Peaks, and what share of them is hardware arithmetic.
   */
  hardware: Utilisation[]
}
/**
 * The arithmetic of one step in one convention.
 */
export interface ModelFlop {
  convention: Convention
  /**
   * Forward and backward for one token. Unit: FLOP.
   */
  per_token: number
  /**
   * For a step. Unit: FLOP.
   */
  per_step: number
  /**
   * Achieved per second and accelerator. Unit: FLOP/s.
   */
  rate: number
  /**
   * MFU by peak: that of the compute format first, and of bf16 if the compute format is narrower.
   */
  utilisation: Utilisation[]
}
/**
 * A share of a peak.
 */
export interface Utilisation {
  peak_format: DataType
  /**
   * That peak per accelerator, dense. Unit: FLOP/s.
   */
  peak: number
  /**
   * The share.
   */
  share: number
}
/**
 * A part of the step.
 */
export interface Part {
  /**
   * A stable identifier that `railwright explain` knows: `step`, `compute`, `compute.mlp`, `compute.mlp.forward`.
   */
  id: string
  /**
   * Title for people.
   */
  title: string
  /**
   * Duration. Unit: s.
   */
  time: number
  /**
   * Its share of the step.
   */
  share: number
  /**
   * Its parts, which add up to it.
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
   * Whether the word embedding lies on it.
   */
  embedding: boolean
  /**
   * Whether the head and the loss lie on it.
   */
  head: boolean
  /**
   * Forward pass of one micro-batch through all its chunks, host included. Unit: s.
   */
  forward: number
  /**
   * Backward pass of one micro-batch, recompute and host included. Unit: s.
   */
  backward: number
  /**
   * Of that, recompute. Unit: s.
   */
  recompute: number
  /**
   * Time in passes in a step. Unit: s.
   */
  busy: number
  /**
   * Of that, exposed communication. Unit: s.
   */
  exposed: number
  /**
   * The rest of the pipeline's duration: idle, and transfers that block. Unit: s.
   */
  bubble: number
  /**
   * Reduction of gradients that is exposed on this stage. Unit: s.
   */
  gradient_exposed: number
  /**
   * Memory at the stage's peak. Unit: B.
   */
  memory: number
  /**
   * Whether the breakdown describes this stage.
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
   * Bytes of one, by nccl-tests' convention. Unit: B.
   */
  bytes: number
  /**
   * Ranks of the group.
   */
  ranks: number
  /**
   * Scale-up domains that it spans.
   */
  domains: number
  /**
   * Calls per step; halves count halves of a collective.
   */
  count: number
  /**
   * Time of one. Unit: s.
   */
  time_each: number
  /**
   * Time of all in a step, hidden or not. Unit: s.
   */
  time: number
  /**
   * Exposed time; absent if it is part of the pipeline bubble. Unit: s.
   */
  exposed: number | null
  /**
   * The least and the most that one may take, where no measurement covers it.
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
   * What the library is taken to run.
   */
  algorithm: string
  source: Source
}
/**
 * Memory against the device's.
 */
export interface MemoryEstimate {
  /**
   * Memory of the device. Unit: B.
   */
  device_memory: number
  /**
   * Memory of the worst stage, including context. Unit: B.
   */
  peak: number
  /**
   * Free memory on it; negative if the allocator must release reserved memory, or if the plan does not fit. Unit: B.
   */
  margin: number
  /**
   * The least that the worst stage runs with, once the allocator has given back. Unit: B.
   */
  least: number
  fit: Fit
  /**
   * Probability that the real peak fits.
   */
  probability_of_fitting: number
  /**
   * Whether the peak is so near the limit that the allocator will free and retry.
   */
  near_limit: boolean
  /**
   * The stage that needs most.
   */
  worst: number
  /**
   * Every stage.
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
   * Micro batches alive, chunk by chunk.
   */
  in_flight: number[]
  /**
   * Bytes of tensors. Unit: B.
   */
  allocated: number
  /**
   * Bytes reserved by the allocator. Unit: B.
   */
  reserved: number
  /**
   * Memory as shown by the device; the kinds add up to it. Unit: B.
   */
  device: number
  /**
   * By kind, in the order of `Kind`.
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
 * A share of the step and what it rests on.
 */
export interface Foundation {
  /**
   * `operators.calibrated`, `operators.measured`, `operators.fitted`, `operators.derived`, `operators.roofline`, `collectives.calibrated`, `collectives.measured`,
   * `collectives.interpolated`, `collectives.derived`, `software`, `schedule`.
   */
  id: string
  /**
   * Title for people.
   */
  title: string
  /**
   * Share of the step. Unit: s.
   */
  time: number
  /**
   * As a share.
   */
  share: number
}
/**
 * One number explained.
 */
export interface Explanation {
  /**
   * The identifier of what is explained, as the breakdown and `railwright explain` spell it.
   */
  id: string
  /**
   * Title for people.
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
   * The number as people write it.
   */
  text: string
  /**
   * The equation, in the inputs' names.
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
   * As the equation names it.
   */
  name: string
  /**
   * The number.
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
   * Seconds of one step: the median of the reports that were kept, each weighted with the iterations that it averages over. Unit: s.
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
   * Model TFLOP/s of one device as the log has it, the median of the reports that were kept. Unit: TFLOP/s.
   */
  tflops_per_device: number | null
  /**
   * The largest memory that the allocator had handed out on a rank, in bytes. Unit: B.
   */
  allocated: number | null
  /**
   * The largest memory that the allocator held on a rank, in bytes. Unit: B.
   */
  reserved: number | null
}
/**
 * One figure, measured and predicted.
 */
export interface Comparison {
  /**
   * Which: `step_time`, `tokens_per_second_per_device`, `tflops_per_device`, `allocated`, `reserved`.
   */
  figure: string
  /**
   * Measured, in seconds, tokens a second, TFLOP/s or bytes.
   */
  measured: number
  /**
   * Predicted.
   */
  predicted: number
  /**
   * Predicted over measured, less 1.
   */
  difference: number
  /**
   * Whether the measurement lies in the interval, for figures that have one.
   */
  inside: boolean | null
}
/**
 * Something to explain.
 */
export interface Item {
  /**
   * As the report or `railwright explain` names it.
   */
  id: string
  /**
   * Meaning.
   */
  topic?: Topic | null
  /**
   * Its value here.
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
   * Group: `warning`, `time`, `memory`, `finding`, `concept`, ...
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
