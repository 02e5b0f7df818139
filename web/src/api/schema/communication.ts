// Made from docs/reference/schema/communication.json by scripts/types.mjs.

export type CommunicationAnswer =
  | {
      /**
       * Increases if a field changes or is removed; new fields may appear at any time.
       */
      schema_version: 2
      kind: 'communication'
      /**
       * Version of the program.
       */
      railwright: string
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
       * The accelerator, if it is in the catalogue.
       */
      accelerator: string | null
      clocks: Clocks
      /**
       * By rank, in the whole recording.
       */
      ranks: RankCommunication[]
      /**
       * By dimension and operation in the whole recording, the longest first.
       */
      groups: GroupCommunication[]
      in_steps: InSteps
      /**
       * Warnings.
       */
      warnings: Warning[]
      /**
       * Collectives by time, or those with the longest waits if there are very many; `--all` lists all.
       */
      collectives: CollectiveRow[]
      /**
       * Collectives, listed or not.
       */
      collectives_total: number
    }
  | {
      /**
       * Increases if a field changes or is removed; new fields may appear at any time.
       */
      schema_version: 2
      kind: 'communication'
      /**
       * Version of the program.
       */
      railwright: string
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
/**
 * Parallel dimension of a communication.
 */
export type Dimension = 'tensor' | 'context' | 'expert' | 'pipeline' | 'data' | 'other'
/**
 * Evidence for the dimension of a group.
 */
export type Evidence = 'sizes' | 'description' | 'tiling' | 'operations' | 'nothing'
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
 * Kind of link that limits a group.
 */
export type LinkKind = 'scale_up' | 'network'

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
/**
 * Communication time of one rank in nanoseconds; overlapping parts count twice.
 */
export interface RankCommunication {
  /**
   * The rank.
   */
  rank: number
  /**
   * Time from its first device activity to the end of the last, in nanoseconds.
   */
  window_ns: number
  /**
   * Compute in nanoseconds; overlaps count once.
   */
  compute_ns: number
  /**
   * Communication in nanoseconds; overlaps count once.
   */
  communication_ns: number
  /**
   * Overlapped share of communication.
   */
  overlap_ns: number
  /**
   * Exposed share of communication, in nanoseconds.
   */
  exposed_ns: number
  /**
   * Number of collectives with all traced ranks.
   */
  collectives: number
  /**
   * Wait time in these, in nanoseconds.
   */
  wait_ns: number
  /**
   * Transfer time in these, in nanoseconds.
   */
  transfer_ns: number
  /**
   * Exposed wait time.
   */
  exposed_wait_ns: number
  /**
   * Exposed transfer time.
   */
  exposed_transfer_ns: number
  /**
   * Communication without any transfer, in nanoseconds; concurrent operations count once.
   */
  waiting_once_ns: number
  /**
   * Communication with a transfer, in nanoseconds; concurrent operations count once. Both include bounds.
   */
  transfer_once_ns: number
  /**
   * Number of these that it entered last.
   */
  last: number
  /**
   * Number of parts whose waits are only bounds.
   */
  estimates: number
  /**
   * Sum of these bounds, in nanoseconds.
   */
  estimated_wait_ns: number
  /**
   * Rest of these parts in nanoseconds: an upper bound on transfer.
   */
  estimated_transfer_ns: number
  /**
   * Number of lost leading collectives.
   */
  lost: number
}
/**
 * One operation in one dimension, over all of its communicators.
 */
export interface GroupCommunication {
  dimension: Dimension
  /**
   * Label.
   */
  label: string
  evidence: Evidence
  /**
   * Assumed participants and the reason, if the traces record no group.
   */
  assumed?: string | null
  /**
   * Number of ranks in each of its groups.
   */
  size: number
  /**
   * Number of groups.
   */
  groups: number
  /**
   * Ranks of the first group, as printed.
   */
  ranks: string
  /**
   * The operation.
   */
  operation: CollectiveKind | null
  /**
   * Number of collectives.
   */
  count: number
  /**
   * Total bytes; `null` if sizes are not recorded.
   */
  bytes: number | null
  /**
   * Time in them in nanoseconds, mean over ranks.
   */
  time_ns: number
  /**
   * Wait time.
   */
  wait_ns: number
  /**
   * Transfer time.
   */
  transfer_ns: number
  /**
   * Exposed wait time.
   */
  exposed_wait_ns: number
  /**
   * Exposed transfer time.
   */
  exposed_transfer_ns: number
  /**
   * Algorithm bandwidth in bytes per second, from the entry of the last rank on: median over collectives
   * with a size. Unit: B/s.
   */
  algorithm_bandwidth: number | null
  /**
   * Bus bandwidth in bytes per second, as in nccl-tests. Unit: B/s.
   */
  bus_bandwidth: number | null
  /**
   * Largest bus bandwidth of a single collective, in bytes per second. Unit: B/s.
   */
  best_bus_bandwidth: number | null
  /**
   * The link that limits it.
   */
  link: Link | null
  /**
   * Compute available for overlap in nanoseconds, mean over ranks.
   */
  slack_ns: number
  /**
   * Bus bandwidth at which its slack would overlap it. If it exceeds the link's ceiling, the remedy is
   * less data rather than another order. Unit: B/s.
   */
  required_bandwidth: number | null
  /**
   * True if waits are lower bounds.
   */
  estimate: boolean
}
/**
 * A link and its ceiling.
 */
export interface Link {
  kind: LinkKind
  /**
   * Name.
   */
  name: string
  /**
   * Bandwidth in bytes per second, one direction. Unit: B/s.
   */
  bytes_per_second: number
}
/**
 * Communication within the steps that `profile` and `stragglers` cover: without warm-up.
 */
export interface InSteps {
  /**
   * Number of steps.
   */
  steps: number
  /**
   * The steps, such as `steps 10-12`; `the whole recording` without steps.
   */
  covered: string
  /**
   * Excluded steps of warm-up, such as `step 0`.
   */
  warm_up?: string | null
  /**
   * The mean step, in nanoseconds.
   */
  step_time_ns: number
  /**
   * By rank: sums over the steps.
   */
  ranks: RankCommunication[]
  /**
   * By dimension and operation, the longest first: sums over the steps.
   */
  groups: GroupCommunication[]
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
 * A collective, or a part of one rank without counterpart.
 */
export interface CollectiveRow {
  /**
   * Index of its communicator in the job; `null` without one.
   */
  communicator: number | null
  /**
   * Label of its group in the report.
   */
  label: string
  /**
   * Its number within the communicator.
   */
  index: number
  /**
   * Kind.
   */
  operation: CollectiveKind | null
  /**
   * Its size in bytes, by nccl-tests' convention.
   */
  bytes: number | null
  /**
   * Entry time of the last rank, in nanoseconds.
   */
  last_start_ns: number
  /**
   * The rank that entered last; `null` unless all traced ranks take part.
   */
  last_rank: number | null
  /**
   * Difference between the starts, in nanoseconds.
   */
  start_spread_ns: number
  /**
   * Difference between the ends, in nanoseconds: remaining error of the clocks.
   */
  end_spread_ns: number
  /**
   * Duration of the shortest part in nanoseconds: the transfer after all ranks entered.
   */
  shortest_ns: number
  /**
   * True if every traced rank of the communicator takes part.
   */
  complete: boolean
  /**
   * True if waits are lower bounds, because ranks are missing.
   */
  estimate: boolean
  /**
   * The parts, by rank.
   */
  parts: PartRow[]
}
/**
 * One rank's part in a collective.
 */
export interface PartRow {
  /**
   * The rank.
   */
  rank: number
  /**
   * Start time in nanoseconds.
   */
  start_ns: number
  /**
   * Duration in nanoseconds.
   */
  duration_ns: number
  /**
   * Wait until the last rank entered, in nanoseconds.
   */
  wait_ns: number
  /**
   * Transfer after that, in nanoseconds.
   */
  transfer_ns: number
  /**
   * Exposed wait time of this rank.
   */
  exposed_wait_ns: number
  /**
   * Exposed transfer time of this rank.
   */
  exposed_transfer_ns: number
  /**
   * Compute of this rank between the start and the first need of the result, in nanoseconds: available
   * for overlap.
   */
  slack_ns: number
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
