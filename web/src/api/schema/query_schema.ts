// Made from docs/reference/schema/query_schema.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface QuerySchemaAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
   * Name.
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
