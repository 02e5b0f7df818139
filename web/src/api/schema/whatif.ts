// Made from docs/reference/schema/whatif.json by scripts/types.mjs.

/**
 * Predicted memory fit of a plan.
 */
export type Fit = 'fits' | 'at_risk' | 'does_not_fit'
/**
 * Outcome of a change.
 */
export type Outcome =
  | (Possible & {
      outcome: 'possible'
    })
  | {
      outcome: 'impossible'
      /**
       * The reasons.
       */
      problems: Problem[]
    }

/**
 * Common fields of every result.
 */
export interface WhatifAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'whatif'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The model's name.
   */
  model: string
  before: Summary
  /**
   * Warnings.
   */
  warnings: Warning[]
  /**
   * Each change alone, in the given order.
   */
  alone: ChangeResult[]
  /**
   * All possible changes combined. `null` for fewer than two.
   */
  together: ChangeResult | null
  /**
   * The key that two changes set to different values, so that they cannot be combined. `null` without a
   * conflict.
   */
  rivals: string | null
  /**
   * Relative difference of step times within which two runs tie: the error of the model between two
   * layouts (68% of measured pairs).
   */
  tie_band: number
  /**
   * Combined gain compared with the individual gains. `null` without a combination.
   */
  interaction: Interaction | null
  /**
   * Defaults of unspecified settings, as text.
   */
  chosen: string[]
}
/**
 * Main figures of one run.
 */
