// Made from docs/reference/schema/profile.json by scripts/types.mjs.

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
 * Reason why a device had nothing to do.
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
 * Which server wrote an annotation.
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
 * Common fields of every answer.
 */
export interface ProfileAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'profile'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Ranks that were recorded and are shown.
   */
  ranks: number
  /**
   * Ranks of the job.
   */
  world_size: number
  /**
   * Whether the world size is recorded. Otherwise it is a lower bound.
   */
  world_size_known: boolean
  /**
   * Whether no rank recorded a device: times are those of operators on the host, and hours are of ranks.
   */
  from_host: boolean
  /**
   * Number of ranks that were not recorded.
   */
  missing: number
  /**
   * The first of them.
   */
  missing_ranks: number[]
  /**
   * The devices, from the traces.
   */
  device: string | null
  /**
   * The accelerator's peak, if it is known.
   */
  peak: Peak | null
  /**
   * The model's operations of one step, if they are known. Unit: FLOP.
   */
  flop_per_step: number | null
  /**
   * Model FLOPs utilisation, if it is known.
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
   * The mean step, in nanoseconds.
   */
  step_time_ns: number
  /**
   * The median step, in nanoseconds.
   */
  median_step_ns: number
  /**
   * Leading steps that were left out because they come before the steady state.
   */
  warm_up?: WarmUp | null
  /**
   * Steps by what they compute, where the trace is of an inference server.
   */
  serving?: Serving | null
  /**
   * Breakdown: parts that add up to it.
   */
  lines: Line[]
  /**
   * Reason why devices were idle, by cause and frame of the host, the longest time first.
   */
  causes: CauseRow[]
  /**
   * Operators against the roofline of the accelerator, where shapes were recorded.
   */
  roofline?: Roofline | null
  /**
   * Estimated waiting per step because of unrecorded ranks, in nanoseconds.
   */
  estimated_wait_ns: number
  /**
   * By limiting part of the machine.
   */
  hardware: Part[]
  /**
   * By phase, arithmetic alone.
   */
  phases: Part[]
  /**
   * Each step.
   */
  steps: StepRow[]
  /**
   * Each rank, when they are few.
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
   * Ranks whose kernels take longer than the same ones of others, and by which factor.
   */
  slower_chips: [number, number][]
  recorded: Recorded
  /**
   * Label, phase, family, kernel.
   */
  tree: Node[]
  /**
   * All kernels, the longest time first.
   */
  kernels: KernelRow[]
  /**
   * Time by module or line of Python, where it was asked for.
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
   * Repairs and omissions by readers.
   */
  repairs: Repair[]
  /**
   * Faults that rules found.
   */
  findings: Finding[]
  /**
   * Joint cost of the findings with a known cost; none below two.
   */
  joint: Joint | null
  /**
   * Warnings.
   */
  warnings: Warning[]
  title: string
}
/**
 * An accelerator's peak.
 */
export interface Peak {
  /**
   * Its name in the catalogue.
   */
  accelerator: string
  data_type: DataType
  /**
   * Dense. Unit: FLOP/s.
   */
  rate: number
}
/**
 * Steps before the steady state, apart from the means.
 */
export interface WarmUp {
  /**
   * Their name.
   */
  steps: string[]
  /**
   * Their duration in nanoseconds.
   */
  time_ns: number
  /**
   * Their excess over as many median steps in nanoseconds: the one-off cost.
   */
  one_off_ns: number
  /**
   * Reason why devices were idle in them, by cause and frame; means are of a rank and of these steps.
   */
  causes: CauseRow[]
}
/**
 * Idle time under one cause and in one place, over all ranks and steps.
 */
export interface CauseRow {
  cause: Cause
  /**
   * The innermost frame of the launching thread; none where nothing was recorded, or for the rest of a cause.
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
   * The innermost function of Python outside of the framework.
   */
  python?: string | null
  /**
   * The innermost annotation.
   */
  annotation?: string | null
  /**
   * Whether this is the rest of a cause, frames of little time together.
   */
  rest?: boolean
  /**
   * Time over all ranks and steps, in nanoseconds.
   */
  time_ns: number
  /**
   * Time of a rank and step, in nanoseconds.
   */
  mean_ns: number
  /**
   * As a share of the step.
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
   * The rank with most of it, and its share of the row's time.
   */
  rank: number
  /**
   * Time on that rank.
   */
  rank_share: number
}
/**
 * A trace of an inference server.
 */
export interface Serving {
  server: Server
  /**
   * The kinds of steps that were recorded.
   */
  modes: ModeRow[]
}
/**
 * All steps of one mode.
 */
