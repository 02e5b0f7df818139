// Made from docs/reference/schema/topics.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface TopicsAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
   * Group: `warning`, `time`, `memory`, `finding`, `concept`, `term`, ...
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
