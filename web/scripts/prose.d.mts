/** A piece of prose and its place in the source. */
export interface Prose {
  readonly start: number
  readonly end: number
  readonly kind: 'text' | 'literal' | 'template'
  readonly value: string
}

export function proseOf(source: string): Prose[]
