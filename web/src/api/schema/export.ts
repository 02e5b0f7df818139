// Made from docs/reference/schema/export.json by scripts/types.mjs.

/**
 * Common fields of every answer.
 */
export interface ExportAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 2
  kind: 'export'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * The framework.
   */
  to: string
  /**
   * Its version, where one was named.
   */
  version: string | null
  files: WrittenFile[]
  /**
   * Settings without an equivalent in the framework.
   */
  not_expressed: Lost[]
}
/**
 * One file.
 */
export interface WrittenFile {
  /**
   * Its usual name.
   */
  name: string
  /**
   * Its text.
   */
  text: string
  /**
   * The version of the framework that it is for, such as `2026-08`; empty where all known versions read it.
   */
  version?: string
}
/**
 * A key of a run whose value a format cannot express.
 */
export interface Lost {
  /**
   * The key of a run file, such as `plan.offload.activations`.
   */
  key: string
  /**
   * What is lost and what holds instead, in a lowercase fragment.
   */
  message: string
}
