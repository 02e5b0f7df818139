// Made from docs/reference/schema/compare.json by scripts/types.mjs.

export type CompareAnswer =
  | {
      /**
       * Increases if a field changes or is removed; new fields may appear at any time.
       */
      schema_version: 2
      kind: 'compare'
      /**
       * Version of the program.
       */
      railwright: string
      step_time_ns: Difference
      /**
       * Totals of the common windows on the mean rank, not per step.
       */
      recorded: Difference[]
      /**
       * Labels of the waterfall, the largest change first.
       */
      labels: Difference[]
      /**
       * Families of operators by phase, the largest change first.
       */
      families: Difference[]
      /**
       * Kernels, the largest change first.
       */
      kernels: KernelDifference[]
      /**
       * A prediction and a measurement by operator, largest change first; two measurements have
       * `Self::kernels` instead.
       */
      operators: OperatorDifference[]
      /**
       * Figures by name in conditions.
       */
      figures: Difference[]
      /**
       * Warnings about the comparison.
       */
      warnings: Warning[]
      /**
       * @minItems 2
       * @maxItems 2
       */
      titles: [string, string]
      verdicts: Verdict[]
      shift_ns: Shift | null
      /**
       * True if the change is larger than the noise; `null` if unknown.
       */
      significant: boolean | null
    }
  | {
      /**
       * Increases if a field changes or is removed; new fields may appear at any time.
       */
      schema_version: 2
      kind: 'compare'
      /**
       * Version of the program.
       */
      railwright: string
      /**
       * @minItems 2
       * @maxItems 2
       */
      titles: [string, string]
      /**
       * @minItems 2
       * @maxItems 2
       */
      sides: [Side, Side]
      /**
       * Relative change of the step time.
       */
      change: number
      /**
       * Its interval.
       *
       * @minItems 2
       * @maxItems 2
       */
      interval: [number, number] | null
      /**
       * True if the change is larger than the noise; `null` if unknown.
       */
      significant: boolean | null
      shift_s: Shift | null
      verdicts: Verdict[]
      warnings: Warning[]
    }
  | {
      /**
       * Increases if a field changes or is removed; new fields may appear at any time.
       */
      schema_version: 2
      kind: 'compare'
      /**
       * Version of the program.
       */
      railwright: string
      step_time_ns: Difference
      /**
       * Totals of the common windows on the mean rank, not per step.
       */
      recorded: Difference[]
      /**
       * Labels of the waterfall, the largest change first.
       */
      labels: Difference[]
      /**
       * Families of operators by phase, the largest change first.
       */
      families: Difference[]
      /**
       * Kernels, the largest change first.
       */
      kernels: KernelDifference[]
      /**
       * A prediction and a measurement by operator, largest change first; two measurements have
       * `Self::kernels` instead.
       */
      operators: OperatorDifference[]
      /**
       * Figures by name in conditions.
       */
      figures: Difference[]
      /**
       * Warnings about the comparison.
       */
      warnings: Warning[]
      /**
       * Awaited ranks, largest wait first: overlapped or not, over all ranks.
       */
      waited_for: WaitedFor[]
      /**
       * Exposed communication of the mean rank without a split into waiting and transfer, in nanoseconds,
       * because other ranks were not traced.
       */
      undivided_ns: number
      /**
       * @minItems 2
       * @maxItems 2
       */
      titles: [string, string]
      verdicts: Verdict[]
    }
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
 * Reference of a change.
 */
export type Limit =
  | {
      relative: number
    }
  | {
      time_ns: number
    }
/**
 * One side.
 */
