// Made from docs/reference/schema/profile.json by scripts/types.mjs.

/**
 * Parallel dimension of a communication.
 */
export type Dimension = 'tensor' | 'context' | 'expert' | 'pipeline' | 'data' | 'other'
/**
 * Evidence for the dimension of a group.
 */
export type Evidence = 'sizes' | 'description' | 'tiling' | 'operations' | 'nothing'
/**
 * A number format of tensors or GEMMs.
 */
export type DataType = 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
/**
 * Source of step boundaries.
 */
export type CutBy =
  | 'inference_steps'
  | 'launches'
  | 'device_annotations'
  | 'host_annotations'
  | 'modules'
  | 'optimizer'
  | 'repetition'
  | 'collectives'
  | 'nothing'
/**
 * Reason why a device was idle.
 */
export type Cause =
  | 'allocation'
  | 'data_loading'
  | 'blocking_copy'
  | 'synchronisation'
  | 'compilation'
  | 'garbage_collection'
  | 'checkpoint'
  | 'evaluation'
  | 'profiler'
  | 'other_thread'
  | 'host_work'
  | 'launch_bound'
  | 'communication'
  | 'launch_latency'
  | 'device'
  | 'not_recorded'
  | 'unknown'
/**
 * Server that wrote an annotation.
 */
export type Server = 'vllm' | 'sglang' | 'atom' | 'tensorrt_llm'
/**
 * Kind of step of an inference server.
 */
export type Mode = 'prefill' | 'decode' | 'mixed' | 'verify' | 'draft' | 'idle' | 'other'
/**
 * A line of the first page.
 */
export type Group = 'ideal' | 'compute' | 'communication' | 'copy' | 'bubble' | 'host' | 'other'
/**
 * Kind of work an operator does.
 */
export type Kind =
  | 'product'
  | 'attention'
  | 'experts'
  | 'convolution'
  | 'normalisation'
  | 'elementwise'
  | 'reduction'
  | 'copy'
  | 'embedding'
/**
 * Limit of an operator at the roofline.
 */
export type Bound = 'compute' | 'memory'
export type Label =
  | 'ideal_compute'
  | 'matrix_products'
  | 'attention'
  | 'recompute'
  | 'memory_bound_kernels'
  | 'optimizer'
  | 'other_kernels'
  | 'slower_chip'
  | 'tensor_communication_transfer'
  | 'tensor_communication_waiting'
  | 'tensor_communication_undivided'
  | 'context_communication_transfer'
  | 'context_communication_waiting'
  | 'context_communication_undivided'
  | 'expert_communication_transfer'
  | 'expert_communication_waiting'
  | 'expert_communication_undivided'
  | 'pipeline_communication_transfer'
  | 'pipeline_communication_waiting'
  | 'pipeline_communication_undivided'
  | 'data_communication_transfer'
  | 'data_communication_waiting'
  | 'data_communication_undivided'
  | 'unknown_communication_transfer'
  | 'unknown_communication_waiting'
  | 'unknown_communication_undivided'
  | 'memory_copies'
  | 'bubble_of_the_schedule'
  | 'bubble_of_unequal_stages'
  | 'bubble_of_messages'
  | 'bubble_of_stalls'
  | 'pipeline_bubble'
  | 'host_bound'
  | 'synchronisation'
  | 'data_loading'
  | 'memory_allocation'
  | 'device_gaps'
  | 'unexplained'
/**
 * Key of a level of the tree.
 */
export type Level = 'label' | 'phase' | 'family' | 'kernel' | 'rest'
/**
 * Part of the step.
 */
export type Phase = 'forward' | 'recompute' | 'backward' | 'backward_input' | 'backward_weight' | 'optimizer' | 'other'
/**
 * Kind of operator of a span.
 */
export type OperatorFamily =
  | 'matrix_product'
  | 'attention'
  | 'norm'
  | 'elementwise'
  | 'embedding'
  | 'routing'
  | 'loss'
  | 'optimizer'
  | 'collective'
  | 'copy'
  | 'pass'
  | 'other'
/**
 * Key of the sums.
 */
export type By = 'module' | 'source'
/**
 * A kind of damage.
 */
export type DamageKind =
  | 'repaired_name'
  | 'unreadable_event'
  | 'bad_time'
  | 'negative_duration'
  | 'outlying_time'
  | 'duplicate_key'
  | 'truncated'
  | 'trailing_data'
  | 'partial_overlap'
  | 'unmatched_begin'
/**
 * Certainty of a cost.
 */
