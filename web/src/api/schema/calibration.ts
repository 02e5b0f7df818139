// Made from docs/reference/schema/calibration.json by scripts/types.mjs.

/**
 * A number format of tensors or of matrix products.
 */
export type DataType = 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int8'
/**
 * Operators that have rates.
 */
export type Operators = string
/**
 * Alone or within a run.
 */
export type Regime = 'burst' | 'sustained'
/**
 * What a group does together.
 */
export type CollectiveKind =
  'all_reduce' | 'all_gather' | 'reduce_scatter' | 'all_to_all' | 'broadcast' | 'send_receive'

/**
 * Common fields of every answer.
 */
export interface CalibrationAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
   * Whether this run fitted it.
   */
  fitted: boolean
  calibration: Calibration
  /**
   * Against the measurements that it was fitted to, or that judge it.
   */
  lines: Line[]
  steps: StepLine[]
  /**
   * Against measurements that it was not fitted to.
   */
  held_out: Line[]
  remarks: string[]
  warnings: Warning[]
}
/**
 * What was measured on one accelerator with one software generation.
 */
export interface Calibration {
  /**
   * `VERSION`.
   */
  version: number
  /**
   * The accelerator's identifier in the catalogue.
   */
  accelerator: string
  /**
   * The software generation of sustained figures; empty when there are none.
   */
  software: string
  /**
   * The scale-up link of collective laws; empty when there are none.
   */
  link: string
  /**
   * Sustained over measured rate of collectives within the run, if a trace recorded it.
   */
  collective_rate?: CollectiveRate | null
  /**
   * The network, where nccl-tests crossed domains.
   */
  network?: NetworkLaw | null
  /**
   * The host, where a trace showed it.
   */
  host?: HostCosts | null
  /**
   * Parts of the step, where whole steps were measured.
   */
  steps?: StepTimes | null
  /**
   * Operators.
   */
  rate: Rate[]
  /**
   * Collectives inside a domain.
   */
  collective: CollectiveLaw[]
}
/**
 * Collectives within a run over collectives alone.
 */
export interface CollectiveRate {
  /**
   * The law's time over the time in the run, waiting left out.
   */
  rate: number
  evidence: Evidence
}
/**
 * What a figure stands on.
 */
export interface Evidence {
  /**
   * The files that it was measured in, in words.
   */
  from: string
  /**
   * How many measurements there were.
   */
  samples: number
  /**
   * How far measurements of one thing scatter: the median over things of (p90 - p10) / median; 0 for one measurement.
   */
  spread: number
  /**
   * The mean absolute error of the calculator without this figure, weighted by time.
   */
  error_before: number
  /**
   * The same with it, in sample.
   */
  error_after: number
  /**
   * Half of the 95% interval of the median of measured over predicted times, as a share; 0 if not
   * computed.
   */
  uncertainty?: number
}
/**
 * The network between scale-up domains.
 */
export interface NetworkLaw {
  /**
   * Share of its NICs that a ring with large messages reaches.
   */
  ring_share: number
  /**
   * Share of the link bandwidth that uniform traffic to all peers reaches.
   */
  spread_share: number
  /**
   * Multiple of the calculator's latencies between domains.
   */
  latency: number
  /**
   * Ranks of the smallest group that was measured.
   */
  from_ranks: number
  /**
   * Of the largest.
   */
  to_ranks: number
  /**
   * Scale-up domains that the smallest group spanned; 0 if the file does not record it.
   */
  from_domains?: number
  /**
   * The largest.
   */
  to_domains?: number
  /**
   * The smallest message that was measured, bytes.
   */
  from_bytes: number
  /**
   * The largest.
   */
  to_bytes: number
  evidence: Evidence
}
/**
 * What the host costs; holds for the calibration's software generation alone.
 */
export interface HostCosts {
  /**
   * Microseconds to launch one kernel of the calculator's count.
   */
  us_per_kernel: number
  /**
   * Microseconds per micro-batch and stage, without launches.
   */
  us_per_micro_batch: number
  /**
   * Milliseconds per step outside of passes and update.
   */
  ms_per_step: number
  evidence: Evidence
}
/**
 * Corrections of the parts of a step by measured step times of one stack; holds for the calibration's software generation alone.
 */
