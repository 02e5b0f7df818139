// Made from docs/reference/schema/stragglers.json by scripts/types.mjs.

export type StragglersAnswer =
  | {
      /**
       * Grows when a field changes or goes; new fields may come at any time.
       */
      schema_version: 2
      kind: 'stragglers'
      /**
       * Version of the program.
       */
      railwright: string
      verdict: Verdict
      reasons: string[]
      culprits: Named[]
      /**
       * Nothing is replayed.
       */
      replay_error: number | null
      has_straggler: boolean
      /**
       * Records of NCCL Inspector.
       */
      nccl_inspector: Inspected | null
      /**
       * Metrics of xpu_timer.
       */
      xpu_timer: Metrics | null
    }
  | {
      /**
       * Grows when a field changes or goes; new fields may come at any time.
       */
      schema_version: 2
      kind: 'stragglers'
      /**
       * Version of the program.
       */
      railwright: string
      /**
       * Readings of device and network-card counters per rank, if recorded with the traces.
       */
      health?: Health | null
      verdict: Verdict
      /**
       * Reasons for an inconclusive verdict.
       */
      reasons: string[]
      /**
       * Stragglers, largest cost first; empty if inconclusive.
       */
      culprits: Named2[]
      /**
       * Ranks that were traced.
       */
      ranks_traced: number
      /**
       * Ranks of the job.
       */
      world_size: number
      /**
       * Whether the world size is recorded. Otherwise it is a lower bound.
       */
      world_size_known: boolean
      /**
       * Steps that were looked at; 1 when nothing marks them.
       */
      steps: number
      /**
       * The mean step, in nanoseconds.
       */
      step_time_ns: number
      /**
       * Step time with all ranks at the median speed of their peers.
       */
      step_time_without_ns: number
      /**
       * Costs up to this are not reported, in nanoseconds of a step: what steps differ by (at most 5% of a step), 0.5% of a step, or what the replay is off by.
       */
      noise_ns: number
      /**
       * Replay error as a share of the steps.
       */
      replay_error: number
      /**
       * Reason why costs are upper bounds ("at most"): untraced ranks may have absorbed them. `None` if all
       * were traced.
       */
      bounds_only: string | null
      /**
       * Waits of all ranks for a step, in nanoseconds, summed over ranks.
       */
      waits_ns: number
      /**
       * The share of a typical step that a device is idle, mean over the ranks.
       */
      idle: number
      /**
       * Whether no rank has a device: what hosts compute stands for it, and what lies outside of their operators for idle time.
       */
      from_host: boolean
      /**
       * Whether hosts, not ranks, hold the job up: every device is idle for longer than it computes, waits for others left out.
       */
      host_bound: boolean
      /**
       * Ranks by cost; those that the verdict names are stragglers, and there may be none.
       */
      ranks: Culprit[]
      /**
       * Groups with slow transfers.
       */
      slow_groups: SlowGroup[]
      clocks: Clocks
      /**
       * Warnings.
       */
      warnings: Warning[]
      has_straggler: boolean
    }
/**
 * Causes of delay.
 */
export type Verdict = 'straggler' | 'slow_link' | 'imbalance' | 'none' | 'cannot_tell'
/**
 * The kind of a straggler.
 */
export type Kind = 'rank' | 'group' | 'stage'
/**
 * Certainty of a cost.
 */
export type Certainty = 'replayed' | 'at_most' | 'unknown'
/**
 * A class of causes.
 */
export type CauseClass =
  'slow_chip' | 'more_work' | 'slow_host' | 'launch_latency' | 'slow_link' | 'copies' | 'schedule' | 'unknown'
/**
 * A communication operation, from its name or its recorder.
 */
export type Operation =
  | 'all_reduce'
  | 'all_gather'
  | 'reduce_scatter'
  | 'all_to_all'
  | 'dispatch'
  | 'combine'
  | 'notify'
  | 'broadcast'
  | 'reduce'
  | 'gather'
  | 'scatter'
  | 'send_receive'
  | 'send'
  | 'receive'
  | 'copy'
  | 'barrier'

/**
 * A straggler. These records have no steps, so the cost per step is unknown.
 */
export interface Named {
  kind: string
  ranks: number[]
  stage: number | null
  cause: string
  cost_s: number | null
  certainty: number | null
  communicator: string | null
}
/**
 * Results of the records.
 */