export interface Summary {
  /**
   * The plan in one line.
   */
  plan: string
  /**
   * The accelerator's name.
   */
  accelerator: string
  /**
   * Accelerators used.
   */
  devices: number
  /**
   * Devices by kind, as text.
   */
  devices_by_kind: string
  /**
   * Pipeline stages.
   */
  stages: number
  /**
   * Time of one step. Unit: s.
   */
  step_time: number
  interval: Interval
  /**
   * Tokens per step.
   */
  tokens_per_step: number
  /**
   * Tokens per second.
   */
  tokens_per_second: number
  /**
   * Tokens per second and device.
   */
  tokens_per_second_per_device: number
  /**
   * Model FLOP utilization as in every report: in the reported convention, of the peak of the compute
   * format.
   */
  model_flop_utilisation: number
  /**
   * Memory on the stage with the largest need. Unit: B.
   */
  memory: number
  /**
   * Index of that stage.
   */
  worst_stage: number
  /**
   * Memory of a device. Unit: B.
   */
  device_memory: number
  fit: Fit
  /**
   * Probability of fitting, which determines the verdict: memory that the allocator can release does not
   * count.
   */
  probability_of_fitting: number
  /**
   * Rent per million tokens. `null` without a price. Unit: USD.
   */
  dollars_per_million_tokens: number | null
  /**
   * Rent of the whole token budget. `null` without a budget or price. Unit: USD.
   */
  rent: number | null
  /**
   * Time on the calendar for the token budget. `null` without one. Unit: s.
   */
  calendar: number | null
  /**
   * Step breakdown; the parts sum to the step.
   */
  parts: TimePart[]
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
 * A part of a step.
 */
export interface TimePart {
  /**
   * Identifier documented by `railwright explain`, such as `compute.mlp`.
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
 * Result of one change.
 */
export interface ChangeResult {
  /**
   * The change as given by the user.
   */
  name: string
  /**
   * Keys whose values differ, including derived ones.
   */
  moved: Moved[]
  /**
   * Prediction error for changes of this kind, from pairs of measured runs.
   */
  evidence: Evidence | null
  /**
   * Remarks: location of slow members, reason for no effect.
   */
  notes: string[]
  outcome: Outcome
}
/**
 * A key whose value differs between two runs.
 */
export interface Moved {
  /**
   * The key of the run file.
   */
  key: string
  /**
   * Its value before, as text. `null` if it had none.
   */
  before: string | null
  /**
   * Its value after, as text. `null` if it has none.
   */
  after: string | null
}
/**
 * The errors of predicted ratios of step times over measured ones.
 */
export interface Evidence {
  /**
   * Settings in which the runs of a pair differ.
   */
  what: string
  /**
   * Number of pairs of measured runs.
   */
  pairs: number
  /**
   * Median of the errors.
   */
  median: number
  /**
   * 90th percentile of the errors.
   */
  ninth: number
}
/**
 * A changed run that can be priced.
 */
export interface Possible {
  after: Summary
  difference: Difference
  /**
   * New warnings, which the run before did not have.
   */
  warnings: Warning[]
  /**
   * Identifiers of warnings that no longer apply.
   */
  resolved: string[]
}
/**
 * Difference of two runs.
 */
export interface Difference {
  /**
   * True if the step has another number of tokens, so that times are scaled to the number before.
   */
  rescaled: boolean
  /**
   * Step time scaled to the number of tokens before, minus the step time before. Unit: s.
   */
  step_time: number
  /**
   * The same difference as a share of the step before; below 0 is faster.
   */
  share: number
  /**
   * Tokens per second after over before.
   */
  speedup: number
  /**
   * Change of the utilization. Runs of other compute formats have other peaks.
   */
  model_flop_utilisation: number
  /**
   * Change of the memory on the stage with the largest need. Unit: B.
   */
  memory: number
  /**
   * Change of the price per token, as a share. `null` without a price.
   */
  price_of_tokens: number | null
  /**
   * The stage of both breakdowns. `null` if each is of its own slowest stage.
   */
  stage: number | null
  /**
   * Change of each part of the step; they sum to the change of the step.
   */
  parts: PartChange[]
}
/**
 * Change of a part of the step.
 */
export interface PartChange {
  /**
   * Identifier documented by `railwright explain`.
   */
  id: string
  /**
   * Title for display.
   */
  title: string
  /**
   * Its time before. Unit: s.
   */
  before: number
  /**
   * Its time after, scaled to the number of tokens before. Unit: s.
   */
  after: number
  /**
   * Time after minus time before. Unit: s.
   */
  change: number
  /**
   * The change as a share of the whole step before.
   */
  share: number
}
/**
 * A problem of an input.
 */
export interface Problem {
  /**
   * Problem and cause, in a lowercase fragment.
   */
  message: string
  /**
   * Place in the input; `null` if unknown.
   */
  place: Place | null
  /**
   * Action or nearest valid name; `null` without one.
   */
  hint: string | null
  /**
   * Known settings that each remove this problem; the hint contains them in words.
   */
  remedies?: Remedy[]
}
/**
 * A place in an input.
 */
export interface Place {
  /**
   * File, or its substitute (`--set`, `--tp`).
   */
  file: string
  /**
   * Line from 1; `null` if unknown.
   */
  line: number | null
  /**
   * Column from 1; `null` if unknown.
   */
  column: number | null
  /**
   * Dotted key; `null` if unknown.
   */
  key: string | null
  /**
   * Line of text with the problem; `null` if unknown.
   */
  text: string | null
}
/**
 * A setting that removes a problem.
 */
export interface Remedy {
  /**
   * Dotted key of a run file.
   */
  key: string
  /**
   * Value, as in a run file or a flag.
   */
  value: string
}
/**
 * Combined gain of changes relative to their individual gains.
 */
export interface Interaction {
  /**
   * Product of the single speed-ups: expected value of independent gains, each applied to the remaining
   * time.
   */
  product_alone: number
  /**
   * Combined speed-up.
   */
  together: number
  /**
   * Combined speed-up over the product, minus 1. Below 0 the changes affect the same part of the step,
   * above 0 they reinforce each other.
   */
  beyond: number
  /**
   * Sum of the times saved by individual changes. Unit: s.
   */
  saved_alone: number
  /**
   * Time saved by the combination. Unit: s.
   */
  saved_together: number
  /**
   * Verdict as text.
   */
  verdict: string
}
