// What `sensitivity`, `whatif`, `recompute` and `balance` say with `--json`, as far as the view shows it. Refuses to compute.
import type { Fit } from '../../api/answers'
import type { Problem } from '../../api/ask'

export interface Warned {
  readonly id: string
  readonly message: string
}

export interface Figure {
  readonly id: string
  readonly title: string
  readonly kind: 'hardware' | 'software' | 'host'
  readonly now: string
  readonly greater_is_faster: boolean
  readonly elasticity: number
  readonly less: number
  readonly more: number
  readonly best: number
  readonly through: string | null
}

export interface Sensitivity {
  readonly model: string
  readonly accelerator: string
  readonly devices: number
  readonly plan: string
  readonly step_time: number
  readonly swing: number
  readonly figures: readonly Figure[]
  readonly sum: { readonly rates: number; readonly times: number; readonly rest: number }
  readonly capacity: { readonly device: number; readonly peak: number; readonly least: number; readonly fit: Fit }
  readonly chosen: readonly string[]
}

export interface RunState {
  readonly plan: string
  readonly accelerator: string
  readonly devices: number
  readonly step_time: number
  readonly tokens_per_second: number
  readonly model_flop_utilisation: number
  readonly memory: number
  readonly device_memory: number
  readonly fit: Fit
  readonly dollars_per_million_tokens: number | null
}

export interface Part {
  readonly id: string
  readonly title: string
  readonly before: number
  readonly after: number
  readonly change: number
}

export type Outcome =
  | {
      readonly outcome: 'possible'
      readonly after: RunState
      readonly difference: {
        readonly rescaled: boolean
        readonly step_time: number
        readonly share: number
        readonly speedup: number
        readonly memory: number
        readonly price_of_tokens: number | null
        readonly parts: readonly Part[]
      }
      readonly warnings: readonly Warned[]
      readonly resolved: readonly string[]
    }
  | { readonly outcome: 'impossible'; readonly problems: readonly Problem[] }

export interface Change {
  readonly name: string
  readonly moved: readonly { readonly key: string; readonly before: string | null; readonly after: string | null }[]
  readonly evidence: { readonly what: string; readonly pairs: number; readonly median: number; readonly ninth: number } | null
  readonly notes: readonly string[]
  readonly outcome: Outcome
}

export interface WhatIf {
  readonly model: string
  readonly before: RunState
  readonly warnings: readonly Warned[]
  readonly alone: readonly Change[]
  readonly together: Change | null
  readonly interaction: { readonly product_alone: number; readonly together: number; readonly verdict: string } | null
  readonly chosen: readonly string[]
}

/** One way to recompute, or one division of layers, with what it takes. */
export interface Choice {
  readonly what: string
  readonly step_time: number
  readonly tokens_per_second: number
  readonly memory: number
  readonly probability_of_fitting: number
  readonly fits: boolean
}

export interface Recompute {
  readonly title: string
  readonly recompute: {
    readonly device_memory: number
    readonly limit: number
    readonly none: Choice
    readonly full: Choice
    readonly given: Choice | null
    readonly uniform: Choice | null
    readonly best: Choice | null
    readonly gain_over_full: number | null
    readonly stages: readonly {
      readonly stage: number
      readonly layers: number
      readonly choice: readonly string[]
      readonly recompute: number
      readonly memory_none: number
      readonly memory_full: number
      readonly memory: number
      readonly probability_of_fitting: number
    }[]
    readonly remedies: readonly unknown[]
  }
  readonly flags: readonly { readonly framework: string; readonly lines: readonly string[]; readonly cannot: readonly string[] }[]
}

export interface Division {
  readonly layers: readonly number[]
  readonly step_time: number
  readonly tokens_per_second: number
  readonly idle: number
  readonly imbalance: number
  readonly memory: number
  readonly fits: boolean
  readonly stages: readonly {
    readonly stage: number
    readonly layers: readonly number[]
    readonly embedding: boolean
    readonly head: boolean
    readonly recompute: readonly string[]
    readonly time: number
    readonly busy: number
    readonly bubble: number
    readonly idle: number
    readonly memory: number
  }[]
}

export interface Balance {
  readonly title: string
  readonly balance: {
    readonly before: Division
    readonly best: Division | null
    readonly gain: number | null
    readonly priced: number
    readonly device_memory: number
  }
}
