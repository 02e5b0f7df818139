// Made from docs/reference/schema/query.json by scripts/types.mjs.

/**
 * A cell of a query result.
 */
export type Cell = null | number | string

/**
 * Common fields of every result.
 */
export interface QueryAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
   * Rows, each as long as `Self::columns`.
   */
  rows: Cell[][]
  /**
   * True if there are more rows than requested.
   */
  more: boolean
}
