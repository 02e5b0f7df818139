// Made from docs/reference/schema/profile_range.json by scripts/types.mjs.

/**
 * Class of a span, which determines its colour in all views.
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
 * Common fields of every result.
 */
export interface ProfileRangeAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
   * Number of rows in the sums.
   */
  rows: number
  /**
   * Number of rows that can be busy at the same time; the rows of one thread count once.
   */
  stacks: number
  /**
   * Number of spans that overlap the range.
   */
  count: number
  /**
   * Time of these spans within the range, in nanoseconds; every moment of a stack counts once.
   */
  total_ns: number
  /**
   * Names by `total_ns`, largest first.
   */
  names: Name[]
  /**
   * Number of names omitted from the list.
   */
  more_names: number
  tree: Node
}
/**
 * An interval of the step, in nanoseconds.
 */
export interface Window {
  /**
   * Start time.
   */
  from: number
  /**
   * End time.
   */
  to: number
}
/**
 * All spans of one name and class within the range.
 */
export interface Name {
  /**
   * Name of the spans.
   */
  name: string
  class: Class
  /**
   * Number of spans that overlap the range.
   */
  count: number
  /**
   * Time within the range, in nanoseconds; a span nested in one of the same name counts once.
   */
  total_ns: number
  /**
   * Time within the range without spans in deeper rows, in nanoseconds.
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
   * `total_ns` over the length of the range times `stacks`, 0 to 1.
   */
  share: number
}
/**
 * A node of the tree.
 */
export interface Node {
  /**
   * Name of the row, class or span.
   */
  name: string
  /**
   * Class of its spans; `null` for a row.
   */
  class: Class | null
  /**
   * Number of spans, without those of children.
   */
  count: number
  /**
   * Time with all children, in nanoseconds.
   */
  total_ns: number
  /**
   * `total_ns` over the length of the range times the number of stacks, 0 to 1.
   */
  share: number
  /**
   * Children, largest first.
   */
  children: Node[]
}