export type Certainty = 'replayed' | 'at_most' | 'unknown'
/**
 * Class of a span, which determines its colour in all views.
 */
export type Class =
  | 'forward'
  | 'backward'
  | 'weight_gradient'
  | 'recompute'
  | 'tensor'
  | 'context'
  | 'data'
  | 'pipeline'
  | 'expert'
  | 'bubble'
  | 'optimizer'
  | 'copy'
  | 'host'
  | 'other'
  | 'communication'
  | 'waiting'

/**
 * Common fields of every result.
 */
export interface ProfileAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'profile'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Number of recorded and displayed ranks.
   */
  ranks: number
  /**
   * Number of ranks in the job.
   */
  world_size: number
  /**
   * True if the world size is recorded. Otherwise it is a lower bound.
   */
  world_size_known: boolean
  /**
   * True if no rank recorded a device: times are those of host operators, and hours are rank-hours.
   */
  from_host: boolean
  /**
   * Number of ranks that were not recorded.
   */
  missing: number
  /**
   * Numbers of the first missing ranks.
   */
  missing_ranks: number[]
  /**
   * Parallel sizes and process groups of the job; `null` for one rank.
   */
  layout?: JobLayout | null
  /**
   * The devices, from the traces.
   */
  device: string | null
  /**
   * The accelerator's peak, if known.
   */
  peak: Peak | null
  /**
   * The model's operations per step, if known. Unit: FLOP.
   */
  flop_per_step: number | null
  /**
   * Model FLOPs utilization (0 to 1), if known.
   */
  utilisation: number | null
  /**
   * Source of step boundaries.
   */
  cut_by: CutBy | null
  /**
   * Spread of step starts over ranks, in nanoseconds.
   */
  step_spread_ns: number
  /**
   * The steps, such as `steps 10-12`; `the whole recording` without steps.
   */
  steps_covered: string
  /**
   * Part of the last step after the end of the recording, in nanoseconds: it completes the step, for a
   * mean over whole steps.
   */
  added_ns: number
  /**
   * The mean step, in nanoseconds.
   */
  step_time_ns: number
  /**
   * The median step, in nanoseconds.
   */
  median_step_ns: number
  /**
   * Leading steps excluded as warm-up.
   */
  warm_up?: WarmUp | null
  /**
   * Steps by content, if the trace is of an inference server.
   */
  serving?: Serving | null
  /**
   * Breakdown: parts that add up to it.
   */
  lines: Line[]
  /**
   * Idle time by cause and host frame, the longest first.
   */
  causes: CauseRow[]
  /**
   * Operators relative to the roofline of the accelerator, if shapes were recorded.
   */
  roofline?: Roofline | null
  /**
   * Estimated waiting per step because of unrecorded ranks, in nanoseconds.
   */
  estimated_wait_ns: number
  /**
   * Time by limiting part of the machine.
   */
  hardware: Part[]
  /**
   * Compute by phase.
   */
  phases: Part[]
  /**
   * Steps.
   */
  steps: StepRow[]
  /**
   * Ranks, if there are few.
   */
  rows: RankRow[]
  /**
   * Every rank in every step.
   */
  rank_steps: RankSteps | null
  /**
   * Distribution of labels over ranks, if there are several.
   */
  spreads: Spread[]
  /**
   * Ranks whose kernels take longer than the same kernels of other ranks, with the factor.
   */
  slower_chips: [number, number][]
  recorded: Recorded
  /**
   * Tree of label, phase, family, kernel.
   */
  tree: Node[]
  /**
   * All kernels, the longest time first.
   */
  kernels: KernelRow[]
  /**
   * Time by module or line of Python, if requested.
   */
  origins?: Origins | null
  /**
   * Readings of device and network-card counters per rank, if recorded with the traces.
   */
  health?: Health | null
  phases_found: FoundBy
  /**
   * Clock alignment and its reason.
   */
  clocks: string
  /**
   * Repairs and omissions on reading.
   */
  repairs: Repair[]
  /**
   * Findings of the rules.
   */
  findings: Finding[]
  /**
   * Joint cost of the findings with a known cost; `null` with fewer than two.
   */
  joint: Joint | null
  /**
   * Warnings.
   */
  warnings: Warning[]
  title: string
}
/**
 * The arrangement of a job's ranks.
 */
