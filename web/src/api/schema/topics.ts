// Made from docs/reference/schema/topics.json by scripts/types.mjs.

/**
 * Common fields of every answer.
 */
export interface TopicsAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'topics'
  /**
   * Version of the program.
   */
  railwright: string
  topics: Topic[]
}
/**
 * Explanation of an identifier.
 */
export interface Topic {
  /**
   * Identifier.
   */
  id: string
  /**
   * Group: `warning`, `time`, `memory`, `finding`, `concept`, ...
   */
  group: string
  /**
   * Title of one line.
   */
  title: string
  /**
   * Text of one paragraph.
   */
  text: string
}