export type Side =
  | {
      kind: 'measured'
      /**
       * Path.
       */
      file: string
      /**
       * Framework of the log.
       */
      framework: Framework | null
      times_from: TimesFrom
      /**
       * Sequences per step; `null` if the log has no batch.
       */
      batch: number | null
      /**
       * Reports after warm-up.
       */
      reports: number
      /**
       * Median step time in seconds. Unit: s.
       */
      step_time: number
      /**
       * Bounds of the median at 95% confidence, rounding of the log included; `null` for too few reports. Unit: s.
       *
       * @minItems 2
       * @maxItems 2
       */
      interval: [number, number] | null
      /**
       * Range of the middle 80% of the reports. Unit: s.
       *
       * @minItems 2
       * @maxItems 2
       */
      spread: [number, number]
    }
  | {
      kind: 'predicted'
      /**
       * Path.
       */
      file: string
      /**
       * Predicted step time in seconds. Unit: s.
       */
      step_time: number
      /**
       * Bounds of an expected measurement, and their coverage of runs (0 to 1). Unit: s.
       *
       * @minItems 2
       * @maxItems 2
       */
      interval: [number, number]
      /**
       * Probability of the interval.
       */
      coverage: number
    }
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
 * A common metric, by default per rank and step, in nanoseconds.
 */
export interface Difference {
  /**
   * Subject.
   */
  name: string
  /**
   * Value of the first.
   */
  first: number
  /**
   * Value of the second.
   */
  second: number
  /**
   * Second value minus the first.
   */
  change: number
  /**
   * Change relative to the first; `null` if the first is zero.
   */
  relative: number | null
}
/**
 * A kernel on both sides.
 */
export interface KernelDifference {
  /**
   * Subject.
   */
  name: string
  /**
   * Value of the first.
   */
  first: number
  /**
   * Value of the second.
   */
  second: number
  /**
   * Second value minus the first.
   */
  change: number
  /**
   * Change relative to the first; `null` if the first is zero.
   */
  relative: number | null
  phase: Phase
  family: OperatorFamily
  /**
   * Calls per step and rank in the first.
   */
  first_count: number
  /**
   * Calls per step and rank in the second.
   */
  second_count: number
}
/**
 * Operators of one family and phase, or communication of one dimension, on both sides.
 */
export interface OperatorDifference {
  /**
   * Subject.
   */
  name: string
  /**
   * Value of the first.
   */
  first: number
  /**
   * Value of the second.
   */
  second: number
  /**
   * Second value minus the first.
   */
  change: number
  /**
   * Change relative to the first; `null` if the first is zero.
   */
  relative: number | null
  /**
   * The first side's operators, the longest first.
   */
  first_operators: Named[]
  /**
   * The second side's operators, the longest first.
   */
  second_operators: Named[]
}
/**
 * One operator of a side, of the model or of a device, by its own name.
 */
export interface Named {
  /**
   * Name.
   */
  name: string
  /**
   * Its time on the mean rank, in nanoseconds.
   */
  time_ns: number
  /**
   * Calls on the mean rank.
   */
  calls: number
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
 * Result of a condition.
 */
export interface Verdict {
  condition: Condition
  difference: Difference
  /**
   * True if the condition is met.
   */
  met: boolean
  /**
   * True if the change exceeds the noise; `null` if the noise is unknown.
   */
  significant: boolean | null
}
/**
 * A condition on a change from the first to the second.
 */
export interface Condition {
  /**
   * Text as given.
   */
  text: string
  /**
   * The figure's name.
   */
  figure: string
  /**
   * True for a lower limit: the change must be above it. False for an upper limit.
   */
  above: boolean
  limit: Limit
}
/**
 * The shift from one set of steps to another.
 */
export interface Shift {
  first: Spread
  second: Spread
  /**
   * Estimate of Hodges and Lehmann: the median of all differences between a step of the second set and
   * one of the first.
   */
  shift: number
  /**
   * 95% confidence interval of the shift; `null` for too few steps.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval: [number, number] | null
}
/**
 * Steps of one side.
 */
export interface Spread {
  /**
   * Number of steps.
   */
  steps: number
  /**
   * The median step, in the unit of the steps.
   */
  median: number
  /**
   * Fastest and slowest step.
   *
   * @minItems 2
   * @maxItems 2
   */
  range: [number, number]
}
/**
 * A rank that delays the others.
 */
export interface WaitedFor {
  rank: number
  /**
   * The waits of all ranks that it is the root of in this step, in nanoseconds.
   */
  time_ns: number
}
