// Made from docs/reference/schema/stragglers.json by scripts/types.mjs.

export type StragglersAnswer =
  | {
      /**
       * Increases if a field changes or is removed; new fields may appear at any time.
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
       * No replay.
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
       * Increases if a field changes or is removed; new fields may appear at any time.
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
       * True if many ranks delay each other in turn, so that no rank is an exception.
       */
      in_turn: boolean
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
       * True if the world size is recorded. Otherwise it is a lower bound.
       */
      world_size_known: boolean
      /**
       * Number of analysed steps; 1 without step marks.
       */
      steps: number
      /**
       * The analysed steps, such as `steps 10-12`; `the whole recording` without steps.
       */
      steps_covered: string
      /**
       * The mean step by replay, in nanoseconds: that of the other reports, except for the replay error.
       */
      step_time_ns: number
      /**
       * Step time with all ranks at the median speed of their peers, and slow links and stages at that of the
       * others.
       */
      step_time_without_ns: number
      /**
       * Minimum reported cost, in nanoseconds per step. The largest of: the variation between steps (at most
       * 5% of a step), 0.5% of a step, and the replay error.
       */
      noise_ns: number
      /**
       * Replay error as a share of the steps.
       */
      replay_error: number
      /**
       * Step time that evident delays beyond the named ones cost, in nanoseconds: ranks that delay each other
       * in turn, or stages that are somewhat longer than the others. 0 below the noise, and without a
       * verdict.
       */
      unexplained_ns: number
      /**
       * Reason why costs are upper bounds ("at most"): untraced ranks may have absorbed them. `null` if all
       * were traced.
       */
      bounds_only: string | null
      /**
       * Waits of all ranks per step, in nanoseconds, summed over ranks.
       */
      waits_ns: number
      /**
       * Idle share of a device during a typical step (0 to 1), mean over the ranks.
       */
      idle: number
      /**
       * True if no rank has a device. Host compute then replaces device compute, and time outside operators
       * counts as idle time.
       */
      from_host: boolean
      /**
       * True if hosts, not ranks, limit the job: every device is idle longer than it computes, excluding
       * waits for other ranks.
       */
      host_bound: boolean
      /**
       * Ranks by cost. Those named by the verdict are stragglers; there may be none.
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
 * A kind of communication among ranks, in a plan or in a recording.
 */
export type CollectiveKind =
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
   * Number of records.
   */
  records: number
  /**
   * Rows by communicator, collective and size; those with the most time first.
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
   * Number of ranks.
   */
  ranks: number
  /**
   * Number of nodes.
   */
  nodes: number
  /**
   * Collective.
   */
  kind: string
  /**
   * Size in bytes.
   */
  bytes: number
  /**
   * Number of collectives.
   */
  count: number
  /**
   * Transfer in microseconds: duration on the shortest rank, median over collectives. Unit: us.
   */
  transfer: number
  /**
   * Wait in microseconds: duration beyond the transfer, mean over ranks and collectives. Unit: us.
   */
  wait: number
  /**
   * Bus bandwidth of the transfer in GB/s: best rank, median over collectives. Unit: GB/s.
   */
  bus_bandwidth: number
  /**
   * Median of that over similar communicators (equal numbers of ranks and nodes, same collective and
   * size); `null` with fewer than three.
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
   * Mean wait of the other ranks in microseconds, over all collectives that this rank entered last. Unit: us.
   */
  waited: number
  /**
   * Number of collectives that it entered last.
   */
  last: number
  /**
   * Number of collectives that all ranks of the communicator recorded.
   */
  of: number
  /**
   * Waits of others for it, as a share of their time in the communicator's collectives (0 to 1).
   */
  share: number
  /**
   * True if it delays the others: it causes half of all waits of the communicator and 5% of the time in
   * it.
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
   * True if all ranks are flagged: the job hangs. Otherwise some ranks wait.
   */
  all_hang: boolean
  /**
   * Number of unreadable gauges.
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
   * GEMM rate relative to the median of all ranks in the same size class, mean over classes; `null`
   * without one.
   */
  matrix_product_speed: number | null
  /**
   * Rate of its communication relative to the median of all ranks in the same size class; `null` without
   * one.
   */
  communication_speed: number | null
  /**
   * True if it is flagged as hanging.
   */
  hangs: boolean
  /**
   * Queued work.
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
   * Number of readings of hosts or devices without a rank.
   */
  unmatched: number
  /**
   * True if the times of readings do not overlap the recording: then all of them are used.
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
   * Number of readings used.
   */
  samples: number
  /**
   * Clock of the multiprocessors, in MHz.
   */
  sm_clock_mhz?: Counter | null
  /**
   * Temperature of the GPU, in degrees Celsius.
   */
  temperature_celsius?: Counter | null
  /**
   * Power, in watts.
   */
  power_w?: Counter | null
  /**
   * Reasons for a lower clock in any reading.
   */
  throttle_reasons: string[]
  /**
   * XID errors.
   */
  xid_errors: number[]
  /**
   * Growth of totals by name; the value itself with a single reading. Network cards are those of the
   * rank's host.
   */
  errors: [string, number][]
}
/**
 * A counter of a rank.
 */
