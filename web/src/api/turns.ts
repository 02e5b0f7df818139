// Turns of questions for details: one is on its way at a time, so that the key figures compete with one of them at most. A slow one gives
// its turn up.

/** Milliseconds after which a running question no longer delays the next one. */
const LONGEST = 250

interface Waiting {
  launch(): void
}

let turn: object | null = null
const queue = new Set<Waiting>()

/** True if another question is on its way; `one` is then launched in its turn. */
export function mustWait(one: Waiting): boolean {
  if (turn !== null) queue.add(one)
  return turn !== null
}

export function takeTurn(flight: object): void {
  turn = flight
  setTimeout(() => endTurn(flight), LONGEST)
}

export function endTurn(flight: object): void {
  if (turn !== flight) return
  turn = null
  for (const next of queue) {
    queue.delete(next)
    next.launch()
    if (turn !== null) return
  }
}