export interface Inspected {
  /**
   * Records that were read.
   */
  records: number
  /**
   * By communicator, kind and size; those with most time first.
   */
  rows: Row[]
  /**
   * Late ranks, largest cost first.
   */
  late: Late[]
  /**
   * Warnings.
   */
  warnings: Warning[]
}
/**
 * Collectives of one communicator, kind and size.
 */
export interface Row {
  /**
   * The communicator.
   */
  communicator: string
  /**
   * Its ranks.
   */
  ranks: number
  /**
   * Their nodes.
   */
  nodes: number
  /**
   * Kind.
   */
  kind: string
  /**
   * Its size in bytes.
   */
  bytes: number
  /**
   * Number of entries.
   */
  count: number
  /**
   * Microseconds of the shortest rank of one, the median: the transfer. Unit: us.
   */
  transfer: number
  /**
   * Microseconds that ranks were in one beyond the transfer, the mean: waiting. Unit: us.
   */
  wait: number
  /**
   * Bus bandwidth of the transfer in GB/s, the median over collectives of the best rank. Unit: GB/s.
   */
  bus_bandwidth: number
  /**
   * The median of that over similar communicators (as many ranks on as many nodes, same kind and size), where there are three.
   */
  of_peers: number | null
}
/**
 * Straggler of a communicator.
 */
