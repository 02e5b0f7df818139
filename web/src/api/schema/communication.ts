// Made from docs/reference/schema/communication.json by scripts/types.mjs.

export type CommunicationAnswer =
  | {
      /**
       * Grows when a field changes or goes; new fields may come at any time.
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
       * Whether the world size is recorded. Otherwise it is a lower bound.
       */
      world_size_known: boolean
      /**
       * The accelerator, if the catalogue knows it.
       */
      accelerator: string | null
      clocks: Clocks
      /**
       * By rank.
       */
      ranks: RankCommunication[]
      /**
       * By dimension and operation, the longest first.
       */
      groups: GroupCommunication[]
      /**
       * Warnings.
       */
      warnings: Warning[]
      /**
       * Collectives, in order of time, or those with the longest waits of very many; `--all` lists all.
       */
      collectives: CollectiveRow[]
      /**
       * Collectives, listed or not.
       */
      collectives_total: number
    }
  | {
      /**
       * Grows when a field changes or goes; new fields may come at any time.
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
 * Reason why a group is taken for a dimension.
 */
export type Evidence = 'sizes' | 'description' | 'tiling' | 'operations' | 'nothing'
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
 * Kind of link that limits a group.
 */
export type LinkKind = 'scale_up' | 'network'

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
/**
 * Communication time of one rank in nanoseconds; overlapping parts count twice.
 */
export interface RankCommunication {
  /**
   * The rank.
   */
  rank: number
  /**
   * From its first device activity to the end of the last.
   */
  window_ns: number
  /**
   * Compute, overlaps counted once.
   */
  compute_ns: number
  /**
   * Communication, overlaps counted once.
   */
  communication_ns: number
  /**
   * Overlapped share of communication.
   */
  overlap_ns: number
  /**
   * What of it does not.
   */
  exposed_ns: number
  /**
   * Collectives that every traced rank takes part in.
   */
  collectives: number
  /**
   * Waiting in these.
   */
  wait_ns: number
  /**
   * Transfer in these.
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
   * In how many of these it was the last.
   */
  last: number
  /**
   * Parts whose waits are only bounds.
   */
  estimates: number
  /**
   * The sum of these bounds.
   */
  estimated_wait_ns: number
  /**
   * The rest of these parts: an upper bound of transfer.
   */
  estimated_transfer_ns: number
  /**
   * Leading collectives that it lost.
   */
  lost: number
}
/**
 * One operation in one dimension, over all communicators that serve it.
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
   * Ranks of each of its groups.
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
  operation: Operation | null
  /**
   * Number of collectives.
   */
  count: number
  /**
   * Bytes of all of them; none when sizes are not recorded.
   */
  bytes: number | null
  /**
   * The mean over ranks of the time in them, in nanoseconds.
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
   * Bytes of a second, the median over collectives with a size, from when the last rank entered. Unit: B/s.
   */
  algorithm_bandwidth: number | null
  /**
   * The same by nccl-tests' bus convention. Unit: B/s.
   */
  bus_bandwidth: number | null
  /**
   * The best bus bandwidth of any of them. Unit: B/s.
   */
  best_bus_bandwidth: number | null
  /**
   * The link that bounds it.
   */
  link: Link | null
  /**
   * The mean over ranks of the compute that could hide it, in nanoseconds.
   */
  slack_ns: number
  /**
   * The bus bandwidth at which its slack would hide it: above the link's ceiling it takes less data, not another order. Unit: B/s.
   */
  required_bandwidth: number | null
  /**
   * Whether waits are bounds from below.
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
   * Bytes per second, in one direction. Unit: B/s.
   */
  bytes_per_second: number
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
 * A collective, or the part of one rank that found no counterpart.
 */
export interface CollectiveRow {
  /**
   * Its communicator, by its place among the communicators of the job.
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
  operation: Operation | null
  /**
   * Its size in bytes, by nccl-tests' convention.
   */
  bytes: number | null
  /**
   * When the last rank entered, in nanoseconds.
   */
  last_start_ns: number
  /**
   * The rank that entered last; none when not all that were traced are there.
   */
  last_rank: number | null
  /**
   * By how much starts differ.
   */
  start_spread_ns: number
  /**
   * By how much ends differ: what is left of the clocks' differences.
   */
  end_spread_ns: number
  /**
   * The shortest part: the transfer after all ranks entered.
   */
  shortest_ns: number
  /**
   * Whether every traced rank of the communicator takes part.
   */
  complete: boolean
  /**
   * Whether waits are bounds from below, because ranks are missing.
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
   * Until the last rank entered.
   */
  wait_ns: number
  /**
   * From then on.
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
   * Compute of this rank between the start and the first need of the result: what the collective can hide behind.
   */
  slack_ns: number
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
