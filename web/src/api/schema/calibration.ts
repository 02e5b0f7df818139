// Made from docs/reference/schema/calibration.json by scripts/types.mjs.

/**
 * A number format of tensors or GEMMs.
 */
export type DataType = 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
/**
 * Operators that have rates.
 */
export type Operators = string
/**
 * Conditions of a measurement.
 */
export type Regime = 'burst' | 'sustained'
/**
 * Collective operation with a modelled time. Its kind on a timeline is `railwright_step::CollectiveKind`.
 */
export type Collective =
  | 'all_reduce'
  | 'all_gather'
  | 'reduce_scatter'
  | 'all_to_all'
  | {
      expert_dispatch: {
        /**
         * Experts per token (top-k).
         */
        copies: number
        /**
         * Maximum number of domains of a token (group-limited routing with groups as domains); 0: no limit.
         */
        most_domains: number
      }
    }
  | 'broadcast'
  | 'send_receive'

/**
 * Common fields of every result.
 */
export interface CalibrationAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'calibration'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Label of the measurements.
   */
  title: string
  /**
   * The cluster's name.
   */
  cluster: string
  /**
   * True if this run fitted the calibration, false if it was read from a file.
   */
  fitted: boolean
  calibration: Calibration
  /**
   * Lines for the measurements of the fit, or of its evaluation.
   */
  lines: Line[]
  /**
   * Measured and predicted steps.
   */
  steps: StepLine[]
  /**
   * Lines for held-out measurements.
   */
  held_out: Line[]
  /**
   * Skipped and corrected measurements.
   */
  remarks: string[]
  /**
   * Doubts about the fit.
   */
  warnings: Warning[]
}
/**
 * Measurements on one accelerator with one software generation.
 */
export interface Calibration {
  /**
   * File version, see `VERSION`.
   */
  version: number
  /**
   * Identifier of the accelerator in the catalogue.
   */
  accelerator: string
  /**
   * Software generation of sustained figures; empty if there are none.
   */
  software: string
  /**
   * Scale-up link of collective laws; empty if there are none.
   */
  link: string
  /**
   * Sustained over measured rate of collectives within the run, if a trace recorded it.
   */
  collective_rate?: CollectiveRate | null
  /**
   * Network law, if nccl-tests crossed scale-up domains.
   */
  network?: NetworkLaw | null
  /**
   * Host costs, if a trace recorded them.
   */
  host?: HostCosts | null
  /**
   * Corrections of the parts of a step, if whole steps were measured.
   */
  steps?: StepTimes | null
  /**
   * Rates of operators.
   */
  rate: Rate[]
  /**
   * Laws of collectives inside a scale-up domain.
   */
  collective: CollectiveLaw[]
}
/**
 * Rate of collectives within a run, relative to collectives alone.
 */
export interface CollectiveRate {
  /**
   * Time by the law over the time in the run, waits excluded.
   */
  rate: number
  evidence: Evidence
}
/**
 * Supporting evidence of a figure.
 */
export interface Evidence {
  /**
   * Measured files, as text for readers.
   */
  from: string
  /**
   * Number of measurements.
   */
  samples: number
  /**
   * Relative scatter of repeated measurements: median, over measured items, of (p90 - p10) / median; 0
   * for one measurement.
   */
  spread: number
  /**
   * Mean absolute error of the calculator without this figure, weighted by time.
   */
  error_before: number
  /**
   * Mean absolute error of the calculator with this figure, in sample.
   */
  error_after: number
  /**
   * Half of the 95% interval of the median of measured over predicted times, as a share; 0 if unknown.
   */
  uncertainty?: number
}
/**
 * The network between scale-up domains.
 */
export interface NetworkLaw {
  /**
   * Share of the NIC bandwidth reached by a ring with large messages.
   */
  ring_share: number
  /**
   * Share of the link bandwidth reached by uniform traffic to all peers.
   */
  spread_share: number
  /**
   * Factor on the calculator's latencies between domains.
   */
  latency: number
  /**
   * Ranks of the smallest measured group.
   */
  from_ranks: number
  /**
   * Ranks of the largest measured group.
   */
  to_ranks: number
  /**
   * Scale-up domains of the measured group that spans the fewest; 0 if the file does not record it.
   */
  from_domains?: number
  /**
   * Scale-up domains of the measured group that spans the most; 0 if the file does not record it.
   */
  to_domains?: number
  /**
   * Smallest measured message, in bytes.
   */
  from_bytes: number
  /**
   * Largest measured message, in bytes.
   */
  to_bytes: number
  evidence: Evidence
}
/**
 * Host costs, valid only for the calibration's software generation.
 */
export interface HostCosts {
  /**
   * Launch time per kernel counted by the calculator, in microseconds.
   */
  us_per_kernel: number
  /**
   * Host time per micro-batch and stage without launches, in microseconds.
   */
  us_per_micro_batch: number
  /**
   * Host time per step outside passes and update, in milliseconds.
   */
  ms_per_step: number
  evidence: Evidence
}
/**
 * Corrections of the parts of a step, fitted to measured step times of one stack. Valid only for the
 * calibration's software generation.
 */
