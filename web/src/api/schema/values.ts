// Made from docs/reference/schema/values.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface ValuesAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'values'
  /**
   * Version of the program.
   */
  railwright: string
  values: ValidField[]
}
export interface ValidField {
  /**
   * Key of a run file.
   */
  key: string
  /**
   * The same as a flag.
   */
  flag: string | null
  /**
   * Values that are valid with the other settings unchanged.
   */
  values: string[]
  /**
   * True if the run is valid without the setting.
   */
  open: boolean
}