export interface JobLayout {
  /**
   * Dimensions with more than one rank, innermost first. Empty if the arrangement is not determined.
   */
  sizes: LayoutSize[]
  /**
   * True if all dimensions are known and their sizes multiply to the number of ranks.
   */
  complete: boolean
  /**
   * Reasons for doubt, and for an arrangement that is not determined.
   */
  doubts: string[]
  /**
   * Process groups with more than one rank, by dimension, size and stride.
   */
  groups: GroupClass[]
}
/**
 * One dimension of a job's ranks. Rank `r` is at position `r / stride % ranks`.
 */
export interface LayoutSize {
  dimension: Dimension
  /**
   * Short name, as in `--layout`.
   */
  name: string
  /**
   * Number of ranks.
   */
  ranks: number
  /**
   * Distance between neighbouring ranks.
   */
  stride: number
  evidence: Evidence
  /**
   * True if the ranks of its groups are inferred from the end times of collectives.
   */
  inferred: boolean
}
/**
 * Process groups of one dimension, size and stride.
 */
export interface GroupClass {
  dimension: Dimension
  /**
   * Label.
   */
  label: string
  /**
   * Number of ranks in a group.
   */
  ranks: number
  /**
   * Distance between neighbouring ranks; `null` if it varies or the ranks are not recorded.
   */
  stride: number | null
  /**
   * Number of groups.
   */
  groups: number
  evidence: Evidence
  /**
   * True if the groups are not recorded, but inferred from the end times of collectives.
   */
  inferred: boolean
}
/**
 * An accelerator's peak.
 */
export interface Peak {
  /**
   * Name in the catalogue.
   */
  accelerator: string
  data_type: DataType
  /**
   * Dense peak rate. Unit: FLOP/s.
   */
  rate: number
}
/**
 * Steps before the steady state, excluded from the means.
 */
export interface WarmUp {
  /**
   * Names of the steps.
   */
  steps: string[]
  /**
   * Their duration in nanoseconds.
   */
  time_ns: number
  /**
   * Excess over the same number of median steps, in nanoseconds: the one-off cost.
   */
  one_off_ns: number
  /**
   * Idle time in these steps by cause and frame; means are per rank and step.
   */
  causes: CauseRow[]
}
/**
 * Idle time by cause and place, over all ranks and steps.
 */
export interface CauseRow {
  cause: Cause
  /**
   * The innermost frame of the launching thread. `null` if no frame was recorded, and for the rest of a
   * cause.
   */
  frame: string | null
  /**
   * The innermost enclosing operator.
   */
  operator?: string | null
  /**
   * The innermost module.
   */
  module?: string | null
  /**
   * The innermost function of Python outside the framework.
   */
  python?: string | null
  /**
   * The innermost annotation.
   */
  annotation?: string | null
  /**
   * True if this row is the rest of a cause: the sum of frames with little time.
   */
  rest?: boolean
  /**
   * Time over all ranks and steps, in nanoseconds.
   */
  time_ns: number
  /**
   * Time per rank and step, in nanoseconds.
   */
  mean_ns: number
  /**
   * Share of the step (0 to 1).
   */
  share_of_step: number
  /**
   * Number of gaps, over all ranks and steps.
   */
  count: number
  /**
   * The longest of them, in nanoseconds.
   */
  longest_ns: number
  /**
   * The rank with the largest share.
   */
  rank: number
  /**
   * Its share of the row's time (0 to 1).
   */
  rank_share: number
}
/**
 * Report of an inference server's trace.
 */
export interface Serving {
  server: Server
  /**
   * Recorded kinds of steps.
   */
  modes: ModeRow[]
}
/**
 * All steps of one mode.
 */
export interface ModeRow {
  mode: Mode
  /**
   * Number of steps.
   */
  steps: number
  /**
   * Mean duration in nanoseconds: from a step's first kernel to that of the next step.
   */
  mean_ns: number
  /**
   * Lower median of the durations, in nanoseconds.
   */
  median_ns: number
  /**
   * Longest duration, in nanoseconds.
   */
  longest_ns: number
  /**
   * Mean requests in prefill per step; `null` if not recorded.
   */
  context_requests: number | null
  /**
   * Mean prompt tokens per step; `null` if not recorded.
   */
  context_tokens: number | null
  /**
   * Mean requests in decode per step; `null` if not recorded.
   */
  generation_requests: number | null
  /**
   * Mean tokens computed per step for requests in decode; `null` if not recorded.
   */
  generation_tokens: number | null
  /**
   * Computed tokens per second of these steps: prompt tokens and those of decode. `null` if an annotation
   * lacks them.
   */
  tokens_per_s: number | null
  /**
   * Mean time per step and rank by line of the first page, in the order of `Group::ALL`, in
   * nanoseconds.
   */
  groups_ns: number[]
  /**
   * Share of kernel time launched by graphs (`cudaGraphLaunch`, `hipGraphLaunch`; 0 to 1).
   */
  graph_share: number
}
/**
 * A line of the first page.
 */
