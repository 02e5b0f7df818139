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
 * Common fields of every answer.
 */
export interface HangAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'hang'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Whether the job hangs; none where the records do not show it.
   */
  hangs: boolean | null
  /**
   * From flight records.
   */
  hang: Hang | null
  /**
   * From xpu_timer.
   */
  metrics: Metrics | null
}
/**
 * Verdict of flight records.
 */
export interface Hang {
  /**
   * The ranks whose dumps are there.
   */
  ranks: number[]
  /**
   * World size, as far as the dumps record it.
   */
  world_size: number
  /**
   * Whether a listed group contains all of these ranks. Otherwise there may be more.
   */
  world_size_listed: boolean
  /**
   * Ranks of which there is no dump, or only one that could not be read.
   */
  without_dump: number[]
  /**
   * Groups that hint at ranks without a dump: no dump lists their ranks and one rank alone used them, or a message's other end is not among the dumps.
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
   * Purpose of the group, else its name.
   */
  name: string
  /**
   * Its ranks: those that the dumps list, else those that used it.
   */
  ranks: number[]
}
/**
 * A dump of which a part is lost: its rank may have entered more than is known.
 */
export interface DamagedDump {
  /**
   * Owner.
   */
  rank: number
  /**
   * What the user calls the file.
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
   * The byte of the (inflated) file from which on the rest is lost.
   */
  cut_at: number | null
}
/**
 * A collective or message that some rank entered and has not left.
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
   * The ranks that never entered it, as far as their dumps are there.
   */
  missing: number[]
  /**
   * The ranks of the group of which there is no dump, or only a damaged one that does not hold it; where the group does not list its ranks, all
   * of which there is none.
   */
  unknown: number[]
  /**
   * Whether the dumps list the group's ranks. Otherwise only those that used it are known.
   */
  listed: boolean
  /**
   * Call of each rank, if they differ.
   */
  calls: [number, string][]
  /**
   * When the first rank entered it, in nanoseconds since the epoch.
   */
  since_ns: number
  /**
   * After how many milliseconds it is given up.
   */
  timeout_ms: number | null
}
/**
 * A rank at which the search ends.
 */
export interface Root {
  /**
   * The rank, or the first one of a circle or of a group whose transfer is stuck.
   */
  rank: number
  cause: RootCause
  /**
   * All ranks that share it: of a circle, of a stuck transfer.
   */
  ranks: number[]
  /**
   * Index of the stuck collective that it did not enter.
   */
  stuck: number
  /**
   * The ranks that wait for it in the end.
   */
  victims: number[]
  /**
   * Last entered collective.
   */
  last_operation: string | null
  /**
   * The group of what it entered last.
   */
  last_group: string | null
  /**
   * Time, in nanoseconds since the epoch.
   */
  last_time_ns: number | null
  /**
   * From where it was called, innermost first.
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
