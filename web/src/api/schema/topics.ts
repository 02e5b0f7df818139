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
 * Something that has an identifier.
 */
export interface Topic {
  /**
   * Its identifier.
   */
  id: string
  /**
   * Kind of thing it is: `warning`, `time`, `memory`, `finding`, `concept`, ...
   */
  group: string
  /**
   * A line.
   */
  title: string
  /**
   * A paragraph.
   */
  text: string
}
