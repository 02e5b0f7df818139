// Made from docs/reference/schema/validation.json by scripts/types.mjs.

/**
 * Common fields of every answer.
 */
export interface ValidationAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'validation'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The file that was read.
   */
  file: string
  /**
   * Every row of it, in order.
   */
  rows: RowResult[]
  summary: Summary
  /**
   * The calibration that was given, and which rows used it.
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
   * Predicted peak memory in bytes, of the kind that the row publishes.
   */
  predicted_peak_memory_bytes: number | null
  /**
   * Whether the run is predicted to fit.
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
   * Predicted over measured step time, less one.
   */
  step_time_error: number | null
  /**
   * Predicted over measured peak memory, less one.
   */
  peak_memory_error: number | null
  /**
   * Whether the run is known to have run out of memory.
   */
  measured_out_of_memory: boolean
  /**
   * The software generation that the row was taken for.
   */
  software: string | null
  /**
   * Whether the model routes tokens to experts.
   */
  mixture_of_experts: boolean
  /**
   * Whether the calibration that was given changed its prediction.
   */
  calibrated?: boolean
  /**
   * Reason why the row was not predicted.
   */
  skipped: string | null
  /**
   * Predicted step time in seconds with what nearness to the memory limit is expected to cost: what a search orders by.
   */
  expected_step_time_s: number | null
}
/**
 * Errors over all rows, by source and by group.
 */
export interface Summary {
  overall: Errors
  /**
   * By source, in alphabetical order.
   */
  sources: {
    [k: string]: Errors
  }
  /**
   * By group of sources (`catalog/evidence/groups.toml`).
   */
  groups: {
    [k: string]: Errors
  }
  /**
   * Out-of-memory verdicts, when the table has any such rows.
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
   * Rows in the set.
   */
  rows: number
  /**
   * Rows predicted.
   */
  predicted: number
  /**
   * Rows without a prediction; `Summary::skipped` lists the reasons.
   */
  skipped: number
  /**
   * Rows that publish every input of a prediction.
   */
  complete: number
  /**
   * Of these, predicted.
   */
  complete_predicted: number
  /**
   * Step time.
   */
  step_time: ErrorSummary | null
  /**
   * Peak memory.
   */
  peak_memory: ErrorSummary | null
  /**
   * Share of measured step times inside the predicted 90% interval.
   */
  interval_coverage: number | null
  /**
   * Spearman's correlation of predicted and measured step times within sweeps (one source, model, accelerator, number of devices and
   * format) of at least five rows, weighted by their rows.
   */
  rank_correlation: number | null
}
/**
 * Prediction errors over a set of rows.
 */
export interface ErrorSummary {
  /**
   * Rows compared.
   */
  n: number
  /**
   * Median of |predicted / measured - 1|.
   */
  median_absolute: number
  /**
   * Mean of the same.
   */
  mean_absolute: number
  /**
   * 90th percentile of the same.
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
   * Runs out of memory.
   */
  out_of_memory: number
  /**
   * Of these, predicted not to fit.
   */
  found: number
  /**
   * Runs that ran.
   */
  ran: number
  /**
   * Of these, predicted not to fit.
   */
  false_alarms: number
  /**
   * Share of the runs out of memory that were predicted not to fit; `None` when the table labels no such run.
   */
  recall: number | null
}
/**
 * Use of a calibration.
 */
export interface Used {
  /**
   * Its file.
   */
  file: string
  /**
   * The accelerator whose rows use it.
   */
  accelerator: string
  /**
   * Rows that it predicts otherwise than the catalogue.
   */
  rows: number
  /**
   * Rows that ran on its accelerator and use nothing that it calibrates, so that their prediction is unchanged.
   */
  unchanged: number
  /**
   * Rows on its accelerator of another software generation than its own, to which its constants of the host and of streams do not apply.
   */
  other_software: number
  with: Errors
  without: Errors
}
