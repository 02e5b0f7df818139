// Made from docs/reference/schema/query.json by scripts/types.mjs.

/**
 * A cell of a query result.
 */
export type Cell = null | number | string

/**
 * Common fields of every answer.
 */
export interface QueryAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'query'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Names of the columns, from the query.
   */
  columns: string[]
  /**
   * The rows, each as long as `Self::columns`.
   */
  rows: Cell[][]
  /**
   * True if there are more rows than requested.
   */
  more: boolean
}
