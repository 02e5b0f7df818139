// Made from docs/reference/schema/regret.json by scripts/types.mjs.

/**
 * What stands around the fields of every answer.
 */
export interface RegretAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
  kind: 'regret'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The file that was read.
   */
  file: string
  targets: Targets
  /**
   * Whether it is reached; unknown without sweeps.
   */
  met: boolean | null
  /**
   * Every sweep, in order of its identity.
   */
  sweeps: SweepRegret[]
  overall: Total
  /**
   * By source.
   */
  sources: {
    [k: string]: Total1
  }
  /**
   * The same sweeps with the rows that ran out of memory, where a pick must also be predicted to fit.
   */
  with_memory: MemoryPick[]
  memory: MemoryTotal
  /**
   * By source.
   */
  memory_sources: {
    [k: string]: MemoryTotal1
  }
}
/**
 * What is aimed at.
 */
export interface Targets {
  /**
   * The median regret is at most this.
   */
  median: number
  /**
   * In `share` of the sweeps it is at most this.
   */
  tail: number
  /**
   * Share of the sweeps that the tail speaks of.
   */
  share: number
}
/**
 * How well the calculator chooses within one sweep.
 */
export interface SweepRegret {
  /**
   * Who published it.
   */
  source: string
  /**
   * What was trained.
   */
  model: string
  /**
   * Its layers, widths, heads and experts: names alone do not tell models of one study apart.
   */
  dimensions: string
  /**
   * On what.
   */
  accelerator: string
  /**
   * On how many.
   */
  devices: number
  /**
   * Tokens of a sequence.
   */
  sequence_length: number
  /**
   * Sequences of a step.
   */
  global_batch: number
  /**
   * With what.
   */
  framework: string
  /**
   * In which format.
   */
  precision: string
  /**
   * Layouts that ran.
   */
  layouts: number
  /**
   * Slowest measured over fastest, less one.
   */
  spread: number
  /**
   * The layout that is predicted to be the fastest.
   */
  pick: string
  /**
   * Its measured step time in seconds.
   */
  pick_measured_s: number
  /**
   * The fastest measured layout.
   */
  best: string
  /**
   * Its measured step time in seconds.
   */
  best_measured_s: number
  /**
   * Measured time of the pick over that of the best, less one.
   */
  regret: number
  /**
   * The same of a layout in the middle: what picking at random loses in the median.
   */
  random: number
  /**
   * Pairs whose measured times differ by more than 2%.
   */
  pairs: number
  /**
   * Of these, predicted in the right order.
   */
  pairs_right: number
  /**
   * Spearman's rank correlation of predicted and measured times.
   */
  rank_correlation: number | null
}
/**
 * All sweeps.
 */
export interface Total {
  /**
   * Sweeps.
   */
  sweeps: number
  /**
   * Layouts in them.
   */
  layouts: number
  /**
   * Median of the regrets.
   */
  median: number
  /**
   * 90th percentile of the regrets.
   */
  p90: number
  /**
   * The largest.
   */
  worst: number
  /**
   * Share of sweeps whose regret is at most the target's median.
   */
  within_median: number
  /**
   * Share of sweeps whose regret is at most the target's tail.
   */
  within_tail: number
  /**
   * Share of pairs that are ranked right, of those that differ.
   */
  pairs_right: number | null
  /**
   * Spearman's rank correlation, weighted by layouts.
   */
  rank_correlation: number | null
  /**
   * Median regret of a layout taken at random.
   */
  random: number
}
/**
 * What the regrets of some sweeps come to.
 */
export interface Total1 {
  /**
   * Sweeps.
   */
  sweeps: number
  /**
   * Layouts in them.
   */
  layouts: number
  /**
   * Median of the regrets.
   */
  median: number
  /**
   * 90th percentile of the regrets.
   */
  p90: number
  /**
   * The largest.
   */
  worst: number
  /**
   * Share of sweeps whose regret is at most the target's median.
   */
  within_median: number
  /**
   * Share of sweeps whose regret is at most the target's tail.
   */
  within_tail: number
  /**
   * Share of pairs that are ranked right, of those that differ.
   */
  pairs_right: number | null
  /**
   * Spearman's rank correlation, weighted by layouts.
   */
  rank_correlation: number | null
  /**
   * Median regret of a layout taken at random.
   */
  random: number
}
/**
 * The pick of one sweep among all its rows, those that ran out of memory included.
 */
export interface MemoryPick {
  /**
   * Who published it.
   */
  source: string
  /**
   * What was trained.
   */
  model: string
  /**
   * Its layers, widths, heads and experts: names alone do not tell models of one study apart.
   */
  dimensions: string
  /**
   * On what.
   */
  accelerator: string
  /**
   * On how many.
   */
  devices: number
  /**
   * Tokens of a sequence.
   */
  sequence_length: number
  /**
   * Sequences of a step.
   */
  global_batch: number
  /**
   * With what.
   */
  framework: string
  /**
   * In which format.
   */
  precision: string
  /**
   * Layouts, of both ends.
   */
  layouts: number
  /**
   * Of these, ran out of memory.
   */
  out_of_memory: number
  /**
   * Of these that ran out of memory, predicted not to fit.
   */
  found: number
  /**
   * Of those that ran, predicted not to fit.
   */
  false_alarms: number
  /**
   * The fastest that is predicted to fit; `None` when nothing is.
   */
  pick: string | null
  /**
   * Whether it ran out of memory.
   */
  pick_out_of_memory: boolean
  /**
   * Layouts tried, the fastest predicted first, until one ran; `None` when none that is predicted to fit did.
   */
  tries: number | null
  /**
   * Measured time of the first that ran over that of the best, less one.
   */
  regret: number | null
}
/**
 * What these come to.
 */
export interface MemoryTotal {
  /**
   * Sweeps.
   */
  sweeps: number
  /**
   * Layouts that ran out of memory.
   */
  out_of_memory: number
  /**
   * Layouts that ran and are predicted not to fit.
   */
  false_alarms: number
  /**
   * Sweeps whose pick ran out of memory.
   */
  picks_out_of_memory: number
  /**
   * Sweeps of which nothing is predicted to fit.
   */
  nothing_fits: number
  /**
   * The most layouts that had to be tried.
   */
  most_tries: number
  /**
   * Median regret of the first that ran.
   */
  median: number
  /**
   * 90th percentile of the same.
   */
  p90: number
  /**
   * The largest.
   */
  worst: number
  /**
   * Share of sweeps with a regret of at most the target's tail; a sweep without a pick is not.
   */
  within_tail: number
}
/**
 * What the picks of some sweeps come to.
 */
export interface MemoryTotal1 {
  /**
   * Sweeps.
   */
  sweeps: number
  /**
   * Layouts that ran out of memory.
   */
  out_of_memory: number
  /**
   * Layouts that ran and are predicted not to fit.
   */
  false_alarms: number
  /**
   * Sweeps whose pick ran out of memory.
   */
  picks_out_of_memory: number
  /**
   * Sweeps of which nothing is predicted to fit.
   */
  nothing_fits: number
  /**
   * The most layouts that had to be tried.
   */
  most_tries: number
  /**
   * Median regret of the first that ran.
   */
  median: number
  /**
   * 90th percentile of the same.
   */
  p90: number
  /**
   * The largest.
   */
  worst: number
  /**
   * Share of sweeps with a regret of at most the target's tail; a sweep without a pick is not.
   */
  within_tail: number
}