export interface Line {
  group: Group
  /**
   * Name of the part.
   */
  name: string
  /**
   * Its time over all ranks and steps, in nanoseconds.
   */
  time_ns: number
  /**
   * Its time on the mean rank and step, in nanoseconds.
   */
  mean_ns: number
  /**
   * Share of the total time (0 to 1).
   */
  share: number
  /**
   * Accelerator-hours per day, for the whole job; `null` with too few steps.
   */
  gpu_hours_per_day: number | null
  /**
   * Its components, largest first.
   */
  parts: Part[]
}
/**
 * A share of the time.
 */
export interface Part {
  /**
   * Name of the part.
   */
  name: string
  /**
   * Its time over all ranks and steps, in nanoseconds.
   */
  time_ns: number
  /**
   * Its time on the mean rank and step, in nanoseconds.
   */
  mean_ns: number
  /**
   * Share of the total time (0 to 1).
   */
  share: number
}
/**
 * Operators relative to the roofline.
 */
export interface Roofline {
  /**
   * The accelerator.
   */
  accelerator: string
  /**
   * Its memory's bandwidth, in bytes/s.
   */
  bytes_per_s: number
  /**
   * Share of the roofline up to which savings are reported (0 to 1).
   */
  target_share: number
  /**
   * The same share for compute-bound operators: at most the accelerator's best measured GEMM rate.
   */
  compute_target_share: number
  /**
   * Share of compute time in operators with a row (0 to 1).
   */
  covered_share: number
  /**
   * Saving of all rows at the target per rank and step, in nanoseconds.
   */
  saving_ns: number
  /**
   * Rows with the largest savings.
   */
  rows: RooflineRow[]
}
/**
 * Calls of one operator with one shape and format.
 */
export interface RooflineRow {
  /**
   * The operator.
   */
  operator: string
  kind: Kind
  /**
   * Shapes of its inputs, as recorded.
   */
  shapes: string
  data_type: DataType
  /**
   * Number of calls, over all ranks and steps.
   */
  calls: number
  /**
   * Time of its kernels per rank and step, in nanoseconds.
   */
  mean_ns: number
  /**
   * Time of one call, in nanoseconds.
   */
  call_ns: number
  /**
   * Operations of one call.
   */
  flop: number
  /**
   * Minimum bytes moved by one call: every input read once, the output written once.
   */
  bytes: number
  bound: Bound
  /**
   * Reached rate, in FLOP/s.
   */
  flop_per_s: number
  /**
   * Reached bandwidth, in bytes/s.
   */
  bytes_per_s: number
  /**
   * Least time over the actual one (0 to 1).
   */
  share_of_roofline: number
  /**
   * Saving at `TARGET` per rank and step, in nanoseconds.
   */
  saving_ns: number
}
/**
 * One step.
 */
export interface StepRow {
  /**
   * Name of the step.
   */
  step: string
  /**
   * Duration in nanoseconds.
   */
  duration_ns: number
  /**
   * Time on the mean rank by line of the first page, in the order of `Group::ALL`.
   */
  groups_ns: number[]
  parts: Parts
}
/**
 * Time of each label that has any, in nanoseconds.
 */
export interface Parts {
  /**
   * Unit: ns.
   */
  [k: string]: number
}
/**
 * One rank.
 */
export interface RankRow {
  /**
   * Number of the rank.
   */
  rank: number
  /**
   * Its host, if recorded.
   */
  host: string | null
  /**
   * Shares by line of the first page, in the order of `Group::ALL`.
   */
  shares: number[]
  /**
   * Share of its steps in waits for other ranks in exposed communication (0 to 1).
   */
  waiting_share: number
  parts: Parts
  recorded: Totals
}
/**
 * Totals of a rank's common window, regardless of steps, in nanoseconds.
 */
export interface Totals {
  /**
   * The window.
   */
  window_ns: number
  /**
   * Compute.
   */
  compute_ns: number
  /**
   * Communication.
   */
  communication_ns: number
  /**
   * Overlap of compute and communication.
   */
  overlap_ns: number
  /**
   * Communication without compute.
   */
  exposed_ns: number
  /**
   * Copies without compute and communication.
   */
  copies_ns: number
  /**
   * Time without activity.
   */
  idle_ns: number
}
/**
 * Ranks by steps; times in nanoseconds, `null` if the rank was not recorded in the step.
 */