export interface Late {
  /**
   * The communicator.
   */
  communicator: string
  /**
   * The rank within it.
   */
  rank: number
  /**
   * Its host.
   */
  host: string
  /**
   * Microseconds that the other ranks waited, on average, over all collectives in which this rank came last. Unit: us.
   */
  waited: number
  /**
   * In how many it came last.
   */
  last: number
  /**
   * Of how many that all ranks of the communicator recorded.
   */
  of: number
  /**
   * What the others waited for it, as a share of their time in the communicator's collectives.
   */
  share: number
  /**
   * Whether it delays the others: half of all waits of the communicator and a twentieth of the time in it.
   */
  is_straggler: boolean
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
 * Results of the metrics.
 */
export interface Metrics {
  /**
   * The ranks in order.
   */
  ranks: RankSpeed[]
  /**
   * Whether all ranks are flagged: then the job hangs, else some wait.
   */
  all_hang: boolean
  /**
   * Gauges that could not be read.
   */
  damaged: number
}
/**
 * A rank compared with its peers.
 */
export interface RankSpeed {
  /**
   * Rank.
   */
  rank: number
  /**
   * Its matrix GEMM rate over the median of all ranks in the same size class, the mean over classes; `None` where it has none.
   */
  matrix_product_speed: number | null
  /**
   * Its communication's rate in the same way.
   */
  communication_speed: number | null
  /**
   * Whether it is flagged as hanging.
   */
  hangs: boolean
  /**
   * Work that it has queued.
   */
  queued: number | null
}
/**
 * Device counters of a job.
 */
export interface Health {
  /**
   * Each rank with readings, in order.
   */
  ranks: RankHealth[]
  /**
   * Readings of hosts or devices that no rank names.
   */
  unmatched: number
  /**
   * Whether readings have times that do not overlap the recording: then all of them are used.
   */
  other_time: boolean
}
/**
 * Device counters of one rank.
 */
export interface RankHealth {
  /**
   * The rank.
   */
  rank: number
  /**
   * Readings that were used.
   */
  samples: number
  /**
   * Clock of the multiprocessors.
   */
  sm_clock_mhz?: Counter | null
  /**
   * Temperature of the GPU.
   */
  temperature_celsius?: Counter | null
  /**
   * Power.
   */
  power_w?: Counter | null
  /**
   * Reasons for a lower clock that were set in any reading.
   */
  throttle_reasons: string[]
  /**
   * XID errors.
   */
  xid_errors: number[]
  /**
   * Totals that grew, or that are not 0 where one reading was made: name and by how much. Network cards are those of its host.
   */
  errors: [string, number][]
}
/**
 * A counter of a rank.
 */
export interface Counter {
  /**
   * The rank's median.
   */
  own: number
  /**
   * The median of the other ranks', where there are others.
   */
  others: number | null
}
/**
 * Causes of delay with the step time saved without each.
 */
export interface Named2 {
  kind: Kind
  /**
   * Its ranks.
   */
  ranks: number[]
  /**
   * Its stage, from 0.
   */
  stage: number | null
  /**
   * Reason.
   */
  cause: string
  /**
   * Step time saved in seconds, after the preceding causes are fixed.
   */
  cost_s: number
  certainty: Certainty
}
/**
 * A rank that others wait for.
 */
export interface Culprit {
  /**
   * The rank.
   */
  rank: number
  /**
   * Its host, if recorded.
   */
  host: string | null
  /**
   * What a step would be shorter by had it run like the median of its peers, in nanoseconds. Where ranks were not traced the most that it can be: `at_most`.
   */
  cost_ns: number
  certainty: Certainty
  /**
   * The same as a share of the step.
   */
  share: number
  /**
   * Upper bound, in nanoseconds: excess of its intervals over its peers, summed over a step. Valid for any
   * behaviour of untraced ranks.
   */
  at_most_ns: number
  /**
   * Whether the verdict names it.
   */
  is_straggler: boolean
  /**
   * Waits of all ranks of which it is the root, for a step, in nanoseconds.
   */
  waits_ns: number
  /**
   * The share of all waits.
   */
  waits_share: number
  /**
   * By how much it entered collectives after the last but one, for a step, in nanoseconds.
   */
  lateness_ns: number
  /**
   * Number of collectives in which it was last: for comparison only.
   */
  last: number
  cause: CauseClass
  /**
   * What to call it: a rank without a device has a slow processor, not a slow chip.
   */
  cause_name: string
  /**
   * Three numbers.
   */
  evidence: Evidence[]
  /**
   * Time, the worst first.
   */
  moments: Moment[]
}
/**
 * One value of a rank and that of its peers.
 */
export interface Evidence {
  /**
   * Kind.
   */
  name: string
  /**
   * The rank's.
   */
  own: number
  /**
   * The median of its peers'.
   */
  peers: number
  /**
   * Its unit: `ns` for a step, or nothing for counts and ratios.
   */
  unit: string
}
/**
 * A stretch of a rank that others waited for.
 */
export interface Moment {
  /**
   * Step, if steps have numbers.
   */
  step: number | null
  /**
   * Start time, in nanoseconds since the steps began.
   */
  start_ns: number
  /**
   * Duration on the rank in nanoseconds.
   */
  own_ns: number
  /**
   * Excess over its peers.
   */
  excess_ns: number
  /**
   * Waits charged to it.
   */
  waits_ns: number
  /**
   * The operation that came late.
   */
  before: Operation | null
  /**
   * The innermost annotation of the host around its middle.
   */
  annotation: string | null
}
/**
 * A group whose transfers take longer than those of its peers.
 */
export interface SlowGroup {
  /**
   * Its dimension.
   */
  label: string
  /**
   * Its ranks, as they are written.
   */
  ranks: string
  /**
   * The operation.
   */
  operation: Operation | null
  /**
   * Bytes of one collective.
   */
  bytes: number
  /**
   * The median transfer of its collectives, in nanoseconds.
   */
  transfer_ns: number
  /**
   * The median of the other groups.
   */
  peers_ns: number
  /**
   * What a step would be shorter by were they as fast, by replay, in nanoseconds; of all its sizes together.
   */
  cost_ns: number
}
/**
 * The clocks of a job.
 */
export interface Clocks {
  /**
   * One for each member, in order.
   */
  clocks: RankClock[]
  /**
   * Whether times were moved.
   */
  applied: boolean
  /**
   * Reason, in a sentence.
   */
  reason: string
  /**
   * The greatest offset between any two ranks that share a time, in nanoseconds.
   */
  spread_ns: number
}
/**
 * One rank's clock.
 */
export interface RankClock {
  /**
   * The rank.
   */
  rank: number
  /**
   * What it shows more than the clock of the first rank that it is tied to, in nanoseconds, at `Self::about`.
   */
  offset_ns: number
  /**
   * Drift, in parts per million; 0 if undetermined.
   */
  drift_ppm: number
  /**
   * Its uncertainty in parts per million.
   */
  drift_error_ppm: number
  /**
   * For how long its collectives were seen, in nanoseconds.
   */
  span_ns: number
  /**
   * Time, by its own clock, in nanoseconds.
   */
  about_ns: number
  /**
   * The median distance of its ends from the common ends, in nanoseconds.
   */
  residual_ns: number
  /**
   * Number of collectives used.
   */
  collectives: number
  /**
   * The least offset that causality allows, in nanoseconds, where it bounds it.
   */
  least_ns: number | null
  /**
   * The greatest.
   */
  greatest_ns: number | null
  /**
   * The rank that stands for the time of this one: ranks that share none are on separate times.
   */
  against: number
}
