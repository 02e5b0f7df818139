// Made from docs/reference/schema/detect.json by scripts/types.mjs.

/**
 * A kind of file, detected by content.
 */
export type Format =
  | 'megatron-log'
  | 'megatron-script'
  | 'megatron-command'
  | 'megatron-yaml'
  | 'megatron-args-yaml'
  | 'torchtitan'
  | 'deepspeed'
  | 'nanotron'
  | 'megatron-bridge'
  | 'nemo'
  | 'accelerate'
  | 'hf-trainer'
  | 'rl'
  | 'gpt-neox'
  | 'primus'
  | 'torchtune'
  | 'olmo-core'
  | 'pretrainer'
  | 'hugging-face'
  | 'run-file'
  | 'trace'
  | 'max-text'
  | 'script'
  | 'other'
  | 'nccl-tests'
  | 'topology'
/**
 * Strength of evidence.
 */
export type Strength = 'weak' | 'likely' | 'certain'
/**
 * Kinds of remarks.
 */
export type RemarkKind = 'conflict' | 'unresolved' | 'invalid' | 'unknown' | 'not_modelled' | 'assumed' | 'ignored'

/**
 * Common fields of every result.
 */
export interface DetectAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'detect'
  /**
   * Version of the program.
   */
  railwright: string
  file: string
  /**
   * Formats that the file may have.
   */
  seen: Sighting[]
  /**
   * The reader of traces and other records; `null` if none reads the file.
   */
  records?: string | null
  format?: string
  /**
   * Every value with its line.
   */
  values?: Origin[]
  remarks?: Remark[]
  /**
   * Reason why the file shows only a part of the run.
   */
  partial?: string | null
  /**
   * Values that the file sets but that cannot be read from it.
   */
  open?: Open[]
  /**
   * Step time of a log.
   */
  measured?: Measured | null
  /**
   * The same run as a run file.
   */
  run_file?: string
}
/**
 * A detected kind of file.
 */
export interface Sighting {
  format: Format
  strength: Strength
  /**
   * Evidence, such as "the keys `parallelism` and `tokens`".
   */
  why: string
}
/**
 * Origin of a value.
 */
export interface Origin {
  /**
   * The key of a run file, such as `plan.tensor_parallel`.
   */
  key: string
  /**
   * Value in the form of a run file.
   */
  value: string
  /**
   * The text of the file, such as `--tensor-model-parallel-size 8`, or the default.
   */
  source: string
  /**
   * The line, from 1; `null` for a default of the framework.
   */
  line: number | null
  /**
   * The file of that line; `null` if it is the launch file itself.
   */
  file?: string | null
}
/**
 * A remark on a launch file.
 */
export interface Remark {
  kind: RemarkKind
  /**
   * Its subject: a flag, a key, a variable.
   */
  source: string
  /**
   * The line, from 1, if there is one.
   */
  line: number | null
  /**
   * The remark, a lowercase fragment without the subject.
   */
  message: string
  /**
   * The file of that line; `null` if it is the launch file itself.
   */
  file?: string | null
}
/**
 * A value that stays open.
 */
export interface Open {
  /**
   * The key of a run file for it.
   */
  key: string
  /**
   * The text of the file; empty if none.
   */
  source: string
  /**
   * The line, from 1, if there is one.
   */
  line: number | null
  /**
   * The file of that line; `null` if it is the launch file itself.
   */
  file?: string | null
  /**
   * Reason why it is open, as a lowercase fragment.
   */
  why: string
}
/**
 * Measurements of a run in its log. Times are in seconds.
 */
export interface Measured {
  /**
   * Iterations that the log reports on, over all restarts.
   */
  reported: number
  /**
   * Starts of the run in this log: 1, or more with restarts.
   */
  starts: number
  /**
   * Iterations left out as warm-up.
   */
  left_out: number
  /**
   * Iterations left out because they have another batch size than the last.
   */
  other_batch: number
  /**
   * Seconds of one step: the median of the reports that were kept, each weighted with the iterations that
   * it averages over. Unit: s.
   */
  step_time: number
  /**
   * The tenth and ninetieth percentile of the same. Unit: s.
   *
   * @minItems 2
   * @maxItems 2
   */
  step_time_range: [number, number]
  /**
   * Tokens per step, if the log has batch and sequence length.
   */
  tokens_per_step: number | null
  /**
   * Model TFLOP/s of one device as in the log, the median of the reports that were kept. Unit: TFLOP/s.
   */
  tflops_per_device: number | null
  /**
   * Maximum memory allocated on a rank, in bytes. Unit: B.
   */
  allocated: number | null
  /**
   * Maximum memory reserved by the allocator on a rank, in bytes. Unit: B.
   */
  reserved: number | null
}
