// Answers of changing questions: a new question starts with each change of the arguments, the old answer is kept meanwhile, and an older
// answer never replaces a newer one. There is no queue: of several waiting questions only the newest is sent.
import { effect, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Answer, type Arguments, type Problem, Refusal, ask, identity } from './ask'
import { askPatiently } from './jobs'
import { arrive, endTurn, goAhead, mustWait, takeTurn } from './turns'
import { unuse, use, usedOnce } from './used'

export interface Live<T> {
  /** Newest answer so far, kept until the next one. */
  readonly answer: T | null
  readonly outcome: Answer<T>['outcome']
  readonly commandLine: string
  /** Notes of the command. */
  readonly notes: readonly string[]
  /** Problems of the newest question; empty once it has an answer. */
  readonly problems: readonly Problem[]
  /** True while a question is running. */
  readonly loading: boolean
  /** True if `answer` is that of an older question: the newest was refused, or has been running for more than 150 ms. It is shown dimmed. */
  readonly stale: boolean
  /** Identity of the question of `answer`. */
  readonly of: string
}

const EMPTY: Live<never> = { answer: null, outcome: 'yes', commandLine: '', notes: [], problems: [], loading: false, stale: false, of: '' }

/** Maximum concurrent questions of one view; of the waiting ones, only the newest is sent. */
const IN_FLIGHT = 2
/** Milliseconds after which a running question is cancelled if a newer one waits. */
const GIVE_UP_AFTER = 250
const REMEMBERED = 60

const remembered = new Map<string, Answer<unknown>>()

function remember(key: string, answer: Answer<unknown>): void {
  remembered.delete(key)
  remembered.set(key, answer)
  for (const old of remembered.keys()) {
    if (remembered.size <= REMEMBERED) break
    remembered.delete(old)
  }
}

/** Runs a command once and caches the answer: catalogues, keys and other answers that no user argument changes. */
export async function askOnce<T>(command: string, values: Arguments = {}): Promise<Answer<T>> {
  const key = identity(command, values)
  const known = remembered.get(key)
  const answer = known ? (known as Answer<T>) : await ask<T>(command, values)
  if (!known) remember(key, answer)
  usedOnce(key, { command, arguments: values, outcome: answer.outcome, command_line: answer.commandLine, answer: answer.answer })
  return answer
}

/** A list of the program, such as its keys or a catalogue; `none` until it is known, and after an error: views work without it. */
export function useListed<A, T>(command: string, pick: (answer: A) => T, none: T): T {
  const [listed, setListed] = useState<T>(none)
  useEffect(() => {
    let here = true
    askOnce<A>(command).then(
      ({ answer }) => here && setListed(() => pick(answer)),
      () => undefined,
    )
    return () => {
      here = false
    }
  }, [])
  return listed
}

/** A changing question. `ask(command, values)` sets it, `null` clears it, and `state` follows. */
export class Follower<T> {
  readonly state: Signal<Live<T>> = signal<Live<T>>(EMPTY)
  private sequence = 0
  private shown = 0
  private changed = -Infinity
  private flying: { sequence: number; since: number; abort: AbortController }[] = []
  private waiting: { command: string; values: Arguments; sequence: number } | null = null
  private dim: ReturnType<typeof setTimeout> | undefined
  private rest: ReturnType<typeof setTimeout> | undefined

  /** `pause`: milliseconds without changes before a question is sent, for views that are not watched while a slider moves; `isEager`: the
   * first question is not delayed, because nothing is shown yet. */
  constructor(
    private readonly pause = 0,
    private readonly isEager = true,
  ) {}

  put(command: string, values: Arguments | null): void {
    const sequence = ++this.sequence
    if (values === null) {
      this.stop()
      this.state.value = EMPTY
      return
    }
    const key = identity(command, values)
    const known = remembered.get(key)
    if (known) {
      this.waiting = null
      this.uses(command, values, known)
      this.show(sequence, {
        ...EMPTY,
        answer: known.answer as T,
        outcome: known.outcome,
        commandLine: known.commandLine,
        notes: known.notes,
        of: key,
      })
      return
    }
    if (!this.state.value.loading) this.state.value = { ...this.state.value, loading: true }
    this.dim ??= setTimeout(() => {
      if (this.state.value.loading) this.state.value = { ...this.state.value, stale: true }
    }, 150)
    this.waiting = { command, values, sequence }
    clearTimeout(this.rest)
    const isFirst = this.isEager && this.state.value.answer === null && performance.now() - this.changed > this.pause
    this.changed = performance.now()
    if (this.pause === 0 || isFirst) this.launch()
    else this.rest = setTimeout(() => this.launch(), this.pause)
  }