export interface RankSteps {
  /**
   * Names of steps.
   */
  steps: string[]
  /**
   * Duration of the steps in nanoseconds, equal for all ranks.
   */
  step_time_ns: number[]
  /**
   * Ranks of the rows.
   */
  ranks: number[]
  /**
   * By rank and step: the step without waits for other ranks in communication, in nanoseconds. The rank
   * with the largest value delays the others.
   */
  own_time_ns: (number | null)[][]
  /**
   * Compute time, in nanoseconds.
   */
  compute_ns: (number | null)[][]
  /**
   * Waits for other ranks in exposed communication, in nanoseconds.
   */
  waiting_ns: (number | null)[][]
  /**
   * Waits caused by this rank, exposed or not, summed over all ranks, in nanoseconds.
   */
  waiting_caused_ns: (number | null)[][]
}
/**
 * Distribution of a label's time over ranks, in nanoseconds.
 */
export interface Spread {
  label: Label
  /**
   * Smallest time.
   */
  least_ns: number
  /**
   * Median time.
   */
  median_ns: number
  /**
   * Largest time.
   */
  most_ns: number
  /**
   * Ranks with the largest time, at most `Spread::WORST`, worst first.
   */
  worst: number[]
}
/**
 * Totals of the common window, regardless of steps: means over ranks, in nanoseconds. It may be shorter than
 * a step.
 */
export interface Recorded {
  /**
   * The common window: the time in which all ranks have device activity.
   */
  window_ns: number
  /**
   * Compute.
   */
  compute_ns: number
  /**
   * Communication.
   */
  communication_ns: number
  /**
   * Overlap of compute and communication.
   */
  overlap_ns: number
  /**
   * Communication without compute.
   */
  exposed_ns: number
  /**
   * Copies without compute and communication.
   */
  copies_ns: number
  /**
   * Time without activity.
   */
  idle_ns: number
}
/**
 * A node of the tree; times in nanoseconds over all ranks and steps.
 */
export interface Node {
  level: Level
  /**
   * Name.
   */
  name: string
  /**
   * Its time in the waterfall, in nanoseconds.
   */
  time_ns: number
  /**
   * Number of activities with time in it.
   */
  count: number
  /**
   * Mean duration including overlapped parts, in nanoseconds.
   */
  mean_ns: number
  /**
   * Longest duration, in nanoseconds.
   */
  longest_ns: number
  /**
   * Children: largest first, phases in the order of a step.
   */
  children?: Node[]
}
/**
 * One kernel (or copy) over all ranks.
 */
export interface KernelRow {
  /**
   * Its name.
   */
  name: string
  phase: Phase
  family: OperatorFamily
  /**
   * Number of calls over all ranks and steps.
   */
  count: number
  /**
   * Total time regardless of concurrent work, in nanoseconds.
   */
  duration_ns: number
  /**
   * Mean duration of a call, in nanoseconds.
   */
  mean_ns: number
  /**
   * Longest call, in nanoseconds.
   */
  longest_ns: number
  /**
   * Time on the mean rank and step, in nanoseconds.
   */
  per_step_ns: number
}
/**
 * Time by place.
 */
export interface Origins {
  by: By
  /**
   * True if annotations replace modules, because no module was recorded.
   */
  annotations: boolean
  /**
   * Share of the step with a place (0 to 1).
   */
  covered_share: number
  /**
   * The places with the most time, the longest first.
   */
  rows: OriginRow[]
  /**
   * Number of places; those beyond the rows are summed in one row without a place.
   */
  places: number
}
/**
 * Time of one place. Means are per rank and step, in nanoseconds; their sum is the step.
 */
export interface OriginRow {
  /**
   * Path of module classes, or file, line and function; `null` if not recorded.
   */
  place: string | null
  /**
   * Phase of time without a place.
   */
  phase?: Phase | null
  /**
   * Number of module instances that launched work; 0 for a source line.
   */
  instances: number
  /**
   * Total time.
   */
  mean_ns: number
  /**
   * Share of the step (0 to 1).
   */
  share_of_step: number
  /**
   * Compute.
   */
  compute_ns: number
  /**
   * Waits for other ranks in exposed communication.
   */
  wait_ns: number
  /**
   * Exposed transfers.
   */
  transfer_ns: number
  /**
   * Exposed communication that is transfer or wait, because ranks of its group were not recorded.
   */
  undivided_ns: number
  /**
   * Exposed copies.
   */
  copy_ns: number
  /**
   * Idle time of the device while the host was in this place.
   */
  idle_ns: number
  /**
   * Kernels per rank and step.
   */
  kernels: number
}
/**
 * Device counters of a job.
 */
