// Made from docs/reference/schema/sensitivity.json by scripts/types.mjs.

/**
 * Kind of a parameter.
 */
export type Kind = 'hardware' | 'host' | 'software'
/**
 * Predicted memory fit of a plan.
 */
export type Fit = 'fits' | 'at_risk' | 'does_not_fit'

/**
 * Common fields of every answer.
 */
export interface SensitivityAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'sensitivity'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The model's name.
   */
  model: string
  /**
   * The accelerator's name.
   */
  accelerator: string
  /**
   * Accelerators used.
   */
  devices: number
  /**
   * The plan in one line.
   */
  plan: string
  /**
   * The step as it is. Unit: s.
   */
  step_time: number
  /**
   * The relative step of the differences: `STEP`.
   */
  difference: number
  /**
   * The change of `less` and `more`: `SWING`.
   */
  swing: number
  /**
   * Every figure, the one that swings the step most first.
   */
  figures: Figure[]
  sum: SumRule
  capacity: Capacity
  /**
   * Settings that were not specified.
   */
  chosen: string[]
}
/**
 * One figure.
 */
export interface Figure {
  /**
   * A stable identifier: the key of the run file where there is one.
   */
  id: string
  /**
   * Title for people.
   */
  title: string
  kind: Kind
  /**
   * Its value, in words.
   */
  now: string
  /**
   * Whether a greater value is faster (a bandwidth) or slower (a latency).
   */
  greater_is_faster: boolean
  /**
   * `d ln T / d ln x`.
   */
  elasticity: number
  /**
   * Change of the step when the figure is 10% smaller, as a share.
   */
  less: number
  /**
   * The same when it is 10% greater.
   */
  more: number
  /**
   * The same when it costs nothing any more: a rate without limit, a latency of zero.
   */
  best: number
  /**
   * The part of the step that shrinks most then.
   */
  through: string | null
}
/**
 * The elasticities of everything that takes time, summed.
 */
export interface SumRule {
  /**
   * Of rates: peaks and bandwidths; below 0.
   */
  rates: number
  /**
   * Of times: latencies, floors, launches; above 0.
   */
  times: number
  /**
   * What is left to 1 of times less rates: constants that have no knob, and kinks within the step of the difference.
   */
  rest: number
}
/**
 * Memory against what the run needs.
 */
export interface Capacity {
  /**
   * Memory of a device. Unit: B.
   */
  device: number
  /**
   * Memory of the fullest stage. Unit: B.
   */
  peak: number
  /**
   * The least that the run can do with: below, it does not fit; above, capacity changes nothing. Unit: B.
   */
  least: number
  fit: Fit
}