  /** Cancels all running questions. */
  stop(): void {
    this.waiting = null
    unuse(this)
    for (const one of this.flying) one.abort.abort()
    clearTimeout(this.dim)
    clearTimeout(this.rest)
    this.dim = undefined
  }

  private uses(command: string, values: Arguments, answer: Answer<unknown>): void {
    const { outcome, commandLine } = answer
    use(this, { command, arguments: values, outcome, command_line: commandLine, answer: answer.answer })
  }

  /** Sends the newest waiting question, unless others are on their way. */
  launch(): void {
    if (!this.waiting) return
    if (this.pause > 0 && mustWait(this)) return
    if (this.flying.length >= IN_FLIGHT) {
      const oldest = this.flying[0]
      if (oldest && performance.now() - oldest.since > GIVE_UP_AFTER) oldest.abort.abort()
      return
    }
    const { command, values, sequence } = this.waiting
    this.waiting = null
    const abort = new AbortController()
    const flight = { sequence, since: performance.now(), abort }
    this.flying.push(flight)
    if (this.pause > 0) takeTurn(flight)
    else goAhead(flight)
    const key = identity(command, values)
    askPatiently<T>(command, values, abort.signal)
      .then(
        (answer) => {
          if (abort.signal.aborted) return
          remember(key, answer)
          if (sequence >= this.shown) this.uses(command, values, answer)
          this.show(sequence, {
            ...EMPTY,
            answer: answer.answer,
            outcome: answer.outcome,
            commandLine: answer.commandLine,
            notes: answer.notes,
            of: key,
          })
        },
        (error: unknown) => {
          if (abort.signal.aborted) return
          const problems = error instanceof Refusal ? error.problems : [{ message: String(error) }]
          this.show(sequence, { ...this.state.value, problems })
        },
      )
      .finally(() => {
        this.flying = this.flying.filter((other) => other !== flight)
        endTurn(flight)
        arrive(flight)
        this.launch()
      })
  }

  private show(sequence: number, live: Live<T>): void {
    if (sequence < this.shown) return
    this.shown = sequence
    const newest = sequence === this.sequence
    if (newest) {
      clearTimeout(this.dim)
      this.dim = undefined
    }
    this.state.value = { ...live, loading: !newest, stale: newest ? live.problems.length > 0 : this.state.value.stale }
  }
}

/** Answer to a question computed from signals; repeated when they change. `null` asks nothing. */
export function useFollow<T>(command: string, question: () => Arguments | null, pause = 0): ReadonlySignal<Live<T>> {
  const follower = useMemo(() => new Follower<T>(pause), [command])
  useEffect(() => {
    const end = effect(() => {
      const values = question()
      // The state of the follower must not be a dependency: a rejection changes it, which would repeat the question forever.
      untracked(() => follower.put(command, values))
    })
    return () => {
      end()
      follower.stop()
    }
  }, [follower])
  return follower.state
}

/** The same object until something drawn of an answer changes. A question on its way changes only `loading`. */
export function sameDrawn<T, L extends Live<T> | null>(before: L, next: L): L {
  if (before === null || next === null) return next
  const keys = ['answer', 'outcome', 'commandLine', 'notes', 'problems', 'stale', 'of'] as const
  return keys.every((key) => before[key] === next[key]) ? before : next
}

/** An answer for charts, which are not drawn again for a question on its way. */
export function useDrawn<T, L extends Live<T> | null>(live: L): L {
  const drawn = useRef(live)
  drawn.current = sameDrawn<T, L>(drawn.current, live)
  return drawn.current
}

/** Milliseconds without changes before a question for the details of a run is sent. A slider moves every 100 ms or so: their answers would
 * take the program's and the browser's time between its moves and the key figures. */
export const REST = 250

/** The same for what is expensive to answer and not watched while a slider moves. */
export const SETTLED = 700

/** Answer to a question; with a pause, the first question waits too. */
export function useAnswer<T>(command: string, values: Arguments | null, pause = 0): Live<T> {
  const follower = useMemo(() => new Follower<T>(pause, false), [command])
  const key = values ? identity(command, values) : ''
  useEffect(() => follower.put(command, values), [follower, key])
  useEffect(() => () => follower.stop(), [follower])
  return follower.state.value
}
