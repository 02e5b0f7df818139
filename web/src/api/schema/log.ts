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
 * Common fields of every answer.
 */
export interface LogAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'log'
  /**
   * Version of the program.
   */
  railwright: string
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
   * Every report, or the extremes of stretches of them: iteration, seconds of an iteration, MFU (0 to 1) if it can be known.
   */
  curve: [number, number, number | null][]
  /**
   * Loss, gradient norm and learning rate over the iterations, as far as they are reported.
   */
  measures: MeasureCurve[]
}
/**
 * Log summary.
 */
export interface Judged {
  /**
   * Reports.
   */
  reports: number
  /**
   * Iterations that they cover.
   */
  iterations: number
  /**
   * Starts.
   */
  starts: number
  /**
   * Iterations of warm-up that were left out.
   */
  warm_up: number
  /**
   * Seconds of the typical step at the last batch size. Unit: s.
   */
  step_time: number
  /**
   * Half of the spread of the middle half of the steps, relative to the typical one.
   */
  noise: number
  /**
   * The stretches at one level.
   */
  segments: Segment[]
  /**
   * Change of the step's time over the last segment, relative, by a robust line; `None` where there are too few reports.
   */
  drift: number | null
  /**
   * The slow steps, those that cost most first.
   */
  slow: SlowStep[]
  /**
   * Seconds that all slow steps cost, as a share of the whole time.
   */
  slow_share: number
  /**
   * A period among the slow steps.
   */
  pause: Pause | null
  /**
   * New starts.
   */
  restarts: Restart[]
  /**
   * Iterations whose update was skipped.
   */
  skipped: number
  /**
   * Iterations whose loss was not a number.
   */
  not_a_number: number
  /**
   * Where the typical step goes by the log's own timers, in seconds: the median of the slowest rank and of the fastest. Unit: s.
   */
  timers: [string, number, number][]
  /**
   * Bytes that the allocator held at most. Unit: B.
   */
  reserved: number | null
  /**
   * Warnings.
   */
  warnings: Warning[]
}
/**
 * A stretch of iterations at one level.
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
   * Seconds of the typical iteration. Unit: s.
   */
  seconds: number
  /**
   * Sequences per step, if logged.
   */
  batch: number | null
  /**
   * MFU, 0 to 1, if it can be known.
   */
  mfu: number | null
  /**
   * Model TFLOP/s of one device, if it can be known. Unit: TFLOP/s.
   */
  tflops: number | null
}
/**
 * A report that took long.
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
   * Seconds of an iteration. Unit: s.
   */
  seconds: number
  /**
   * Seconds lost beyond the typical step, over all iterations of the report. Unit: s.
   */
  lost: number
}
/**
 * Slow steps that come again and again.
 */
export interface Pause {
  /**
   * Iterations from one to the next.
   */
  period: number
  /**
   * Number of entries.
   */
  count: number
  /**
   * Seconds that each costs, the median. Unit: s.
   */
  lost: number
}
/**
 * A new start of the run within the log.
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
   * Iterations done twice.
   */
  repeated: number
  /**
   * Seconds that they took the first time. Unit: s.
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
   * The report before it, by its iteration.
   */
  iteration: number | null
  /**
   * The measure as the log calls it (`Rtt`, `Pwr`, `Tmp`, `Etpt`, ...).
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
   * Every report that has it, or the extremes of stretches of them: iteration and value.
   */
  points: [number, number][]
}
