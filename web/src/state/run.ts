// The run common to all views: the parameters of the URL without prefix as arguments of a command, and scenario B as the run with its
// overrides. Independent of the meaning of arguments.
import { computed, signal } from '@preact/signals'
import type { Arguments, Value } from '../api/ask'
import { location } from './location'
import { ofPrefix, type Parameters } from './fragment'

/** Converts texts of the URL to values: `true` and `false` become booleans, others are passed unchanged. */
export function toArguments(parameters: Parameters): Arguments {
  const values: Record<string, Value> = {}
  for (const [key, text] of Object.entries(parameters)) {
    values[key] = text === 'true' ? true : text === 'false' ? 'false' : text
  }
  return values
}

/** Map from long names of flags to those written by the web UI, so that a setting has one name. */
const SHORT: Readonly<Record<string, string>> = {
  'tensor-parallel': 'tp',
  'pipeline-parallel': 'pp',
  'context-parallel': 'cp',
  'data-parallel': 'dp',
  'expert-parallel': 'ep',
  'expert-tensor-parallel': 'etp',
  'virtual-stages': 'vp',
  vpp: 'vp',
  devices: 'gpus',
  'micro-batch-size': 'micro-batch',
  mbs: 'micro-batch',
  'global-batch-size': 'global-batch',
  gbs: 'global-batch',
  seq: 'sequence-length',
  'seq-length': 'sequence-length',
  sp: 'sequence-parallel',
  uneven: 'uneven-stages',
  zero: 'sharding',
  framework: 'software',
}

/** Settings under unique names; a short name takes precedence over its long one. */
export function normalise(parameters: Parameters): Parameters {
  const found: Record<string, string> = {}
  for (const [key, value] of Object.entries(parameters)) {
    const short = SHORT[key]
    if (short === undefined) found[key] = value
    else if (parameters[short] === undefined) found[short] = value
  }
  return found
}

/** Parameters of the run as text. */
export const runText = computed<Parameters>(() => normalise(ofPrefix(location.value.parameters, '')))

/** Parameters of scenario B as text. */
export const runTextB = computed<Parameters>(() => applyOverrides(runText.value, overrides.value))

/** Layout of the newest answer for the run, for the titles of saved charts; empty without one. */
export const planSummary = signal('')

/** Run as arguments of `estimate`, `memory`, `timeline`, ... */
export const run = computed<Arguments>(() => toArguments(runText.value))

/** Overrides of scenario B; empty if there are none. `-` removes a setting of the run. */
export const overrides = computed<Parameters>(() => normalise(ofPrefix(location.value.parameters, 'b')))

/** Scenario B as arguments; null if it is not open. */
export const runB = computed<Arguments | null>(() => {
  return Object.keys(overrides.value).length === 0 ? null : toArguments(runTextB.value)
})

/** Applies overrides to a run: `-` removes a setting, `on` alone opens scenario B without a difference. */
export function applyOverrides(parameters: Parameters, changes: Parameters): Parameters {
  const merged: Record<string, string> = { ...parameters }
  for (const [key, value] of Object.entries(changes)) {
    if (key === 'on') continue
    if (value === '-') delete merged[key]
    else merged[key] = value
  }
  return merged
}
