// Made from docs/reference/schema/check.json by scripts/types.mjs.

/**
 * The result of one file.
 */
export type Verdict = 'fits' | 'at_risk' | 'does_not_fit' | 'invalid'

/**
 * What stands around the fields of every answer.
 */
export interface CheckAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
  kind: 'check'
  /**
   * Version of the program.
   */
  railwright: string
  files: CheckedFields[]
}
/**
 * One file in JSON.
 */
export interface CheckedFields {
  file: string
  verdict: Verdict
  problems: ProblemFields[]
  warnings: Warning[]
  remarks: Remark[]
  figures: Figures | null
  /**
   * The file before its change, where one was given.
   */
  against: AgainstFields | null
}
export interface ProblemFields {
  message: string
  hint: string | null
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
/**
 * Something to be said about the reading of a launch file.
 */
export interface Remark {
  /**
   * Of what kind.
   */
  kind: 'conflict' | 'unresolved' | 'invalid' | 'unknown' | 'not_modelled' | 'assumed' | 'ignored'
  /**
   * What the file says: a flag, a key, a variable.
   */
  said: string
  /**
   * The line, from 1, if there is one.
   */
  line: number | null
  /**
   * What is to be known about it, in a lowercase fragment without what is said.
   */
  message: string
  /**
   * The file of that line, where it is not the launch file itself.
   */
  file?: string | null
}
/**
 * The figures of one version of a file.
 */
export interface Figures {
  /**
   * `llama-3-70b, 70.6B parameters`.
   */
  model: string
  /**
   * Devices of the job.
   */
  gpus: number
  /**
   * Their kind.
   */
  accelerator: string
  /**
   * The plan in one line.
   */
  plan: string
  /**
   * The software generation whose constants apply.
   */
  software: string
  /**
   * Predicted step time.
   */
  step_time_s: number
  /**
   * Its 90% interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  step_time_interval_s: [number, number]
  /**
   * Model FLOPs utilisation in the reported convention, as a share.
   */
  mfu: number | null
  /**
   * Peak memory of the stage that needs the most.
   */
  memory_peak_bytes: number
  /**
   * Memory of a device.
   */
  memory_capacity_bytes: number
  /**
   * Probability that the peak fits.
   */
  probability_of_fitting: number
  /**
   * Rent for the token budget, if one is set.
   */
  rent_usd: number | null
  /**
   * Days for the token budget, if one is set.
   */
  days: number | null
}
export interface AgainstFields {
  figures: Figures | null
  problems: ProblemFields[]
}
