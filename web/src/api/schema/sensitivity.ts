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
 * Common fields of every result.
 */
export interface SensitivityAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
   * Devices by kind, as text.
   */
  devices_by_kind: string
  /**
   * The plan in one line.
   */
  plan: string
  /**
   * Step time of the unchanged run. Unit: s.
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
   * All parameters, the one with the largest effect first.
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
 * One parameter.
 */
export interface Figure {
  /**
   * Stable identifier: the key of the run file if there is one.
   */
  id: string
  /**
   * Title for display.
   */
  title: string
  kind: Kind
  /**
   * Its value, as text.
   */
  now: string
  /**
   * True if a greater value is faster (a bandwidth), false if it is slower (a latency).
   */
  greater_is_faster: boolean
  /**
   * `d ln T / d ln x`.
   */
  elasticity: number
  /**
   * Change of the step with a 10% smaller value, as a share.
   */
  less: number
  /**
   * Change of the step with a 10% greater value, as a share.
   */
  more: number
  /**
   * Change of the step with an ideal value, as a share: an unlimited rate, a latency of zero.
   */
  best: number
  /**
   * The part of the step with the largest reduction in that case.
   */
  through: string | null
}
/**
 * Sums of the elasticities of all rates and times.
 */
export interface SumRule {
  /**
   * Sum over rates: peaks and bandwidths; below 0.
   */
  rates: number
  /**
   * Sum over times: latencies, floors, launches; above 0.
   */
  times: number
  /**
   * Difference to 1 of times minus rates: constants without a parameter, and kinks within the step of the
   * difference.
   */
  rest: number
}
/**
 * Memory of the device and of the run.
 */
export interface Capacity {
  /**
   * Memory of a device. Unit: B.
   */
  device: number
  /**
   * Memory of the stage with the largest peak. Unit: B.
   */
  peak: number
  /**
   * Minimum device memory of the run. Below, running out of memory is the more likely outcome; above,
   * capacity has no effect. Unit: B.
   */
  least: number
  fit: Fit
}
