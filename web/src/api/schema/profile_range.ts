// Made from docs/reference/schema/profile_range.json by scripts/types.mjs.

/**
 * What colours a span. A class is the same in every view.
 */
export type Class =
  | 'forward'
  | 'backward'
  | 'weight_gradient'
  | 'recompute'
  | 'tensor'
  | 'context'
  | 'data'
  | 'pipeline'
  | 'expert'
  | 'bubble'
  | 'optimizer'
  | 'copy'
  | 'host'
  | 'other'
  | 'communication'
  | 'waiting'

/**
 * Common fields of every answer.
 */
export interface ProfileRangeAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'profile_range'
  /**
   * Version of the program.
   */
  railwright: string
  title: string
  /**
   * Name of the step.
   */
  label: string
  /**
   * Duration of the step, in nanoseconds.
   */
  duration_ns: number
  /**
   * Number of ranks with a summed row.
   */
  ranks: number
  /**
   * Number of excluded spans of these rows in the whole step: they nest deeper than the view.
   */
  covered: number
  range: Window
  /**
   * Rows that were summed.
   */
  rows: number
  /**
   * Rows that can be busy at the same time; the rows of one thread are one.
   */
  stacks: number
  /**
   * Spans that touch the range.
   */
  count: number
  /**
   * Their time within the range, in nanoseconds; every moment of a stack counts once.
   */
  total_ns: number
  /**
   * Names, largest `total_ns` first.
   */
  names: Name[]
  /**
   * Names beyond the longest list that is answered.
   */
  more_names: number
  tree: Node
}
/**
 * A stretch of the step, in nanoseconds.
 */
export interface Window {
  /**
   * Start time.
   */
  from: number
  /**
   * Until when.
   */
  to: number
}
/**
 * All spans of one name and class within the range.
 */
export interface Name {
  /**
   * The name of the spans.
   */
  name: string
  class: Class
  /**
   * Spans that touch the range.
   */
  count: number
  /**
   * Time within the range, in nanoseconds; a span nested in one of the same name counts once.
   */
  total_ns: number
  /**
   * Time within the range in which no row below has a span, in nanoseconds.
   */
  self_ns: number
  /**
   * `total_ns / count`, in nanoseconds.
   */
  mean_ns: number
  /**
   * The longest span within the range, in nanoseconds.
   */
  longest_ns: number
  /**
   * `total_ns` over the length of the range times the number of `stacks`.
   */
  share: number
}
/**
 * A node of the tree.
 */
export interface Node {
  /**
   * The name of the row, class or span.
   */
  name: string
  /**
   * The class of its spans; none for a row.
   */
  class: Class | null
  /**
   * Spans, without those below.
   */
  count: number
  /**
   * Time with all nodes below, in nanoseconds.
   */
  total_ns: number
  /**
   * `total_ns` over the length of the range times the number of stacks.
   */
  share: number
  /**
   * Nodes below, largest first.
   */
  children: Node[]
}
