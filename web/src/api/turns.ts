// Turns of questions for details: none starts while key figures are on their way, and one is on its way at a time, so that the key figures
// compete with one of them at most. A slow one gives its turn up.

/** Milliseconds after which a running question no longer delays the next one. */
const LONGEST = 250

/** Milliseconds after which running key figures no longer delay details. */
const PATIENCE = 2000

interface Waiting {
  launch(): void
}

let turn: object | null = null
/** Questions for key figures on their way. */
const ahead = new Set<object>()
const queue = new Set<Waiting>()

/** True if another question is on its way; `one` is then launched in its turn. */
export function mustWait(one: Waiting): boolean {
  const waits = turn !== null || ahead.size > 0
  if (waits) queue.add(one)
  return waits
}

/** Key figures are asked for: questions for details wait until they have come. */
export function goAhead(flight: object): void {
  ahead.add(flight)
  setTimeout(() => arrive(flight), PATIENCE)
}

/** Key figures have come, or their question was given up. */
export function arrive(flight: object): void {
  if (ahead.delete(flight)) next()
}

export function takeTurn(flight: object): void {
  turn = flight
  setTimeout(() => endTurn(flight), LONGEST)
}

export function endTurn(flight: object): void {
  if (turn !== flight) return
  turn = null
  next()
}

/** Launches those that wait, until one has the turn. */
function next(): void {
  for (const one of queue) {
    if (turn !== null || ahead.size > 0) return
    queue.delete(one)
    one.launch()
  }
}
