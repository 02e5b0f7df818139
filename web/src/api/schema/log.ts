// Made from docs/reference/schema/log.json by scripts/types.mjs.

/**
 * Framework that wrote the reports.
 */
export type Framework = 'megatron' | 'deepspeed' | 'torchtitan' | 'nanotron' | 'nemo' | 'maxtext' | 'trainer'
/**
 * Source of the times of a log's reports.
 */
export type TimesFrom =
  'reports' | 'samples_per_second' | 'timers' | 'tokens_per_second' | 'progress_bar' | 'whole_run' | 'nothing'
/**
 * Further measures of a log over its iterations.
 */
export type Measure = 'loss' | 'gradient_norm' | 'learning_rate'

/**
 * Common fields of every result.
 */
export interface LogAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'log'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Path.
   */
  file: string
  /**
   * Framework that wrote the reports.
   */
  framework: Framework | null
  times_from: TimesFrom
  log: Judged
  /**
   * The last line of straggler detectors for each measure.
   */
  stragglers: Straggler[]
  /**
   * Every report, or the extremes of stretches: iteration, its seconds, MFU (0 to 1) if known.
   */
  curve: [number, number, number | null][]
  /**
   * Loss, gradient norm and learning rate over the iterations, if reported.
   */
  measures: MeasureCurve[]
}
/**
 * Log summary.
 */
export interface Judged {
  /**
   * Number of reports.
   */
  reports: number
  /**
   * Number of iterations that they cover.
   */
  iterations: number
  /**
   * Number of starts.
   */
  starts: number
  /**
   * Number of excluded warm-up iterations.
   */
  warm_up: number
  /**
   * Typical step time at the last batch size, in seconds. Unit: s.
   */
  step_time: number
  /**
   * Half of the interquartile range of the steps, relative to the typical one.
   */
  noise: number
  /**
   * Ranges of iterations at one level.
   */
  segments: Segment[]
  /**
   * Relative change of the step time over the last segment, by a robust line; `null` with too few
   * reports.
   */
  drift: number | null
  /**
   * Slow steps, the largest cost first.
   */
  slow: SlowStep[]
  /**
   * Cost of all slow steps as a share of the whole time (0 to 1).
   */
  slow_share: number
  /**
   * A period of the slow steps, if any.
   */
  pause: Pause | null
  /**
   * New starts.
   */
  restarts: Restart[]
  /**
   * Number of iterations with a skipped update.
   */
  skipped: number
  /**
   * Number of iterations whose loss is not a number.
   */
  not_a_number: number
  /**
   * Step time by the log's own timers: name, median of the slowest rank and median of the fastest rank,
   * in seconds. Unit: s.
   */
  timers: [string, number, number][]
  /**
   * Peak of the reserved bytes. Unit: B.
   */
  reserved: number | null
  /**
   * Warnings.
   */
  warnings: Warning[]
}
/**
 * A range of iterations at one level.
 */
export interface Segment {
  /**
   * The first iteration.
   */
  from: number
  /**
   * The last iteration.
   */
  to: number
  /**
   * Seconds of a typical iteration. Unit: s.
   */
  seconds: number
  /**
   * Sequences per step, if logged.
   */
  batch: number | null
  /**
   * MFU (0 to 1); `null` if unknown.
   */
  mfu: number | null
  /**
   * Model TFLOP/s of one device; `null` if unknown. Unit: TFLOP/s.
   */
  tflops: number | null
}
/**
 * A slow report.
 */
export interface SlowStep {
  /**
   * The iteration of the report.
   */
  iteration: number
  /**
   * The line in the log.
   */
  line: number
  /**
   * Seconds per iteration. Unit: s.
   */
  seconds: number
  /**
   * Seconds lost beyond the typical step, over all iterations of the report. Unit: s.
   */
  lost: number
}
/**
 * Periodic slow steps.
 */
export interface Pause {
  /**
   * Iterations between two of them.
   */
  period: number
  /**
   * Number of entries.
   */
  count: number
  /**
   * Median cost of one, in seconds. Unit: s.
   */
  lost: number
  /**
   * True if the log has an evaluation in most of them, and hardly any elsewhere.
   */
  evaluation: boolean
  /**
   * The same for checkpoints.
   */
  checkpoint: boolean
}
/**
 * A restart of the run within the log.
 */
export interface Restart {
  /**
   * The line of its first report.
   */
  line: number
  /**
   * The last iteration before it.
   */
  before: number
  /**
   * Its first iteration.
   */
  from: number
  /**
   * Number of repeated iterations.
   */
  repeated: number
  /**
   * Time of these iterations before the restart, in seconds. Unit: s.
   */
  lost: number
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
 * A line of Megatron's straggler detector: the fastest and slowest rank of one measure.
 */
export interface Straggler {
  /**
   * Iteration of the previous report.
   */
  iteration: number | null
  /**
   * Name of the measure in the log (`Rtt`, `Pwr`, `Tmp`, `Etpt`, ...).
   */
  measure: string
  /**
   * The lowest value and its rank.
   *
   * @minItems 2
   * @maxItems 2
   */
  lowest: [number, number]
  /**
   * The highest value and its rank.
   *
   * @minItems 2
   * @maxItems 2
   */
  highest: [number, number]
}
/**
 * A measure over the iterations.
 */
export interface MeasureCurve {
  measure: Measure
  /**
   * Iteration and value of every report that has it, or the extremes of ranges.
   */
  points: [number, number][]
}
