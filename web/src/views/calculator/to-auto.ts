// Parallel sizes of which only some are set: the program takes one that is not set as 1, unless it is `auto`. Pure.
import type { Parameters } from '../../state/fragment'
import type { Valid } from '../../state/valid'

type Values = Readonly<Record<string, string | undefined>>

/** Value of a size that the program chooses beside others that are set. */
const AUTO = 'auto'
/** Sizes that take it. */
const CHOOSABLE: readonly string[] = ['tp', 'pp', 'cp', 'ep']
/** Settings beside which a size that is not set is 1. */
const FIXING: readonly string[] = [...CHOOSABLE, 'sharding', 'fsdp', 'hsdp']
/** Settings of a run file or launch file, which has its own sizes. */
const FILES: readonly string[] = ['run', 'launch']

const isFixedBeside = (name: string, text: Parameters): boolean =>
  FIXING.some((key) => key !== name && text[key] !== undefined && text[key] !== AUTO)

/** True if the user set the value. */
export const isOwn = (name: string, text: Parameters): boolean => text[name] !== undefined && text[name] !== AUTO

/** True if a size is 1 because others are set: the program did not choose it. */
export const isDefault = (name: string, text: Parameters): boolean =>
  CHOOSABLE.includes(name) && text[name] === undefined && FILES.every((key) => text[key] === undefined) && isFixedBeside(name, text)

/**
 * Settings with which the program chooses a size: `auto` beside others that are set, else none. `held` are settings that keep the value of an
 * earlier plan; those of a number of stages go with it.
 */
export function toAuto(name: string, text: Parameters, held: readonly string[] = []): Values {
  if (!CHOOSABLE.includes(name) || FILES.some((key) => text[key] !== undefined)) return { [name]: undefined }
  if (isFixedBeside(name, text)) {
    const ofStages = name === 'pp' ? ['vp', 'uneven-stages'].filter((key) => held.includes(key)) : []
    return { ...Object.fromEntries(ofStages.map((key) => [key, undefined])), [name]: AUTO }
  }
  const others = CHOOSABLE.filter((key) => text[key] === AUTO)
  return Object.fromEntries([...others, name].map((key) => [key, undefined]))
}

/** True if the run is not valid without a setting, and the program cannot choose its value beside the others. */
export const isClosed = (valid: Valid, name: string, text: Parameters): boolean =>
  (valid.closed?.has(name) ?? false) && toAuto(name, text)[name] === undefined
