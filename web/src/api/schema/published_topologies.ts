// Made from docs/reference/schema/published_topologies.json by scripts/types.mjs.

/**
 * What stands around the fields of every answer.
 */
export interface PublishedTopologiesAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
  kind: 'published_topologies'
  /**
   * Version of the program.
   */
  railwright: string
  rows: Row[]
}
/**
 * One row of the tables.
 */
export interface Row {
  /**
   * The system.
   */
  system: string
  /**
   * Its size in the vendor's units.
   */
  size: string
  /**
   * Devices.
   */
  devices: number
  /**
   * The design that it is compared with, as a design file; empty if there is none.
   */
  design: string
  /**
   * Counts that can be compared.
   */
  compared: Compared[]
  /**
   * Why a row, or a part of it, is not compared; empty if all of it is.
   */
  reason: string
  /**
   * What the table's compiler says of the row.
   */
  note: string
  /**
   * Whether the table says that the row follows from rules.
   */
  marked_derivable: boolean
  /**
   * Where the row was published.
   */
  source: string
}
/**
 * One count, published and here.
 */
export interface Compared {
  /**
   * The column of the table.
   */
  column: string
  /**
   * What was published.
   */
  published: number
  /**
   * What the generator gives.
   */
  here: number
}
