// The answer of `log`, as far as the view reads it.

export interface Segment {
  readonly from: number
  readonly to: number
  readonly seconds: number
  readonly batch: number | null
  readonly mfu: number | null
  readonly tflops: number | null
}

export interface SlowStep {
  readonly iteration: number
  readonly line: number
  readonly seconds: number
  readonly lost: number
}

export interface Restart {
  readonly line: number
  readonly before: number
  readonly from: number
  readonly repeated: number
  readonly lost: number
}

export interface Judged {
  readonly reports: number
  readonly iterations: number
  readonly starts: number
  readonly warm_up: number
  readonly step_time: number
  readonly noise: number
  readonly segments: readonly Segment[]
  readonly drift: number | null
  readonly slow: readonly SlowStep[]
  readonly slow_share: number
  readonly pause: { readonly period: number; readonly count: number; readonly lost: number } | null
  readonly restarts: readonly Restart[]
  readonly skipped: number
  readonly not_a_number: number
  readonly timers: readonly (readonly [name: string, low: number, high: number])[]
  readonly reserved: number | null
  readonly warnings: readonly { readonly id: string; readonly message: string }[]
}

export interface Straggler {
  readonly iteration: number | null
  readonly measure: string
  readonly lowest: readonly [number, number]
  readonly highest: readonly [number, number]
}

export interface Log {
  readonly file: string
  readonly log: Judged
  readonly stragglers: readonly Straggler[]
  /** Iteration, seconds of an iteration, MFU where it is known. */
  readonly curve?: readonly (readonly [number, number, (number | null)?])[]
}
