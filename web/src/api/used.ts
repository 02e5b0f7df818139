// Answers shown by the open view, for a report of it.
// Responsible for: one entry per view element with an answer, and the cached answers. Answers are dropped when no longer shown.
import type { Arguments, Outcome } from './ask'

export interface Used {
  readonly command: string
  readonly arguments: Arguments
  readonly outcome: Outcome
  readonly command_line: string
  readonly answer: unknown
}

const shown = new Map<object, Used>()
const once = new Map<string, Used>()

/** Maximum number of cached answers kept for a report. */
const MOST_ONCE = 60

/** Registers an answer shown by a view element. */
export function use(place: object, answer: Used): void {
  shown.set(place, answer)
}

/** Removes the answer of a view element. */
export function unuse(place: object): void {
  shown.delete(place)
}

/** Registers a cached answer, such as a catalogue. */
export function usedOnce(key: string, answer: Used): void {
  once.delete(key)
  once.set(key, answer)
  for (const old of once.keys()) {
    if (once.size <= MOST_ONCE) break
    once.delete(old)
  }
}

/** All answers currently shown. */
export function inUse(): readonly Used[] {
  return [...once.values(), ...shown.values()]
}
