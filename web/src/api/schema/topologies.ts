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
   * The section: `model`, `cluster`, `plan`, `training`, `cost`.
   */
  section: string
  /**
   * The rest of the dotted key.
   */
  name: string
  /**
   * Meaning.
   */
  doc: string
  /**
   * What holds without it, in words.
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
 * Common fields of every answer.
 */
export interface TopologiesAnswer {
  /**
   * Grows when a field changes or goes; new fields may come at any time.
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
