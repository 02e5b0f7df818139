// What `search --json` says, as far as the view shows it. Refuses to compute.
import type { Plan } from '../../api/answers'
import type { Problem } from '../../api/ask'

export interface Memory {
  readonly stage: number
  readonly moment: string
  readonly device: number
}

export interface Candidate {
  readonly cluster: string
  readonly devices: number
  readonly plan: Plan
  readonly step_time: number
  readonly memory: Memory
  readonly device_memory: number
  readonly probability_of_fitting: number
  readonly tokens_per_second: number
  readonly dollars_per_billion_tokens: number | null
  readonly tied_with_best: boolean
}

export interface Spent {
  readonly on: string
  readonly time: number
  readonly share: number
}

export interface Warned {
  readonly id: string
  readonly message: string
}

export interface Ranked {
  readonly rank: number
  readonly candidate: Candidate
  readonly plan_summary: string
  readonly behind: number
  readonly dearer: number
  readonly step_time_interval: { readonly low: number; readonly high: number; readonly coverage: number; readonly source: string } | null
  readonly mfu: number
  readonly dollars_per_trillion_tokens: number | null
  readonly bill: { readonly calendar: number; readonly rent: number; readonly device_hours: number } | null
  readonly spent: readonly Spent[]
  readonly warnings: readonly Warned[]
}

export interface Found {
  readonly ranked: Ranked
  readonly cluster: string
  readonly layout: string
  readonly command: string
  readonly run_file: string
}

export interface Miss {
  readonly cluster: string
  readonly devices: number
  readonly memory: Memory
  readonly device_memory: number
  readonly missing: number
}

export interface Remedy {
  readonly change: string
  readonly devices: number
  readonly step_time: number
  readonly layout: string
}

export type WhyNot =
  | { readonly verdict: 'unanswered' }
  | { readonly verdict: 'impossible'; readonly problems: readonly Problem[] }
  | { readonly verdict: 'too_large'; readonly miss: Miss; readonly stage: number; readonly lacks: number }
  | {
      readonly verdict: 'slower'
      readonly candidate: Candidate
      readonly behind: number
      readonly is_tie: boolean
      readonly differences: readonly { readonly on: string; readonly more: number }[]
    }
  | ({ readonly verdict: 'best' } & Candidate)

export interface Named {
  readonly named: string
  readonly layout: string
  readonly why_not: WhyNot
  readonly outside: unknown
}

export interface SearchAnswer {
  readonly title: string
  readonly complete: boolean
  readonly objective: string
  readonly fit_probability: number
  readonly counters: { readonly enumerated: number }
  readonly found: number
  /** Whether each candidate is the simplest tie of a family of layouts. */
  readonly by_family: boolean
  /** The fastest layout, where the first candidate is another. */
  readonly fastest: Found | null
  readonly candidates: readonly Found[]
  readonly nothing_fits: {
    readonly nearest_misses: readonly { readonly miss: Miss; readonly layout: string }[]
    readonly remedies_tried: number
    readonly remedies: readonly Remedy[]
  } | null
  readonly impossible: readonly unknown[]
  readonly why_not: readonly Named[]
  readonly chosen: readonly string[]
  readonly doubts: readonly Warned[]
}
