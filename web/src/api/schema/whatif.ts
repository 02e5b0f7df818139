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
 * Common fields of every answer.
 */
export interface WhatifAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
   * Each change alone, in the order in which they were asked.
   */
  alone: Rehearsal[]
  /**
   * All that are possible together, when there are several.
   */
  together: Rehearsal | null
  /**
   * The key that two changes set to different values, so that there is no run with all of them.
   */
  rivals: string | null
  /**
   * Whether the gains add up.
   */
  interaction: Interaction | null
  /**
   * Defaults of unspecified settings, as text.
   */
  chosen: string[]
}
/**
 * One run in a few figures.
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
   * Model FLOP utilisation as every report has it: in the reported convention, of the peak of the compute format.
   */
  model_flop_utilisation: number
  /**
   * Memory on the stage that needs most. Unit: B.
   */
  memory: number
  /**
   * That stage.
   */
  worst_stage: number
  /**
   * Memory of a device. Unit: B.
   */
  device_memory: number
  fit: Fit
  /**
   * Rent per million tokens; absent without a price. Unit: USD.
   */
  dollars_per_million_tokens: number | null
  /**
   * Rent of the whole token budget; absent without budget or price. Unit: USD.
   */
  rent: number | null
  /**
   * Time on the calendar for the token budget; absent without one. Unit: s.
   */
  calendar: number | null
  /**
   * Where the step's time goes; the parts sum to it.
   */
  parts: TimePart[]
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
 * A part of a step.
 */
export interface TimePart {
  /**
   * The identifier that `railwright explain` knows, such as `compute.mlp`.
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
export interface Rehearsal {
  /**
   * The change as it was typed.
   */
  name: string
  /**
   * Keys whose values differ, those that follow from others included.
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
   * Its value before, in words; nothing where it had none.
   */
  before: string | null
  /**
   * Its value after.
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
   * Pairs of measured runs.
   */
  pairs: number
  /**
   * Median of the ratios' errors.
   */
  median: number
  /**
   * Nine of ten errors are at most so large.
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
   * Warnings about it and was not about the run before.
   */
  warnings: Warning[]
  /**
   * Identifiers of warnings that the change ends.
   */
  resolved: string[]
}
/**
 * Difference of two runs.
 */
export interface Difference {
  /**
   * Whether the step trains on another number of tokens, so that times are for as many tokens as before.
   */
  rescaled: boolean
  /**
   * Time for as many tokens as before, less the step before. Unit: s.
   */
  step_time: number
  /**
   * The same as a share of the step before; below 0 is faster.
   */
  share: number
  /**
   * Tokens per second over those before.
   */
  speedup: number
  /**
   * Change of the utilisation. Runs of other compute formats have other peaks.
   */
  model_flop_utilisation: number
  /**
   * Change of the memory on the stage that needs most. Unit: B.
   */
  memory: number
  /**
   * Change of the price of a token, as a share.
   */
  price_of_tokens: number | null
  /**
   * The stage on which both steps are taken apart; each on its own slowest if nothing.
   */
  stage: number | null
  /**
   * Change of each part of the step; they add up to the change of the step.
   */
  parts: PartChange[]
}
/**
 * Change of a part of the step.
 */
export interface PartChange {
  /**
   * The identifier that `railwright explain` knows.
   */
  id: string
  /**
   * Title for people.
   */
  title: string
  /**
   * Its time before. Unit: s.
   */
  before: number
  /**
   * Its time after, for as many tokens as before. Unit: s.
   */
  after: number
  /**
   * After less before. Unit: s.
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
   * Place in the input; `None` if unknown.
   */
  place: Place | null
  /**
   * Action or nearest valid name; `None` without one.
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
   * Line from 1; `None` if unknown.
   */
  line: number | null
  /**
   * Column from 1; `None` if unknown.
   */
  column: number | null
  /**
   * Dotted key; `None` if unknown.
   */
  key: string | null
  /**
   * Line of text with the problem; `None` if unknown.
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
 * Combined gain of changes relative to their single gains.
 */
export interface Interaction {
  /**
   * Product of the speed-ups alone: expected value of independent gains, each applied to the remaining
   * time.
   */
  product_alone: number
  /**
   * Speed-up together.
   */
  together: number
  /**
   * Together over the product, less 1: below 0 the changes compete for the same part of the step, above 0 they help each other.
   */
  beyond: number
  /**
   * Time saved alone, summed. Unit: s.
   */
  saved_alone: number
  /**
   * Time saved together. Unit: s.
   */
  saved_together: number
  /**
   * In words.
   */
  verdict: string
}
