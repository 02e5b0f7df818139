// The run that all views speak about: the bare parameters of the address as arguments of a command, and scenario B as
// the run with its overrides. Refuses to know what the arguments mean.
import { computed } from '@preact/signals'
import type { Arguments, Value } from '../api/ask'
import { location } from './location'
import { ofPrefix, type Parameters } from './fragment'

/** Text of the address to values: `true` and `false` are flags, all else is passed as it stands. */
export function toArguments(parameters: Parameters): Arguments {
  const values: Record<string, Value> = {}
  for (const [key, text] of Object.entries(parameters)) {
    values[key] = text === 'true' ? true : text === 'false' ? 'false' : text
  }
  return values
}

/** The run as arguments of `estimate`, `memory`, `timeline`, ... */
export const run = computed<Arguments>(() => toArguments(ofPrefix(location.value.parameters, '')))

/** What scenario B says otherwise; empty when there is none. `-` takes away what the run says. */
export const overrides = computed<Parameters>(() => ofPrefix(location.value.parameters, 'b'))

/** Scenario B as arguments, or null when none is open. */
export const runB = computed<Arguments | null>(() => {
  const changes = overrides.value
  if (Object.keys(changes).length === 0) return null
  return toArguments(applyOverrides(ofPrefix(location.value.parameters, ''), changes))
})

/** A run with overrides: `-` removes, `on` alone opens scenario B without a difference. */
export function applyOverrides(parameters: Parameters, changes: Parameters): Parameters {
  const merged: Record<string, string> = { ...parameters }
  for (const [key, value] of Object.entries(changes)) {
    if (key === 'on') continue
    if (value === '-') delete merged[key]
    else merged[key] = value
  }
  return merged
}
