// The answers of `profile`, `comm`, `stragglers`, `query` and `compare`, as far as the views read them.

export interface Part {
  readonly name: string
  readonly time: number
  readonly mean: number
  readonly share: number
}

export interface Line extends Part {
  readonly group: string
  readonly gpu_hours_per_day: number | null
  readonly parts: readonly Part[]
}

/** What a cost is: the difference of two replays, the most that it can be, or not told. */
export type Certainty = 'replayed' | 'at_most' | 'unknown'

/** A cost with the sign that says when it is a bound. */
export const signed = (certainty: Certainty | undefined, cost: string): string =>
  certainty === 'at_most' ? `≤ ${cost}` : certainty === 'unknown' ? 'not known' : cost

export interface Finding {
  readonly id: string
  readonly message: string
  readonly cost: number | null
  readonly certainty?: Certainty
  readonly gpu_hours_per_day: number | null
  readonly evidence: readonly string[]
  readonly advice: string
}

export interface Node {
  readonly level: string
  readonly name: string
  readonly time: number
  readonly count: number
  readonly mean: number
  readonly longest: number
  readonly children?: readonly Node[]
}

export interface RankRow {
  readonly rank: number
  readonly host: string | null
  readonly shares: readonly number[]
  readonly waiting: number
  readonly parts: Readonly<Record<string, number>>
}

export interface StepRow {
  readonly step: string
  readonly duration: number
  readonly groups: readonly number[]
  readonly parts: Readonly<Record<string, number>>
}

export interface Kernel {
  readonly name: string
  readonly phase: string
  readonly family: string
  readonly count: number
  readonly mean: number
  readonly longest: number
  readonly per_step: number
}

export interface Warning {
  readonly id: string
  readonly message: string
}

/** Rank by step, in nanoseconds: rows are ranks, columns steps. All ranks, also those that `rows` does not list. */
export interface RankSteps {
  readonly ranks: readonly number[]
  readonly steps: readonly (string | number)[]
  /** Of each step, the same for all ranks. */
  readonly step_time: readonly number[]
  /** Without waiting for others. */
  readonly own_time: readonly (readonly (number | null)[])[]
  readonly compute: readonly (readonly (number | null)[])[]
  readonly waiting: readonly (readonly (number | null)[])[]
  /** Of all others, so it may exceed the step. */
  readonly waiting_caused: readonly (readonly (number | null)[])[]
}

export interface Profile {
  readonly title: string
  readonly ranks: number
  readonly world_size: number
  /** Whether traces say how many there are; otherwise there are at least so many. */
  readonly world_size_known: boolean
  /** No rank recorded a device. */
  readonly from_host?: boolean
  readonly missing: number
  readonly device: string | null
  readonly utilisation: number | null
  readonly step_time: number
  readonly lines: readonly Line[]
  readonly steps: readonly StepRow[]
  readonly rows: readonly RankRow[]
  readonly tree: readonly Node[]
  readonly kernels: readonly Kernel[]
  readonly findings: readonly Finding[]
  readonly warnings: readonly Warning[]
  readonly clocks: string
  readonly recorded: Readonly<Record<string, number>>
  readonly rank_steps?: RankSteps | null
}

/** Groups of labels in the order of `shares` and `groups`. */
export const GROUPS = ['ideal', 'compute', 'communication', 'copies', 'bubble', 'host', 'other'] as const

const CLASSES: Readonly<Record<string, string>> = {
  ideal: 'forward',
  compute: 'backward',
  communication: 'tensor',
  copies: 'copy',
  copy: 'copy',
  bubble: 'bubble',
  host: 'host',
  other: 'other',
}

/** The class whose colour a group or a label has. */
export function classOf(name: string): string {
  const known = CLASSES[name]
  if (known) return known
  if (/bubble/.test(name)) return 'bubble'
  const dimension = /^(tensor|context|expert|pipeline|data)\b/.exec(name.replaceAll('_', ' '))?.[1]
  if (dimension) return /waiting/.test(name) ? 'waiting' : dimension
  if (/^unknown/.test(name)) return 'communication'
  if (/recompute/.test(name)) return 'recompute'
  if (/optimizer/.test(name)) return 'optimizer'
  if (/matrix|attention|ideal/.test(name)) return 'forward'
  if (/kernels|slower/.test(name)) return 'weight_gradient'
  if (/cop(y|ies)/.test(name)) return 'copy'
  if (/host|idle|synchron|loading|launch/.test(name)) return 'host'
  return 'other'
}

export function words(name: string): string {
  // As the overview's lines are called.
  return name
    .replace(/_bound(?=_|$)/, '-bound')
    .replace(/_communication_(?=waiting|transfer)/, '_communication,_')
    .replaceAll('_', ' ')
}
