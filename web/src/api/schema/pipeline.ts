// Made from docs/reference/schema/pipeline.json by scripts/types.mjs.

/**
 * What a pass does.
 */
export type PassKind =
  | 'forward'
  | 'backward'
  | 'backward_input'
  | 'backward_weight'
  | 'send_forward'
  | 'receive_forward'
  | 'send_backward'
  | 'receive_backward'
  | 'parameter_gather'
  | 'gradient_reduce'
  | 'remainder_reduce'
  | 'norm_reduce'
  | 'embedding_reduce'
  | 'gradient_clip'
  | 'optimizer'
  | 'data_loading'
  | 'other'

/**
 * What stands around the fields of every answer.
 */
export interface PipelineAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
  kind: 'pipeline'
  /**
   * Version of the program.
   */
  railwright: string
  pipeline: PipelinePage
}
/**
 * The page.
 */
export interface PipelinePage {
  /**
   * What was read.
   */
  label: string
  shape: PassShape
  /**
   * Stages of which nothing was recorded.
   */
  missing_stages: number[]
  /**
   * How many ranks of the other stages were not recorded: those that a stage has fewer than the one with most.
   */
  missing_ranks: number
  /**
   * Why replays are bounds only, and costs are told as "at most": what was not recorded may have absorbed them. None when everything was recorded.
   */
  bounds_only: string | null
  /**
   * How far the replay of a settled step is off, the median, in nanoseconds: a difference of two replays that is smaller is not told as a cost.
   */
  replay_error_ns: number
  /**
   * The median step, in nanoseconds.
   */
  median_step_ns: number
  typical: Decomposition
  /**
   * Bubble share of the ideal schedule: (p - 1) / (v m + p - 1).
   */
  ideal_bubble: number | null
  /**
   * Steps, in order.
   */
  steps: StepRow[]
  /**
   * Stages, in order.
   */
  stages: StageRow[]
  /**
   * Stalls of all steps, the dearest first, the longer first of equals; no more than a thousand.
   */
  stalls: Stall[]
  /**
   * How many there are.
   */
  stall_count: number
  /**
   * The first step, if it was a start: far longer than others. It is left out of what is said about typical steps.
   */
  start: number | null
  gaps: Gaps
  /**
   * What was taken off the clocks of stages; empty when they agreed.
   */
  clocks: StageClock[]
  what_if: WhatIf
  /**
   * What was asked for.
   */
  asked?: Asked[]
  /**
   * What to make of it, in order of importance.
   */
  verdicts: Verdict[]
  shown: ShownStep
  /**
   * What is doubtful.
   */
  warnings: Warning[]
}
/**
 * The job's shape.
 */
export interface PassShape {
  /**
   * Pipeline stages.
   */
  pipeline_parallel: number
  /**
   * Virtual stages of a rank.
   */
  virtual_pipeline: number
  /**
   * Replicas.
   */
  data_parallel: number
  /**
   * Ranks that share a stage of a replica (tensor times context parallel).
   */
  shards: number
  /**
   * Micro batches of a step and replica; 0 when they differ or are unknown.
   */
  micro_batches: number
}
/**
 * Where the time of steps goes: the median of every part over steps.
 */
export interface Decomposition {
  /**
   * What it took.
   */
  total_ns: number
  /**
   * What every rank would do were all alike: m (mean forward + mean backward).
   */
  work_ns: number
  /**
   * Bubble of the schedule with balanced stages and messages that take no time.
   */
  schedule_ns: number
  /**
   * What stages that differ add: each rank's own medians.
   */
  imbalance_ns: number
  /**
   * What messages, and turning from one pass to the next, add.
   */
  messages_ns: number
  /**
   * What passes that differ from their medians add, stalls above all. Negative when they were faster.
   */
  jitter_ns: number
  /**
   * What ranks took between their passes on the host, where recorded messages show that they waited for nobody; else 0.
   */
  host_ns: number
  /**
   * What passed before the first and after the last pass of the pipeline: gathering, reducing, the update.
   */
  outside_ns: number
  /**
   * Measured less simulated.
   */
  unexplained_ns: number
}
/**
 * A line of the table of steps.
 */