export interface ModeRow {
  mode: Mode
  /**
   * Number.
   */
  steps: number
  /**
   * The mean step, in nanoseconds: from its first kernel to the next step's.
   */
  mean_ns: number
  /**
   * The median step, the lower of two, in nanoseconds.
   */
  median_ns: number
  /**
   * The longest step, in nanoseconds.
   */
  longest_ns: number
  /**
   * Requests in prefill of a mean step, where recorded.
   */
  context_requests: number | null
  /**
   * Prompt tokens of a mean step, where recorded.
   */
  context_tokens: number | null
  /**
   * Requests in decode of a mean step, where recorded.
   */
  generation_requests: number | null
  /**
   * Tokens computed for requests in decode of a mean step, where recorded.
   */
  generation_tokens: number | null
  /**
   * Tokens computed in a second of these steps: prompt tokens and those of decode. Absent where an annotation does not record them.
   */
  tokens_per_s: number | null
  /**
   * A mean step of the mean rank by line of the first page, in the order of `Group::ALL`, in nanoseconds.
   */
  groups_ns: number[]
  /**
   * Share of the kernels' time that graphs launched (`cudaGraphLaunch`, `hipGraphLaunch`).
   */
  graph_share: number
}
/**
 * A line of the first page.
 */
export interface Line {
  group: Group
  /**
   * Subject.
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
   * Of all time.
   */
  share: number
  /**
   * Its value: accelerator-hours per day of the whole job.
   */
  gpu_hours_per_day: number
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
   * Subject.
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
   * Of all time.
   */
  share: number
}
/**
 * Operators against the roofline.
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
   * The share for which savings are reported.
   */
  target_share: number
  /**
   * The same for operators bound by compute: no more than the accelerator's best measured GEMM rate.
   */
  compute_target_share: number
  /**
   * Share of compute time in operators with a row.
   */
  covered_share: number
  /**
   * Saving of all rows at the target per rank and step, in nanoseconds.
   */
  saving_ns: number
  /**
   * The rows that would save most.
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
   * Time of its kernels of a rank and step, in nanoseconds.
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
   * Least bytes that one call moves: every input read once, the output written once.
   */
  bytes: number
  bound: Bound
  /**
   * Reached, in FLOP/s.
   */
  flop_per_s: number
  /**
   * Reached, in bytes/s.
   */
  bytes_per_s: number
  /**
   * The least time over the actual one.
   */
  share_of_roofline: number
  /**
   * What reaching `TARGET` would save of a rank and step, in nanoseconds.
   */
  saving_ns: number
}
/**
 * One step.
 */
export interface StepRow {
  /**
   * Its number.
   */
  step: string
  /**
   * Duration in nanoseconds.
   */
  duration_ns: number
  /**
   * On the mean rank, by line of the first page, in the order of `Group::ALL`.
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
   * Selection.
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
   * Share of its steps in which it waits for other ranks in exposed communication.
   */
  waiting_share: number
  parts: Parts
  recorded: Totals
}
/**
 * The common window of a rank without regard to steps, in nanoseconds.
 */
export interface Totals {
  /**
   * The window.
   */
  window_ns: number
  /**
   * With arithmetic under way.
   */
  compute_ns: number
  /**
   * With communication under way.
   */
  communication_ns: number
  /**
   * With both.
   */
  overlap_ns: number
  /**
   * With communication and no arithmetic.
   */
  exposed_ns: number
  /**
   * With copies and neither.
   */
  copies_ns: number
  /**
   * With nothing.
   */
  idle_ns: number
}
/**
 * Ranks by steps; times in nanoseconds, none where the rank was not recorded in the step.
 */
export interface RankSteps {
  /**
   * Names of steps.
   */
  steps: string[]
  /**
   * Their duration, equal for all ranks.
   */
  step_time_ns: number[]
  /**
   * The ranks, of rows.
   */
  ranks: number[]
  /**
   * By rank and step: the step without waiting for other ranks in communication. Who takes longest here delays the others.
   */
  own_time_ns: (number | null)[][]
  /**
   * With arithmetic under way.
   */
  compute_ns: (number | null)[][]
  /**
   * Waiting for other ranks in communication that nothing hides.
   */
  waiting_ns: (number | null)[][]
  /**
   * Waits of all ranks, hidden or not, that this rank is the root of, summed over them.
   */
  waiting_caused_ns: (number | null)[][]
}
/**
 * Distribution of a label's time over ranks, in nanoseconds.
 */
export interface Spread {
  label: Label
  /**
   * The least.
   */
  least_ns: number
  /**
   * The one in the middle.
   */
  median_ns: number
  /**
   * The most.
   */
  most_ns: number
  /**
   * Ranks with the most, at most `Spread::WORST`, worst first.
   */
  worst: number[]
}
/**
 * The whole recording, without regard to steps: means over ranks, in nanoseconds.
 */
