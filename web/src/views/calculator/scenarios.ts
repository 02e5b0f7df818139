// Scenario A is the run, B is the run with overrides. Selection of the edited scenario, and writing of changes to the URL. Does not judge
// values.
import { computed, signal } from '@preact/signals'
import { change, location, own } from '../../state/location'
import { overrides, runText, runTextB } from '../../state/run'

export type Letter = 'a' | 'b'

/** True if two scenarios are compared. */
export const comparing = computed(() => Object.keys(overrides.value).length > 0)

/** Scenario that the controls change. */
export const editing = computed<Letter>(() => (comparing.value && location.value.parameters['c.edit'] !== 'a' ? 'b' : 'a'))

/** Parameters shown by the controls. */
export const edited = computed(() => (editing.value === 'b' ? runTextB.value : runText.value))

/** Parameters of the calculator view. */
export const kept = computed(() => own('c'))

/** Settings changed last. Only these are marked as invalid, because the others follow from them. */
export const lastSet = signal<readonly string[]>([])

/** Settings that keep a value of the program's plan, because another one was set. */
export const heldKeys = computed<readonly string[]>(() => kept.value.held?.split(',') ?? [])

/** Mark of the settings that keep a value of the program's plan: those held before, without the ones that are set, and `held`. */
export function heldMark(values: Readonly<Record<string, string | undefined>>, held: readonly string[]): { 'c.held': string | undefined } {
  const all = [...heldKeys.value.filter((key) => !(key in values)), ...held]
  return { 'c.held': all.length > 0 ? all.join(',') : undefined }
}

/** Sets arguments of the edited scenario; `undefined` resets to auto. `held`: those that keep a value of the program's plan. */
export function set(
  values: Readonly<Record<string, string | undefined>>,
  history: 'push' | 'replace' = 'push',
  held: readonly string[] = [],
): void {
  lastSet.value = Object.keys(values).filter((key) => !held.includes(key))
  const mark = heldMark(values, held)
  if (editing.value === 'a') {
    change({ ...values, ...mark }, history)
    return
  }
  const base = runText.value
  const changes = Object.entries(values).map(([key, value]) => {
    const same = (value ?? '') === (base[key] ?? '')
    return [`b.${key}`, same ? undefined : value === undefined ? '-' : value] as const
  })
  change({ ...Object.fromEntries(changes), 'b.on': '1', ...mark }, history)
}

/** Opens scenario B as a copy of A. */
export function compare(): void {
  change({ 'b.on': '1', 'c.edit': undefined })
}

/** Closes one scenario; the other one becomes A. */
export function keep(letter: Letter): void {
  const b = runTextB.value
  const all = location.value.parameters
  const closed = Object.fromEntries(
    Object.keys(all)
      .filter((key) => key.startsWith('b.'))
      .map((key) => [key, undefined]),
  )
  const gone = Object.fromEntries(Object.keys(runText.value).map((key) => [key, undefined]))
  change({ ...closed, ...(letter === 'b' ? { ...gone, ...b } : {}), 'c.edit': undefined })
}

/** Names of the settings that differ in scenario B. */
export const differences = computed(() =>
  Object.keys(overrides.value).filter((key) => key !== 'on' && (runText.value[key] ?? '-') !== overrides.value[key]),
)
