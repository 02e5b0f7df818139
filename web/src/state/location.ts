// Location of the web UI: one signal that mirrors the URL. Views read `location`, and change it with `go` and `change`. All other state
// follows from it, so that links and Back reproduce a view.
import { batch, computed, signal } from '@preact/signals'
import { report } from '../api/report'
import { type Location, type Parameters, type Repeated, ofPrefix, parseFragment, prefixOf, repeatedIn, writeFragment } from './fragment'

export const FALLBACK = 'calculator'

const here = () => parseFragment(initial(), FALLBACK)

/** Current location. Write through `go` and `change`. */
export const location = signal<Location>(here())

/** Repeated settings of the opened URL with different values; empty once the web UI writes the URL. */
export const repeated = signal<readonly Repeated[]>(repeatedIn(initial()))

/** Open view. */
export const view = computed(() => location.value.view)

/** State of each view when it was left, so that returning by key restores it. */
const left = new Map<string, Parameters>()

function initial(): string {
  const hash = typeof window === 'undefined' ? '' : window.location.hash
  return hash.length > 2 ? hash : (report?.fragment ?? '')
}

/** Opens a view. The run and scenario B are kept; the state of other views is stored. */
export function go(next: string, own: Parameters = {}): void {
  const { view: current, parameters } = location.value
  const run = Object.fromEntries(Object.entries(parameters).filter(([key]) => ['', 'b'].includes(prefixOf(key))))
  const views = Object.fromEntries(Object.entries(parameters).filter(([key]) => !['', 'b'].includes(prefixOf(key))))
  if (next !== current) left.set(current, views)
  write({ view: next, parameters: { ...run, ...(next === current ? views : left.get(next)), ...own } }, 'push')
}

/** Opens a view with only this state, because its stored state refers to other files. */
export function openAfresh(next: string, own: Parameters): void {
  const { view: current, parameters } = location.value
  const run = Object.fromEntries(Object.entries(parameters).filter(([key]) => ['', 'b'].includes(prefixOf(key))))
  if (next !== current)
    left.set(current, Object.fromEntries(Object.entries(parameters).filter(([key]) => !['', 'b'].includes(prefixOf(key)))))
  write({ view: next, parameters: { ...run, ...own } }, 'push')
}

/** Changes parameters; `undefined` or an empty text removes one. `replace` while a slider moves, `push` when it is released. */
export function change(changes: Readonly<Record<string, string | undefined>>, history: 'push' | 'replace' = 'push'): void {
  const parameters: Record<string, string> = { ...location.value.parameters }
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === '') delete parameters[key]
    else parameters[key] = value
  }
  write({ view: location.value.view, parameters }, history)
}

/** Replaces the whole run (parameters without prefix), for example by a strategy from a search; view state is kept. */
export function replaceRun(run: Parameters, next?: string): void {
  const rest = Object.fromEntries(Object.entries(location.value.parameters).filter(([key]) => prefixOf(key) !== ''))
  write({ view: next ?? location.value.view, parameters: { ...rest, ...run } }, 'push')
}

/** Opens a pasted state; repeated settings are reported as for a link. */
export function open(fragment: string): void {
  write(parseFragment(fragment, FALLBACK), 'push')
  repeated.value = repeatedIn(fragment)
}

/** Parameters with a view's prefix, without it. */
export function own(prefix: string): Record<string, string> {
  return ofPrefix(location.value.parameters, prefix)
}

const leaving: ((how: 'push' | 'replace') => void)[] = []

/** Registers a function to call before the web UI changes the URL, while the old state is still shown. */
export function onLeave(act: (how: 'push' | 'replace') => void): void {
  leaving.push(act)
}

/** Milliseconds until the URL follows a slider. Writing it takes 5 ms in Chromium, and Safari refuses more than 100 in 30 s. */
const FOLLOW = 50

/** Fragment that is not yet in the URL. */
let pending: string | null = null

/** Writes a pending change into the URL. To be called before the URL is read. */
export function settle(): void {
  if (pending === null) return
  const text = pending
  pending = null
  window.history.replaceState(null, '', text)
}

function write(next: Location, history: 'push' | 'replace'): void {
  const text = writeFragment(next)
  const changed = text !== writeFragment(location.value)
  if (history === 'push' && changed) settle()
  if (changed || history === 'replace') {
    for (const act of leaving) act(history)
    if (history === 'push') window.history.pushState(null, '', text)
    else {
      if (pending === null) setTimeout(settle, FOLLOW)
      pending = text
    }
  }
  if (changed)
    batch(() => {
      location.value = next
      repeated.value = []
    })
}

if (typeof window !== 'undefined') {
  for (const moved of ['popstate', 'hashchange'])
    window.addEventListener(moved, () => {
      pending = null
      batch(() => {
        location.value = here()
        repeated.value = repeatedIn(initial())
      })
    })
  window.addEventListener('pagehide', settle)
}
