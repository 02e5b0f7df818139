// Made from docs/reference/schema/software.json by scripts/types.mjs.

/**
 * What stands around the fields of every answer.
 */
export interface SoftwareAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
   */
  schema_version: 1
  kind: 'software'
  /**
   * Version of the program.
   */
  railwright: string
  /**
   * Software generations.
   */
  software: GenerationField[]
  /**
   * Features of a software stack.
   */
  features: GenerationField[]
}
export interface GenerationField {
  id: string
  name: string
  /**
   * Origin of its constants.
   */
  source: string
  /**
   * Words in the name of a framework that select it.
   */
  matches: string[]
}
