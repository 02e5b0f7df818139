// Valid values of each setting given the others, as listed by the program. Contains no rules.
import type { ValidValues } from '../api/answers'
import { type Arguments, withoutKeys } from '../api/ask'

/** Valid values by flag, as typed. `closed` are the flags without which the run is not valid. */
export type Valid = ReadonlyMap<string, readonly string[]> & { readonly closed?: ReadonlySet<string> }

export const NONE: Valid = new Map()

/** Settings that only `estimate` takes. */
export const ESTIMATE_ONLY: readonly string[] = ['tokens', 'availability', 'why']

/** Settings without effect on the validity of a plan; with them, equal questions would differ. */
const NO_SAY = [...ESTIMATE_ONLY, 'price-per-device-hour', 'electricity-price', 'power-share']

/** Question for the valid values of a run; null if the model or the cluster is missing. */
export function valuesQuestion(values: Arguments | null): Arguments | null {
  if (!values) return null
  const known = values.run ?? values.launch ?? (values.model && (values.cluster ?? values.accelerator))
  return known ? withoutKeys(values, NO_SAY) : null
}

export function validOf(answer: Pick<ValidValues, 'values'> | null): Valid {
  if (!answer) return NONE
  const listed = answer.values.filter((one) => one.flag !== null)
  return Object.assign(new Map(listed.map((one) => [one.flag!, one.values] as const)), {
    closed: new Set(listed.filter((one) => !one.open).map((one) => one.flag!)),
  })
}

/** Tests whether the program lists values of a setting without this one. */
export function isRefused(valid: Valid, flag: string, value: string): boolean {
  const listed = valid.get(flag)
  return listed !== undefined && !listed.includes(value)
}

/** Valid values with those of some flags from another answer, where that has any. */
export function validWith(valid: Valid, other: Valid, flags: readonly string[]): Valid {
  const replaced = flags.flatMap((flag) => (other.has(flag) ? [[flag, other.get(flag) ?? []] as const] : []))
  if (replaced.length === 0) return valid
  const of = (flag: string) => (flags.includes(flag) && other.has(flag) ? other : valid).closed?.has(flag)
  return Object.assign(new Map([...valid, ...replaced]), { closed: new Set([...valid.keys(), ...other.keys()].filter(of)) })
}

/** Valid numbers of a setting, ascending; empty if the program lists none. */
export function numbersOf(valid: Valid, flag: string): readonly number[] {
  return (valid.get(flag) ?? []).map(Number).sort((a, b) => a - b)
}

/** Nearest valid values below and above. */
export function nearest(values: readonly number[], wanted: number): number[] {
  const below = values.filter((value) => value < wanted).at(-1)
  const above = values.find((value) => value > wanted)
  return [below, above].filter((value): value is number => value !== undefined)
}
