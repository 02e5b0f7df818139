// Made from docs/reference/schema/export.json by scripts/types.mjs.

/**
 * Common fields of every result.
 */
export interface ExportAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
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
   * The version; `null` if unspecified.
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
   * The version of the framework for this file, such as `2026-08`; empty if all known versions read it.
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
   * Lost setting and the value that applies instead, as a lowercase fragment.
   */
  message: string
}