export interface Health {
  /**
   * Each rank with readings, in order.
   */
  ranks: RankHealth[]
  /**
   * Number of readings of hosts or devices without a rank.
   */
  unmatched: number
  /**
   * True if the times of readings do not overlap the recording: then all of them are used.
   */
  other_time: boolean
}
/**
 * Device counters of one rank.
 */
export interface RankHealth {
  /**
   * The rank.
   */
  rank: number
  /**
   * Number of readings used.
   */
  samples: number
  /**
   * Clock of the multiprocessors, in MHz.
   */
  sm_clock_mhz?: Counter | null
  /**
   * Temperature of the GPU, in degrees Celsius.
   */
  temperature_celsius?: Counter | null
  /**
   * Power, in watts.
   */
  power_w?: Counter | null
  /**
   * Reasons for a lower clock in any reading.
   */
  throttle_reasons: string[]
  /**
   * XID errors.
   */
  xid_errors: number[]
  /**
   * Growth of totals by name; the value itself with a single reading. Network cards are those of the
   * rank's host.
   */
  errors: [string, number][]
}
/**
 * A counter of a rank.
 */
export interface Counter {
  /**
   * Median of the rank.
   */
  own: number
  /**
   * Median of the other ranks; `null` without other ranks.
   */
  others: number | null
}
/**
 * Number of a rank's rows by method of phase detection.
 */
export interface FoundBy {
  /**
   * From operators and annotations around the launch.
   */
  launch: number
  /**
   * From the device annotation around them.
   */
  annotation: number
  /**
   * From their own name.
   */
  name: number
  /**
   * From rows of the same kernel with a known launch.
   */
  same_kernel: number
  /**
   * From agreeing rows before and after them on their stream.
   */
  neighbours: number
  /**
   * Forward or backward, from their distance to kernels with the backward pass in their names.
   */
  apart: number
  /**
   * Unknown.
   */
  unknown: number
}
/**
 * A part of a file that a reader repaired or dropped.
 */
export interface Repair {
  /**
   * File.
   */
  file: string
  kind: DamageKind
  /**
   * Number of occurrences.
   */
  count: number
  /**
   * Position of the first one in bytes, with a short description.
   *
   * @minItems 2
   * @maxItems 2
   */
  first: [number, string] | null
}
/**
 * A problem that a rule found.
 */
export interface Finding {
  /**
   * Identifier for `railwright explain`.
   */
  id: string
  /**
   * The finding in one sentence.
   */
  message: string
  /**
   * Cost per step in nanoseconds, if known.
   */
  cost_ns: number | null
  /**
   * Certainty of the cost if it is a bound.
   */
  certainty?: Certainty | null
  /**
   * Cost per day over all ranks of the job, in device-hours; in rank-hours without recorded devices
   * (`super::Report::from_host`).
   */
  gpu_hours_per_day: number | null
  subject?: Subject
  /**
   * Evidence lines with numbers.
   */
  evidence: string[]
  /**
   * Recommended action.
   */
  advice: string
  /**
   * Part of the cost that findings with a larger cost also contain, in nanoseconds.
   */
  shared_ns: number
}
/**
 * Subject of a finding. A part that does not apply is absent.
 */
export interface Subject {
  /**
   * Recorded ranks, the most affected first; absent if it concerns all ranks.
   */
  ranks?: number[]
  /**
   * Full names of the kernels with most of the cost, largest first; host frames for idle time.
   */
  kernels?: string[]
  /**
   * Phase of the work.
   */
  phase?: Phase | null
  /**
   * Parallel dimension of the communication.
   */
  dimension?: Dimension | null
  /**
   * Classes of the spans that show it on a timeline.
   */
  spans?: Class[]
}
/**
 * Joint cost of findings, in nanoseconds per step.
 */
export interface Joint {
  /**
   * Number of findings with a known cost.
   */
  findings: number
  /**
   * Their cost without double counts, in nanoseconds per step: at most the step.
   */
  cost_ns: number
  /**
   * Part of the sum of their costs that is counted twice, in nanoseconds per step.
   */
  shared_ns: number
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
