// Made from docs/reference/schema/hang.json by scripts/types.mjs.

/**
 * State of a stuck collective.
 */
export type State = 'not_entered' | 'mismatched' | 'partly_finished' | 'none_finished'
/**
 * Reason why the search ends at a rank.
 */
export type RootCause =
  'outside_of_collectives' | 'different_call' | 'no_dump' | 'members_unknown' | 'circle' | 'transfer'

/**
 * Common fields of every result.
 */
export interface HangAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'hang'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * True if the job hangs; `null` if the records do not show it.
   */
  hangs: boolean | null
  /**
   * Result from flight-recorder dumps.
   */
  hang: Hang | null
  /**
   * Result from xpu_timer.
   */
  metrics: Metrics | null
}
/**
 * Verdict on flight-recorder dumps.
 */
export interface Hang {
  /**
   * Ranks with a dump.
   */
  ranks: number[]
  /**
   * World size recorded in the dumps: a lower bound unless `world_size_listed`.
   */
  world_size: number
  /**
   * True if a listed group contains all of these ranks. Otherwise there may be more.
   */
  world_size_listed: boolean
  /**
   * Ranks without a readable dump.
   */
  without_dump: number[]
  /**
   * Groups that suggest ranks without a dump. No dump lists their ranks and only one rank used them, or
   * the peer of a message has no dump.
   */
  incomplete_groups: Group[]
  /**
   * The partly read dumps: results for their ranks are bounds.
   */
  damaged: DamagedDump[]
  /**
   * Stuck collectives in order of time. Empty: no hang in these dumps.
   */
  stuck: Stuck[]
  /**
   * Root causes, most blocked ranks first.
   */
  roots: Root[]
  /**
   * Doubts about the verdict.
   */
  warnings: Warning[]
}
/**
 * A group of ranks across dumps.
 */
export interface Group {
  /**
   * Purpose of the group, otherwise its name.
   */
  name: string
  /**
   * Its ranks as the dumps list them, otherwise those that used it.
   */
  ranks: number[]
}
/**
 * A dump with a lost part: its rank may have entered more collectives than are known.
 */
export interface DamagedDump {
  /**
   * Rank that wrote it.
   */
  rank: number
  /**
   * File name as given by the user.
   */
  label: string
  /**
   * Number of entries read.
   */
  entries: number
  /**
   * Number of unreadable entries or other parts.
   */
  unreadable: number
  /**
   * Position in the (inflated) file from which the rest is lost, in bytes.
   */
  cut_at: number | null
}
/**
 * A collective or message that a rank entered and has not left.
 */
export interface Stuck {
  group: Group
  /**
   * Its number in the group.
   */
  sequence: number
  /**
   * Call of the ranks that entered it.
   */
  operation: string
  state: State
  /**
   * The ranks that entered it and have not left it.
   */
  waiting: number[]
  /**
   * Ranks that never entered it, among those with a dump.
   */
  missing: number[]
  /**
   * Ranks of the group without a dump, or with a damaged dump that lacks the collective. If the group
   * does not list its ranks, all ranks without a dump.
   */
  unknown: number[]
  /**
   * True if the dumps list the group's ranks. Otherwise only the ranks that used it are known.
   */
  listed: boolean
  /**
   * Call of each rank, if they differ.
   */
  calls: [number, string][]
  /**
   * Time at which the first rank entered it, in nanoseconds since the epoch.
   */
  since_ns: number
  /**
   * Timeout in milliseconds.
   */
  timeout_ms: number | null
}
/**
 * A rank at which the search ends.
 */
export interface Root {
  /**
   * The rank; the first one of a cycle or of a group with a stuck transfer.
   */
  rank: number
  cause: RootCause
  /**
   * All ranks of the cycle or of the stuck transfer.
   */
  ranks: number[]
  /**
   * Index of the stuck collective that it did not enter.
   */
  stuck: number
  /**
   * Ranks that wait for it, directly or through others.
   */
  victims: number[]
  /**
   * Last entered collective.
   */
  last_operation: string | null
  /**
   * Group of the last collective that it entered.
   */
  last_group: string | null
  /**
   * Time of that call, in nanoseconds since the epoch.
   */
  last_time_ns: number | null
  /**
   * Stack of that call, innermost first.
   */
  last_frames: Frame[]
}
/**
 * A line of a stack.
 */
export interface Frame {
  /**
   * The function.
   */
  name: string
  /**
   * The file.
   */
  file: string
  /**
   * The line.
   */
  line: number
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