export interface StepTimes {
  /**
   * Multiples of the predicted times of parts, in the order of `crate::software::Part::ALL`, of runs of other models and formats than
   * those measured.
   *
   * @minItems 4
   * @maxItems 4
   */
  factors: [number, number, number, number]
  /**
   * Covariance of the logarithms of these multiples.
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
   * Different layouts that were measured.
   */
  layouts: number
  evidence: Evidence
  /**
   * The same of runs of the models and formats of which some were measured.
   */
  own?: OwnRuns[]
}
/**
 * Corrections of the parts of a step of runs of one model in one format.
 */
export interface OwnRuns {
  /**
   * The model's name, for readers: launch files and users name one model differently.
   */
  model: string
  /**
   * Its parameters, which identify it.
   */
  parameters: number
  format: DataType
  /**
   * Multiples of the predicted times of parts.
   *
   * @minItems 4
   * @maxItems 4
   */
  factors: [number, number, number, number]
  /**
   * Covariance of the logarithms of these multiples.
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
 * The rate of a kind of operators over the calculator's law of them, as a function of work.
 */
export interface Rate {
  operators: Operators
  regime: Regime
  /**
   * Work of one operator and the rate there, by growing work: the law's time over the measured time. Between two points the rate
   * is linear in the logarithm of work, beyond them it stays.
   */
  points: [number, number][]
  evidence: Evidence
}
/**
 * A collective inside a scale-up domain: `t = base + f b / bandwidth + ramp sqrt(b)` with f the bus factor of nccl-tests. A sustained law is
 * what the collective takes within the run once all ranks are there: nothing of the generation's comes on top.
 */
export interface CollectiveLaw {
  operation: CollectiveKind
  /**
   * Among how many ranks.
   */
  ranks: number
  regime: Regime
  /**
   * Microseconds that the smallest message takes.
   */
  base_us: number
  /**
   * Bus bandwidth that large messages approach, decimal GB/s.
   */
  bandwidth_gb: number
  /**
   * Nanoseconds per square root of a byte.
   */
  ramp_ns: number
  /**
   * The smallest message that was measured, bytes.
   */
  from_bytes: number
  /**
   * The largest.
   */
  to_bytes: number
  evidence: Evidence
}
/**
 * One figure, or one kind of operators, against measurements.
 */
export interface Line {
  /**
   * What: `products.bf16`, `all_reduce x8`, ...
   */
  name: string
  regime: Regime
  /**
   * How many different shapes or sizes.
   */
  shapes: number
  /**
   * Number of measurements.
   */
  samples: number
  /**
   * The smallest work: FLOP of products and attention, else bytes.
   */
  from: number
  /**
   * The largest.
   */
  to: number
  /**
   * How far measurements of one thing scatter (p90 - p10 over the median).
   */
  spread: number
  /**
   * All measured time. Unit: s.
   */
  measured: number
  /**
   * The prediction without the calibration. Unit: s.
   */
  before: number
  /**
   * And with it. Unit: s.
   */
  after: number
  /**
   * Mean absolute error without, weighted by time.
   */
  error_before: number
  /**
   * And with it.
   */
  error_after: number
  /**
   * The error of fits that have not seen what they are judged by, each shape left out in turn; a figure is taken where this is below
   * `Self::error_before`. `None` where nothing was fitted or nothing could be left out.
   */
  error_left_out: number | null
  /**
   * Whether the measured times are bounds from above, since ranks that might have been waited for were not traced. Only what predictions are
   * above them counts as an error.
   */
  is_bound: boolean
}
/**
 * A whole step, or a part of it, against the measurement.
 */
export interface StepLine {
  /**
   * What: `step`, `products`, `host`, ...
   */
  name: string
  /**
   * Title for people.
   */
  title: string
  /**
   * Mean over ranks and steps. Unit: s.
   */
  measured: number
  /**
   * The prediction without the calibration. Unit: s.
   */
  before: number
  /**
   * And with it. Unit: s.
   */
  after: number
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
