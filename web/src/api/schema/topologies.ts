// Made from docs/reference/schema/topologies.json by scripts/types.mjs.

/**
 * A family of topologies.
 */
export type Kind =
  | 'clos'
  | 'rail-optimized'
  | 'rail-only'
  | 'trimmed'
  | 'dual-plane'
  | 'multi-plane'
  | 'dragonfly'
  | 'dragonfly-plus'
  | 'torus'
  | 'slim-fly'
  | 'scale-up'
/**
 * One key of a run file.
 */
export type Key = {
  /**
   * Section: `model`, `cluster`, `plan`, `training`, `cost`.
   */
  section: string
  /**
   * Key inside the section, dotted.
   */
  name: string
  /**
   * Documentation: a noun phrase for a value, a verb phrase for a switch.
   */
  doc: string
  /**
   * Default in words.
   */
  default: string
} & Key1
export type Key1 =
  | {
      kind: 'text'
    }
  | {
      kind: 'count'
    }
  | {
      kind: 'number'
    }
  | {
      kind: 'flag'
    }
  | {
      kind: 'choice'
      choices: string[]
    }
  | {
      kind: 'form'
      choices: string[]
    }
  | {
      kind: 'counts'
    }
  | {
      kind: 'texts'
    }
  | {
      kind: 'quantity'
      choices: string[]
    }
  | {
      kind: 'amount'
      choices: string[]
    }

/**
 * Common fields of every result.
 */
export interface TopologiesAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'topologies'
  /**
   * Version of the program.
   */
  railwright: string
  topologies: KindFields[]
  /**
   * Keys of a design file.
   */
  keys: Key[]
}
export interface KindFields {
  kind: Kind
  about: string
  /**
   * Names of its keys.
   */
  keys: string[]
}
