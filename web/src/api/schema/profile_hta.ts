// Made from docs/reference/schema/profile_hta.json by scripts/types.mjs.

/**
 * What stands around the fields of every answer.
 */
export interface ProfileHtaAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
  kind: 'profile_hta'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Where the time of each rank's device goes.
   */
  temporal: TemporalRow[]
  /**
   * How much of communication lies under computation.
   */
  overlap: OverlapRow[]
  /**
   * Time by kinds of kernels that run at once, summed over ranks.
   */
  kernel_types: KernelTypeRow[]
  /**
   * The kernels that take most, by kind and rank.
   */
  kernels: KernelRow[]
  /**
   * Why streams are idle.
   */
  idle: IdleRow[]
  /**
   * Launches and what they launch.
   */
  launches: LaunchRow[]
  /**
   * How many launched kernels wait.
   */
  queues: QueueRow[]
}
/**
 * Where the time of a rank's device goes, in microseconds. Exposed copies count as not computing; hidden communication does not.
 */
export interface TemporalRow {
  /**
   * The rank.
   */
  rank: number
  /**
   * Nothing ran. Unit: us.
   */
  idle_time: number
  /**
   * Something computed. Unit: us.
   */
  compute_time: number
  /**
   * Something ran and nothing computed. Unit: us.
   */
  non_compute_time: number
  /**
   * From the first start to the last end. Unit: us.
   */
  kernel_time: number
  /**
   * Percent of the whole.
   */
  idle_percent: number
  /**
   * Percent of the whole.
   */
  compute_percent: number
  /**
   * Percent of the whole.
   */
  non_compute_percent: number
}
/**
 * How much of a rank's communication lies under computation.
 */
export interface OverlapRow {
  /**
   * The rank.
   */
  rank: number
  /**
   * Percent of the communication; nothing when there is none.
   */
  overlap_percent: number | null
}
/**
 * Time of one mix of types, over all ranks.
 */
export interface KernelTypeRow {
  /**
   * The types that run at once, as the tool writes them.
   */
  kernel_type: string
  /**
   * Microseconds, summed over ranks. Unit: us.
   */
  sum: number
  /**
   * Percent of the time in which anything ran.
   */
  percent: number
}
/**
 * One kernel of one rank.
 */
export interface KernelRow {
  /**
   * The rank.
   */
  rank: number
  /**
   * Its type, as the tool writes it.
   */
  kernel_type: string
  /**
   * Its name, or `others`.
   */
  name: string
  /**
   * The sum. Unit: us.
   */
  sum: number
  /**
   * The largest. Unit: us.
   */
  max: number
  /**
   * The smallest. Unit: us.
   */
  min: number
  /**
   * The mean. Unit: us.
   */
  mean: number
  /**
   * The sample standard deviation, 0 of a single value. Unit: us.
   */
  deviation: number
}
/**
 * Idle time of one stream for one cause.
 */
export interface IdleRow {
  /**
   * The rank.
   */
  rank: number
  /**
   * The stream.
   */
  stream: number
  /**
   * The cause.
   */
  idle_category: 'host_wait' | 'kernel_wait' | 'other'
  /**
   * Microseconds. Unit: us.
   */
  idle_time: number
  /**
   * Share of the stream's idle time; nothing when it was never idle.
   */
  idle_time_ratio: number | null
}
/**
 * Launches of one rank, in microseconds.
 */
export interface LaunchRow {
  /**
   * The rank.
   */
  rank: number
  /**
   * Pairs of a launch and what it launched.
   */
  pairs: number
  /**
   * How long the calls took. Unit: us.
   */
  cpu_duration: number
  /**
   * How long the kernels took. Unit: us.
   */
  gpu_duration: number
  /**
   * From the end of a call to the start of its kernel, summed. Unit: us.
   */
  launch_delay: number
  /**
   * The median of it. Unit: us.
   */
  launch_delay_median: number
  /**
   * The largest. Unit: us.
   */
  launch_delay_max: number
  /**
   * Kernels shorter than their call, of calls up to 50 microseconds.
   */
  short_kernels: number
  /**
   * Calls beyond 50 microseconds.
   */
  slow_calls: number
  /**
   * Delays beyond 100 microseconds.
   */
  long_delays: number
}
/**
 * The queue of one stream: kernels that were launched and have not started, looked at after every change.
 */
export interface QueueRow {
  /**
   * The rank.
   */
  rank: number
  /**
   * The stream.
   */
  stream: number
  /**
   * Changes: one for each launch and one for each start.
   */
  count: number
  /**
   * Mean over changes, not over time.
   */
  mean: number
  /**
   * Sample standard deviation.
   */
  deviation: number
  /**
   * The smallest.
   */
  min: number
  /**
   * A quarter is at most this.
   */
  quarter: number
  /**
   * Half is at most this.
   */
  median: number
  /**
   * Three quarters are at most this.
   */
  three_quarters: number
  /**
   * The largest.
   */
  max: number
}
