// Made from docs/reference/schema/estimate.json by scripts/types.mjs.

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
 * The module of a layer that a weight belongs to; the unit of recompute and of memory reports.
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
 * Parameter counts of a model. Cards differ in what they count, so all conventions stand side by side.
 */
export interface ParameterCount {
  /**
   * Everything, towers included, a tied embedding once, without multi-token prediction.
   */
  total: number
  /**
   * The word embedding.
   */
  word_embedding: number
  /**
   * The head's own matrix; 0 when tied.
   */
  head: number
  /**
   * All routed experts of all layers.
   */
  routed_experts: number
  /**
   * Parameters that one token uses, input embedding included.
   */
  active: number
  /**
   * Parameters that one token uses, without the input embedding unless it also serves as head.
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
 * A feature that was assumed, and the step time without the assumption.
 */
export interface OpenFeature {
  /**
   * Setting of a run file that decides it.
   */
  key: string
  /**
   * Kind.
   */
  title: string
  /**
   * Assumed value.
   */
  assumed: string
  /**
   * The alternative that changes the step most.
   */
  alternative: string
  /**
   * Step time with the alternative over that of the estimate, less 1.
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
 * Something that has an identifier.
 */
export interface Topic {
  /**
   * Its identifier.
   */
  id: string
  /**
   * Kind of thing it is: `warning`, `time`, `memory`, `finding`, `concept`, ...
   */
  group: string
  /**
   * A line.
   */
  title: string
  /**
   * A paragraph.
   */
  text: string
}