export interface StepRow {
  /**
   * Which step.
   */
  step: number
  /**
   * What it took, in nanoseconds.
   */
  measured_ns: number
  /**
   * What its replay takes.
   */
  replayed_ns: number
  /**
   * How far the replay is off, as a share.
   */
  error: number
  /**
   * What it took beyond the median step.
   */
  excess_ns: number
  /**
   * How many stalls there were.
   */
  stalls: number
  /**
   * What they cost together, in nanoseconds.
   */
  stall_cost_ns: number
  /**
   * What that cost is.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
}
/**
 * A line of the table of stages: of its ranks and steps.
 */
export interface StageRow {
  /**
   * Which stage.
   */
  stage: number
  /**
   * How many ranks of it were recorded.
   */
  ranks: number
  /**
   * The forward passes of a micro batch through all chunks of the stage, each chunk's the median, in nanoseconds.
   */
  forward_ns: number
  /**
   * Its backward passes with what belongs to them, likewise, in nanoseconds.
   */
  backward_ns: number
  /**
   * Share of the time of steps in which it had no pass to run. A first step that took more than one and a half medians is a start and left out.
   */
  bubble: number
  /**
   * The median of the share over steps and ranks.
   */
  bubble_median: number
  /**
   * The share on the rank with the smallest one.
   */
  least: number
  /**
   * The share on the rank with the largest one.
   */
  most: number
  /**
   * Most memory that a rank of it held, in bytes, where it was recorded.
   */
  memory_bytes: number | null
}
/**
 * What took far longer than normal, on one rank or on several at once. Times of its pass are those of the rank that took longest.
 */
export interface Stall {
  /**
   * In which step.
   */
  step: number
  /**
   * On which stage.
   */
  stage: number
  /**
   * On which rank.
   */
  rank: number
  /**
   * What it did.
   */
  kind:
    | 'forward'
    | 'backward'
    | 'backward_input'
    | 'backward_weight'
    | 'send_forward'
    | 'receive_forward'
    | 'send_backward'
    | 'receive_backward'
    | 'parameter_gather'
    | 'gradient_reduce'
    | 'remainder_reduce'
    | 'norm_reduce'
    | 'embedding_reduce'
    | 'gradient_clip'
    | 'optimizer'
    | 'data_loading'
    | 'other'
  /**
   * For which micro batch.
   */
  micro_batch: number | null
  /**
   * On which virtual stage of its rank.
   */
  chunk: number
  /**
   * When it began, in nanoseconds since the step did.
   */
  start_ns: number
  /**
   * How long it took, in nanoseconds; a communication without waiting for others.
   */
  duration_ns: number
  /**
   * What is normal for it.
   */
  normal_ns: number
  /**
   * How much longer than normal.
   */
  excess_ns: number
  /**
   * What it cost the step, by replay with all of its passes as long as normal: 0 when slack absorbed it. Where ranks are missing the most that it can be.
   */
  cost_ns: number
  /**
   * What the cost is.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
  /**
   * The ranks that it hit, in order: all that were in the same communication or in the same thing at the same time.
   */
  ranks: number[]
  /**
   * How many passes it made longer.
   */
  passes: number
}
/**
 * What was fitted between passes.
 */
export interface Gaps {
  /**
   * From the end of a pass to the start of the one on the next stage that waited for it, in nanoseconds. 0 where messages were recorded.
   */
  hop_ns: number
  /**
   * How many waits the latency was read off.
   */
  hops_seen: number
  /**
   * From the end of a pass to the start of the next one of the same rank that waited for nothing else, in nanoseconds: the median.
   */
  turn_ns: number
}
/**
 * A stage's clock against the first one's, as messages show it.
 */
export interface StageClock {
  /**
   * Which stage.
   */
  stage: number
  /**
   * What was taken off its times, in nanoseconds.
   */
  offset_ns: number
}
/**
 * The slowdown and who has which share in it.
 */
export interface WhatIf {
  slowdown: Slowdown
  /**
   * By kind, the largest first.
   */
  kinds: Share[]
  /**
   * By stage, in order.
   */
  stages: Share[]
  /**
   * By replica, in order; empty when there is one.
   */
  replicas: Share[]
  worst_ranks: Share1
  last_stage: Share2
  /**
   * Correlation of forward and backward times of the same micro batch and rank, less what is normal for the rank: near 1 when micro batches differ in
   * work (sequence lengths), which no rank is to blame for.
   */
  micro_batch_correlation: number | null
  /**
   * Standard deviation of forward times over micro batches as a share of what is normal.
   */
  micro_batch_spread: number
}
/**
 * The slowdown of all.
 */
export interface Slowdown {
  /**
   * As recorded.
   */
  measured_ns: number
  /**
   * Replayed, passes beginning when they can.
   */
  replayed_ns: number
  /**
   * Replayed with every pass ideal.
   */
  ideal_ns: number
  /**
   * Replayed by ideal.
   */
  slowdown: number
  /**
   * Share of the time that stragglers waste.
   */
  wasted: number
}
/**
 * What a subset of passes has to do with a slowdown.
 */
export interface Share {
  subset: Subset
  /**
   * Nanoseconds of a step that would be saved if they were ideal.
   */
  saved_ns: number
  /**
   * The same as a share of all that could be saved.
   */
  recovered: number
  /**
   * The slowdown that they make alone, everything else ideal.
   */
  alone: number
  /**
   * The most that could be saved whatever else waits: what they take beyond the ideal, summed over a step, in nanoseconds. No path through a step holds a pass
   * twice, so it holds without the passes that were not recorded, too.
   */
  at_most_ns: number
  /**
   * What is told as saved: where something was not recorded, `at_most`.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
}
/**
 * Which passes.
 */
export interface Subset {
  /**
   * Kinds.
   */
  kinds?: PassKind[]
  /**
   * Ranks.
   */
  ranks?: number[]
  /**
   * Stages.
   */
  stages?: number[]
  /**
   * Replicas.
   */
  replicas?: number[]
  /**
   * Steps.
   */
  steps?: number[]
  /**
   * Micro batches.
   */
  micro_batches?: number[]
}
/**
 * What a subset of passes has to do with a slowdown.
 */
export interface Share1 {
  subset: Subset
  /**
   * Nanoseconds of a step that would be saved if they were ideal.
   */
  saved_ns: number
  /**
   * The same as a share of all that could be saved.
   */
  recovered: number
  /**
   * The slowdown that they make alone, everything else ideal.
   */
  alone: number
  /**
   * The most that could be saved whatever else waits: what they take beyond the ideal, summed over a step, in nanoseconds. No path through a step holds a pass
   * twice, so it holds without the passes that were not recorded, too.
   */
  at_most_ns: number
  /**
   * What is told as saved: where something was not recorded, `at_most`.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
}
/**
 * What a subset of passes has to do with a slowdown.
 */
export interface Share2 {
  subset: Subset
  /**
   * Nanoseconds of a step that would be saved if they were ideal.
   */
  saved_ns: number
  /**
   * The same as a share of all that could be saved.
   */
  recovered: number
  /**
   * The slowdown that they make alone, everything else ideal.
   */
  alone: number
  /**
   * The most that could be saved whatever else waits: what they take beyond the ideal, summed over a step, in nanoseconds. No path through a step holds a pass
   * twice, so it holds without the passes that were not recorded, too.
   */
  at_most_ns: number
  /**
   * What is told as saved: where something was not recorded, `at_most`.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
}
/**
 * What passes that were asked for cost.
 */
export interface Asked {
  /**
   * Which, as people say it.
   */
  passes: string
  /**
   * How many there are.
   */
  count: number
  ideal: Share3
  /**
   * What their excess over their own median cost all steps together, in nanoseconds.
   */
  excess_cost_ns: number
  /**
   * The step that it cost most, and what.
   *
   * @minItems 2
   * @maxItems 2
   */
  most: [unknown, unknown]
  /**
   * What these costs of excess are: not known where something was not recorded.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
}
/**
 * What a subset of passes has to do with a slowdown.
 */
export interface Share3 {
  subset: Subset
  /**
   * Nanoseconds of a step that would be saved if they were ideal.
   */
  saved_ns: number
  /**
   * The same as a share of all that could be saved.
   */
  recovered: number
  /**
   * The slowdown that they make alone, everything else ideal.
   */
  alone: number
  /**
   * The most that could be saved whatever else waits: what they take beyond the ideal, summed over a step, in nanoseconds. No path through a step holds a pass
   * twice, so it holds without the passes that were not recorded, too.
   */
  at_most_ns: number
  /**
   * What is told as saved: where something was not recorded, `at_most`.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
}
/**
 * One thing to know.
 */
export interface Verdict {
  /**
   * A stable identifier.
   */
  id: string
  /**
   * The sentence.
   */
  message: string
  /**
   * What it costs a typical step, in nanoseconds; 0 where that is not known.
   */
  cost_ns: number
  /**
   * What the cost is.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
}
/**
 * One step.
 */
export interface ShownStep {
  /**
   * Which one.
   */
  step: number
  /**
   * Of which replica.
   */
  replica: number
  /**
   * What it took, in nanoseconds.
   */
  measured_ns: number
  parts: Decomposition1
  /**
   * What its stalls cost together, in nanoseconds.
   */
  stall_cost_ns: number
  /**
   * What that cost is.
   */
  certainty: 'replayed' | 'at_most' | 'unknown'
  /**
   * Its stalls on all ranks, the dearest first.
   */
  stalls: Stall[]
  /**
   * Its stages in order.
   */
  rows: Row[]
  /**
   * The same order of passes with balanced stages, without latency and without stalls.
   */
  expected: Row[]
  /**
   * How long that would take, in nanoseconds.
   */
  expected_duration_ns: number
  critical: CriticalPath
}
/**
 * Where that went.
 */
export interface Decomposition1 {
  /**
   * What it took.
   */
  total_ns: number
  /**
   * What every rank would do were all alike: m (mean forward + mean backward).
   */
  work_ns: number
  /**
   * Bubble of the schedule with balanced stages and messages that take no time.
   */
  schedule_ns: number
  /**
   * What stages that differ add: each rank's own medians.
   */
  imbalance_ns: number
  /**
   * What messages, and turning from one pass to the next, add.
   */
  messages_ns: number
  /**
   * What passes that differ from their medians add, stalls above all. Negative when they were faster.
   */
  jitter_ns: number
  /**
   * What ranks took between their passes on the host, where recorded messages show that they waited for nobody; else 0.
   */
  host_ns: number
  /**
   * What passed before the first and after the last pass of the pipeline: gathering, reducing, the update.
   */
  outside_ns: number
  /**
   * Measured less simulated.
   */
  unexplained_ns: number
}
/**
 * A stage's row.
 */
export interface Row {
  /**
   * Which stage.
   */
  stage: number
  /**
   * Which rank stands for it.
   */
  rank: number
  /**
   * Its passes, in order.
   */
  boxes: PassBox[]
  /**
   * When it had none, and why.
   */
  bubbles: Bubble[]
  causes: Causes
}
/**
 * A pass on the page. Times are nanoseconds since the step began.
 */
export interface PassBox {
  /**
   * What a pass does.
   */
  kind:
    | 'forward'
    | 'backward'
    | 'backward_input'
    | 'backward_weight'
    | 'send_forward'
    | 'receive_forward'
    | 'send_backward'
    | 'receive_backward'
    | 'parameter_gather'
    | 'gradient_reduce'
    | 'remainder_reduce'
    | 'norm_reduce'
    | 'embedding_reduce'
    | 'gradient_clip'
    | 'optimizer'
    | 'data_loading'
    | 'other'
  /**
   * For which micro batch.
   */
  micro_batch: number | null
  /**
   * On which virtual stage of its rank.
   */
  chunk: number
  /**
   * From when.
   */
  start_ns: number
  /**
   * Until when.
   */
  end_ns: number
  /**
   * Which stall it is: an index into `ShownStep::stalls`.
   */
  stall?: number | null
}
/**
 * A time without a pass, in nanoseconds since the step began.
 */
export interface Bubble {
  /**
   * From when.
   */
  start_ns: number
  /**
   * Until when.
   */
  end_ns: number
  /**
   * Why.
   */
  cause: 'schedule' | 'imbalance' | 'message' | 'stall' | 'jitter' | 'launch' | 'outside'
}
/**
 * The bubbles summed by cause.
 */
export interface Causes {
  /**
   * The schedule.
   */
  schedule_ns: number
  /**
   * Imbalance of stages.
   */
  imbalance_ns: number
  /**
   * Messages.
   */
  message_ns: number
  /**
   * Stalls.
   */
  stall_ns: number
  /**
   * Jitter.
   */
  jitter_ns: number
  /**
   * Late launches.
   */
  launch_ns: number
  /**
   * Outside of the pipeline.
   */
  outside_ns: number
}
/**
 * What makes it as long as it is.
 */
export interface CriticalPath {
  /**
   * Its passes, first to last.
   */
  passes: CriticalPass[]
  /**
   * What it has of each rank, most first.
   */
  ranks: CriticalRank[]
  /**
   * Before the first pass and after the last, in nanoseconds.
   */
  outside_ns: number
  /**
   * How often it goes from one rank to another.
   */
  crossings: number
  /**
   * In a sentence.
   */
  words: string
}
/**
 * A pass on the path. Times are nanoseconds since the step began.
 */
export interface CriticalPass {
  /**
   * Of which rank.
   */
  rank: number
  /**
   * On which stage.
   */
  stage: number
  /**
   * What a pass does.
   */
  kind:
    | 'forward'
    | 'backward'
    | 'backward_input'
    | 'backward_weight'
    | 'send_forward'
    | 'receive_forward'
    | 'send_backward'
    | 'receive_backward'
    | 'parameter_gather'
    | 'gradient_reduce'
    | 'remainder_reduce'
    | 'norm_reduce'
    | 'embedding_reduce'
    | 'gradient_clip'
    | 'optimizer'
    | 'data_loading'
    | 'other'
  /**
   * For which micro batch.
   */
  micro_batch: number | null
  /**
   * On which virtual stage of its rank.
   */
  chunk: number
  /**
   * From when it counts.
   */
  start_ns: number
  /**
   * Until when.
   */
  end_ns: number
  /**
   * Whether its rank is one of those that the page shows.
   */
  shown: boolean
}
/**
 * What the path has of a rank, in nanoseconds.
 */
export interface CriticalRank {
  /**
   * Which.
   */
  rank: number
  /**
   * Its stage.
   */
  stage: number
  /**
   * Whether the page shows it: of each stage of one replica it shows one rank.
   */
  shown: boolean
  /**
   * In passes.
   */
  compute_ns: number
  /**
   * In messages to it and in communication.
   */
  communication_ns: number
  /**
   * Between what it waited for and its next pass: launches, and what no pass explains.
   */
  waiting_ns: number
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