export interface Recorded {
  /**
   * The common window.
   */
  window_ns: number
  /**
   * With arithmetic under way.
   */
  compute_ns: number
  /**
   * With communication under way.
   */
  communication_ns: number
  /**
   * With both.
   */
  overlap_ns: number
  /**
   * With communication and no arithmetic.
   */
  exposed_ns: number
  /**
   * With copies and neither.
   */
  copies_ns: number
  /**
   * With nothing.
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
   * Its time in the waterfall.
   */
  time_ns: number
  /**
   * Number of activities with time in it.
   */
  count: number
  /**
   * Their mean duration, including overlapped parts.
   */
  mean_ns: number
  /**
   * The longest of them.
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
   * Number over all ranks and steps.
   */
  count: number
  /**
   * Their time, regardless of concurrent work, in nanoseconds.
   */
  duration_ns: number
  /**
   * The mean, in nanoseconds.
   */
  mean_ns: number
  /**
   * The longest, in nanoseconds.
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
   * Whether annotations stand for modules, because no module was recorded.
   */
  annotations: boolean
  /**
   * Share of the step that has a place.
   */
  covered_share: number
  /**
   * The places with most time, the longest first.
   */
  rows: OriginRow[]
  /**
   * Number of places; beyond the rows they are summed in one row without a place.
   */
  places: number
}
/**
 * Time of one place. Means are of a rank and step, in nanoseconds; together they are the step.
 */
export interface OriginRow {
  /**
   * The path of module classes, or file, line and function; none where nothing was recorded.
   */
  place: string | null
  /**
   * The phase of what has no place.
   */
  phase?: Phase | null
  /**
   * Number of module instances that launched work; 0 for a source line.
   */
  instances: number
  /**
   * All of it.
   */
  mean_ns: number
  /**
   * As a share of the step.
   */
  share_of_step: number
  /**
   * With arithmetic under way.
   */
  compute_ns: number
  /**
   * Waiting for other ranks in exposed communication.
   */
  wait_ns: number
  /**
   * Exposed transfers.
   */
  transfer_ns: number
  /**
   * Exposed communication that is transfer or waiting, because ranks of its group were not recorded.
   */
  undivided_ns: number
  /**
   * Exposed copies.
   */
  copy_ns: number
  /**
   * The device idle while the host was in this place.
   */
  idle_ns: number
  /**
   * Kernels a rank and step.
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
   * Readings of hosts or devices that no rank names.
   */
  unmatched: number
  /**
   * Whether readings have times that do not overlap the recording: then all of them are used.
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
   * Readings that were used.
   */
  samples: number
  /**
   * Clock of the multiprocessors.
   */
  sm_clock_mhz?: Counter | null
  /**
   * Temperature of the GPU.
   */
  temperature_celsius?: Counter | null
  /**
   * Power.
   */
  power_w?: Counter | null
  /**
   * Reasons for a lower clock that were set in any reading.
   */
  throttle_reasons: string[]
  /**
   * XID errors.
   */
  xid_errors: number[]
  /**
   * Totals that grew, or that are not 0 where one reading was made: name and by how much. Network cards are those of its host.
   */
  errors: [string, number][]
}
/**
 * A counter of a rank.
 */
export interface Counter {
  /**
   * The rank's median.
   */
  own: number
  /**
   * The median of the other ranks', where there are others.
   */
  others: number | null
}
/**
 * Source of the phases of a rank's rows.
 */
export interface FoundBy {
  /**
   * By what stands around their launch.
   */
  launch: number
  /**
   * By the annotation of the device around them.
   */
  annotation: number
  /**
   * By their own name.
   */
  name: number
  /**
   * By what the same kernel does wherever its launch is known.
   */
  same_kernel: number
  /**
   * By the rows before and after them on their stream, which agree.
   */
  neighbours: number
  /**
   * Forward or backward, because kernels of the backward pass have names of their own, and these are far from them or among them.
   */
  apart: number
  /**
   * Not at all.
   */
  unknown: number
}
/**
 * Something that a reader repaired or dropped.
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
   * Where first, and a word about it.
   *
   * @minItems 2
   * @maxItems 2
   */
  first: [number, string] | null
}
/**
 * A fault that a rule found.
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
   * What the cost is where it is less than known: a bound.
   */
  certainty?: Certainty | null
  /**
   * The same over a day and all ranks of the job, in hours of a device; of a rank where no device was recorded (`super::Report::from_host`).
   */
  gpu_hours_per_day: number | null
  /**
   * Numbers that show it.
   */
  evidence: string[]
  /**
   * Action.
   */
  advice: string
  /**
   * What of the cost findings with a larger cost count as well, in nanoseconds.
   */
  shared_ns: number
}
/**
 * Joint cost of findings, in nanoseconds per step.
 */
export interface Joint {
  /**
   * Findings with a known cost.
   */
  findings: number
  /**
   * Their cost, nothing counted twice: never more than the step.
   */
  cost_ns: number
  /**
   * Part that the sum of their costs counts twice.
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
