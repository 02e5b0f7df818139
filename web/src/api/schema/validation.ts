// Made from docs/reference/schema/validation.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface ValidationAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'validation'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Name of the table's file.
   */
  file: string
  /**
   * Results of all rows, in order.
   */
  rows: RowResult[]
  summary: Summary
  /**
   * The given calibration, with the rows that used it. `null` without one.
   */
  calibration?: Used | null
}
/**
 * One row.
 */
export interface RowResult {
  /**
   * The row's identifier.
   */
  id: string
  /**
   * Publication.
   */
  source: string | null
  /**
   * Predicted step time in seconds.
   */
  predicted_step_time_s: number | null
  /**
   * Lower end of the 90% interval.
   */
  predicted_step_time_low_s: number | null
  /**
   * Upper end of the 90% interval.
   */
  predicted_step_time_high_s: number | null
  /**
   * Lower end of the 50% interval.
   */
  predicted_step_time_half_low_s: number | null
  /**
   * Upper end of the 50% interval.
   */
  predicted_step_time_half_high_s: number | null
  /**
   * Predicted peak memory in bytes, by the row's metric.
   */
  predicted_peak_memory_bytes: number | null
  /**
   * False if the run is predicted not to fit, which a run at risk is not. `null` without a prediction.
   */
  predicted_fits: boolean | null
  /**
   * Probability that it fits.
   */
  probability_of_fitting: number | null
  /**
   * Measured step time in seconds.
   */
  measured_step_time_s: number | null
  /**
   * Measured peak memory in bytes.
   */
  measured_peak_memory_bytes: number | null
  /**
   * Predicted over measured step time, minus 1.
   */
  step_time_error: number | null
  /**
   * Predicted over measured peak memory, minus 1.
   */
  peak_memory_error: number | null
  /**
   * True if the run is known to have run out of memory.
   */
  measured_out_of_memory: boolean
  /**
   * The software generation assigned to the row.
   */
  software: string | null
  /**
   * True if the model routes tokens to experts.
   */
  mixture_of_experts: boolean
  /**
   * True if the given calibration changed its prediction.
   */
  calibrated?: boolean
  /**
   * Reason why the row was not predicted.
   */
  skipped: string | null
  /**
   * Predicted step time in seconds, including the expected slowdown near the memory limit: the sort key
   * of a search.
   */
  expected_step_time_s: number | null
}
/**
 * Errors over all rows, by source and by group.
 */
export interface Summary {
  overall: Errors
  /**
   * Errors by source, in alphabetical order.
   */
  sources: {
    [k: string]: Errors
  }
  /**
   * Errors by group of sources (`catalog/evidence/groups.toml`).
   */
  groups: {
    [k: string]: Errors
  }
  /**
   * Out-of-memory verdicts. `null` if the table has no such rows.
   */
  out_of_memory: Verdicts | null
  /**
   * Number of rows per reason for skipping.
   */
  skipped: {
    [k: string]: number
  }
}
/**
 * Errors over a set of rows.
 */
export interface Errors {
  /**
   * Number of rows in the set.
   */
  rows: number
  /**
   * Number of predicted rows.
   */
  predicted: number
  /**
   * Number of rows without a prediction; `Summary::skipped` lists the reasons.
   */
  skipped: number
  /**
   * Number of rows that publish every input of a prediction.
   */
  complete: number
  /**
   * Number of these that are predicted.
   */
  complete_predicted: number
  /**
   * Errors of the step time.
   */
  step_time: ErrorSummary | null
  /**
   * Errors of the peak memory.
   */
  peak_memory: ErrorSummary | null
  /**
   * Share of measured step times inside the predicted 90% interval.
   */
  interval_coverage: number | null
  /**
   * Share of measured step times inside the predicted 50% interval.
   */
  half_interval_coverage: number | null
  /**
   * Spearman's correlation of predicted and measured step times within sweeps (one source, model,
   * accelerator, number of devices and format). Sweeps have at least five rows, and are weighted by
   * their rows. `null` without such sweeps.
   */
  rank_correlation: number | null
}
/**
 * Prediction errors over a set of rows.
 */
export interface ErrorSummary {
  /**
   * Number of compared rows.
   */
  n: number
  /**
   * Median of |predicted / measured - 1|.
   */
  median_absolute: number
  /**
   * Mean of the same values.
   */
  mean_absolute: number
  /**
   * 90th percentile of the same values.
   */
  p90_absolute: number
  /**
   * Median of predicted / measured - 1: positive is too slow or too large.
   */
  bias: number
}
/**
 * Memory verdicts compared with outcomes.
 */
export interface Verdicts {
  /**
   * Number of runs out of memory.
   */
  out_of_memory: number
  /**
   * Number of these that are predicted not to fit.
   */
  found: number
  /**
   * Number of runs that ran.
   */
  ran: number
  /**
   * Number of these that are predicted not to fit.
   */
  false_alarms: number
  /**
   * Share of the runs out of memory that were predicted not to fit. `null` if the table has no such run.
   */
  recall: number | null
}
/**
 * Use of a calibration.
 */
export interface Used {
  /**
   * File of the calibration.
   */
  file: string
  /**
   * The accelerator whose rows use it.
   */
  accelerator: string
  /**
   * Number of rows whose prediction it changes.
   */
  rows: number
  /**
   * Number of rows on its accelerator without any calibrated operation, so that their prediction is
   * unchanged.
   */
  unchanged: number
  /**
   * Number of rows on its accelerator with a different software generation. Its constants of the host and
   * of element-wise kernels do not apply to them.
   */
  other_software: number
  with: Errors
  without: Errors
}
