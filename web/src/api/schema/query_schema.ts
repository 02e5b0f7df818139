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
   * Meaning of a row.
   */
  about: string
  /**
   * Columns.
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
   * Name.
   */
  name: string
  /**
   * Type: `INTEGER`, `REAL` or `TEXT`.
   */
  type: string
  /**
   * Meaning, with the unit.
   */
  about: string
}