export interface Counter {
  /**
   * Median of the rank.
   */
  own: number
  /**
   * Median of the other ranks; `null` without other ranks.
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
   * Its pipeline stage, from 0.
   */
  stage: number | null
  /**
   * Cause of the delay.
   */
  cause: string
  /**
   * Step time saved in seconds, after the preceding causes are fixed.
   */
  cost_s: number
  certainty: Certainty
}
/**
 * A straggler: a rank that delays others.
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
   * Step time saved if it ran like the median of its peers, in nanoseconds. Equals the upper bound
   * `at_most` if ranks were not traced.
   */
  cost_ns: number
  certainty: Certainty
  /**
   * Cost as a share of the step (0 to 1).
   */
  share: number
  /**
   * Upper bound, in nanoseconds: excess of its intervals over its peers, summed over a step. Valid for
   * any behaviour of untraced ranks.
   */
  at_most_ns: number
  /**
   * True if the verdict names it.
   */
  is_straggler: boolean
  /**
   * Waits of all ranks caused by it, per step, in nanoseconds.
   */
  waits_ns: number
  /**
   * Share of all waits (0 to 1).
   */
  waits_share: number
  /**
   * Time between its entry as the last rank of collectives and the entry before it, per step, in
   * nanoseconds.
   */
  lateness_ns: number
  /**
   * Number of collectives that it entered last: for comparison only.
   */
  last: number
  cause: CauseClass
  /**
   * Name of the cause. That of a slow host is its activity in most of its longest delays, if recorded
   * (`data loading`). A rank without a device has a slow processor, not a slow chip.
   */
  cause_name: string
  /**
   * Three numbers as evidence of the cause.
   */
  evidence: Evidence[]
  /**
   * Intervals with the largest waits, the worst first.
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
   * Value of the rank.
   */
  own: number
  /**
   * Median of its peers.
   */
  peers: number
  /**
   * Unit: `ns` for a time per step, empty for counts and ratios.
   */
  unit: string
}
/**
 * An interval of a rank that others waited for.
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
   * Excess over its peers, in nanoseconds.
   */
  excess_ns: number
  /**
   * Waits charged to it, in nanoseconds.
   */
  waits_ns: number
  /**
   * The late operation.
   */
  before: CollectiveKind | null
  /**
   * The innermost annotation around at least half of the delay, at its end.
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
   * Its ranks, as printed.
   */
  ranks: string
  /**
   * The operation.
   */
  operation: CollectiveKind | null
  /**
   * Bytes of one collective.
   */
  bytes: number
  /**
   * The median transfer of its collectives, in nanoseconds.
   */
  transfer_ns: number
  /**
   * Median transfer of the other groups, in nanoseconds.
   */
  peers_ns: number
  /**
   * Step time saved if they were as fast as their peers, by replay, in nanoseconds. Includes all of its
   * message sizes.
   */
  cost_ns: number
  /**
   * Steps in which it is slow, by number (by index without numbers), if it is slow in some steps only.
   */
  steps?: number[]
}
/**
 * The clocks of a job.
 */
export interface Clocks {
  /**
   * Clock of each member, in order.
   */
  clocks: RankClock[]
  /**
   * True if times were shifted.
   */
  applied: boolean
  /**
   * Reason for the decision, as a sentence.
   */
  reason: string
  /**
   * Largest offset between two ranks with a common time, in nanoseconds.
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
   * Lead over the clock of rank `against` at time `Self::about`, in nanoseconds; negative if this clock
   * is behind.
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
   * Time between its first and last collective, in nanoseconds.
   */
  span_ns: number
  /**
   * Reference time of the offset by its own clock, in nanoseconds.
   */
  about_ns: number
  /**
   * Median distance of its ends from the common ends, in nanoseconds.
   */
  residual_ns: number
  /**
   * Number of collectives used.
   */
  collectives: number
  /**
   * Lower bound on the offset by causality, in nanoseconds; `null` without a bound.
   */
  least_ns: number | null
  /**
   * Upper bound on the offset by causality, in nanoseconds; `null` without a bound.
   */
  greatest_ns: number | null
  /**
   * The rank whose clock defines the common time. Ranks with different values have no common time.
   */
  against: number
}
