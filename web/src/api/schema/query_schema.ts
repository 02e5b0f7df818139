// Made from docs/reference/schema/query_schema.json by scripts/types.mjs.

/**
 * Common fields of every answer.
 */
export interface QuerySchemaAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'query_schema'
  /**
   * Version of the program.
   */
  railwright: string
  tables: TableField[]
}
/**
 * A table.
 */
export interface TableField {
  /**
   * Its name.
   */
  name: string
  /**
   * Kind of row.
   */
  about: string
  /**
   * Its columns.
   */
  columns: ColumnAbout[]
  /**
   * Number of its rows; absent without data.
   */
  rows?: number | null
}
/**
 * A column.
 */
export interface ColumnAbout {
  /**
   * Its name.
   */
  name: string
  /**
   * Its type: `INTEGER`, `REAL` or `TEXT`.
   */
  type: string
  /**
   * Its content.
   */
  about: string
}