export interface StepTimes {
  /**
   * Factors on the predicted times of the parts, in the order of `crate::software::Part::ALL`, for runs
   * of models and formats without measurements.
   *
   * @minItems 4
   * @maxItems 4
   */
  factors: [number, number, number, number]
  /**
   * Covariance of the logarithms of these factors.
   *
   * @minItems 4
   * @maxItems 4
   */
  covariance: [
    [number, number, number, number],
    [number, number, number, number],
    [number, number, number, number],
    [number, number, number, number]
  ]
  /**
   * Standard deviation of the logarithm of a run's time that no part explains.
   */
  residual: number
  /**
   * Number of distinct measured layouts.
   */
  layouts: number
  evidence: Evidence
  /**
   * Corrections for the models and formats with measured runs.
   */
  own?: OwnRuns[]
  /**
   * The measured layouts. Absent in files of earlier versions.
   */
  measured?: MeasuredLayout[]
}
/**
 * Corrections of the parts of a step, for runs of one model in one format.
 */
export interface OwnRuns {
  /**
   * Name of the model, for readers: launch files and users name one model differently.
   */
  model: string
  /**
   * Number of parameters, which identifies the model.
   */
  parameters: number
  format: DataType
  /**
   * Factors on the predicted times of the parts, as in `StepTimes::factors`.
   *
   * @minItems 4
   * @maxItems 4
   */
  factors: [number, number, number, number]
  /**
   * Covariance of the logarithms of these factors.
   *
   * @minItems 4
   * @maxItems 4
   */
  covariance: [
    [number, number, number, number],
    [number, number, number, number],
    [number, number, number, number],
    [number, number, number, number]
  ]
}
/**
 * One measured layout.
 */
export interface MeasuredLayout {
  /**
   * Measured step time in seconds: the geometric mean of the logs of this layout.
   */
  step_time_s: number
  /**
   * Number of logs.
   */
  samples: number
  /**
   * Number of parameters, which identifies the model.
   */
  parameters: number
  /**
   * Settings of the cluster and the plan, by run-file key.
   */
  settings: {
    [k: string]: string
  }
}
/**
 * Rate of a kind of operators relative to the calculator's law, as a function of work.
 */
export interface Rate {
  operators: Operators
  regime: Regime
  /**
   * Work of one operator (in the unit of `Operators`) and the rate there, by growing work. The rate is
   * the law's time over the measured time: linear in the logarithm of work between two points,
   * constant beyond them.
   */
  points: [number, number][]
  evidence: Evidence
}
/**
 * A collective inside a scale-up domain: `t = base + f b / bandwidth + ramp sqrt(b)` with f the bus factor
 * of nccl-tests. A sustained law gives the time within the run after the last rank has arrived; the
 * generation's constants are not applied in addition.
 */
export interface CollectiveLaw {
  operation: Collective
  /**
   * Number of ranks.
   */
  ranks: number
  regime: Regime
  /**
   * Time of the smallest message, in microseconds.
   */
  base_us: number
  /**
   * Asymptotic bus bandwidth of large messages, in decimal GB/s.
   */
  bandwidth_gb: number
  /**
   * Ramp, in nanoseconds per square root of a byte.
   */
  ramp_ns: number
  /**
   * Smallest measured message, in bytes.
   */
  from_bytes: number
  /**
   * Largest measured message, in bytes.
   */
  to_bytes: number
  evidence: Evidence
}
/**
 * One figure, or one kind of operators, compared with measurements.
 */
export interface Line {
  /**
   * Identifier: `products.bf16`, `all_reduce x8`, ...
   */
  name: string
  regime: Regime
  /**
   * Number of different shapes or sizes.
   */
  shapes: number
  /**
   * Number of measurements.
   */
  samples: number
  /**
   * The smallest work: FLOP for GEMMs and attention, otherwise bytes.
   */
  from: number
  /**
   * The largest work, in the same unit.
   */
  to: number
  /**
   * Scatter of repeated measurements: (p90 - p10) / median.
   */
  spread: number
  /**
   * Sum of all measured times. Unit: s.
   */
  measured: number
  /**
   * The prediction without the calibration. Unit: s.
   */
  before: number
  /**
   * The prediction with the calibration. Unit: s.
   */
  after: number
  /**
   * Mean absolute error without the calibration, weighted by time, as a share.
   */
  error_before: number
  /**
   * Mean absolute error with the calibration, weighted by time, as a share.
   */
  error_after: number
  /**
   * Leave-one-shape-out error of the fit, as a share. A constant is used if this is below
   * `Self::error_before`. `null` without a fit or without held-out measurements.
   */
  error_left_out: number | null
  /**
   * True if the measured times are upper bounds, because untraced ranks may have caused waits. Only the
   * excess of a prediction over them then counts as an error.
   */
  is_bound: boolean
}
/**
 * A whole step, or a part of it, compared with the measurement.
 */
export interface StepLine {
  /**
   * Identifier: `step`, `products`, `host`, ...
   */
  name: string
  /**
   * Title for display.
   */
  title: string
  /**
   * Measured time, mean over ranks and steps. Unit: s.
   */
  measured: number
  /**
   * The prediction without the calibration. Unit: s.
   */
  before: number
  /**
   * The prediction with the calibration. Unit: s.
   */
  after: number
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
