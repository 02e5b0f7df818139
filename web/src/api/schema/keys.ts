// Made from docs/reference/schema/keys.json by scripts/types.mjs.

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
  /**
   * True if `search` varies it and `--space` restricts it.
   */
  is_searched: boolean
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
export interface KeysAnswer {
  /**
   * Increases if a field changes or is removed; new fields may appear at any time.
   */
  schema_version: 2
  kind: 'keys'
  /**
   * Version of the program.
   */
  railwright: string
  keys: Key[]
}
