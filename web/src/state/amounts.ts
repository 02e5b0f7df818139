// Numbers with a unit as the address and the command line write them, and as a field shows them. Pure.
// Refuses to guess: a text that a unit does not read stays as it is, and the field shows it whole.

/** How a number is written, and the unit beside its field. */
export interface Unit {
  /** Behind the field. */
  readonly sign: string
  /** The number of a text, or null for a text of another form. */
  readonly read: (text: string) => number | null
  readonly write: (value: number) => string
  readonly least?: number
  readonly most?: number
  /** Whole numbers only. */
  readonly whole?: boolean
}

const number = (text: string): number | null => (/^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text.trim()) : null)

/** A number without noise of binary fractions. */
export const plain = (value: number): string => String(Number(value.toPrecision(9)))

export const COUNT: Unit = {
  sign: '',
  read: (text) => (/^\d+$/.test(text.trim()) ? Number(text.trim()) : null),
  write: plain,
  least: 1,
  whole: true,
}

/** A part's number: those of the program begin at 0. */
export const NUMBER_FROM_0: Unit = { ...COUNT, least: 0 }

export const NUMBER: Unit = { sign: '', read: number, write: plain }

export const RATIO: Unit = { sign: ':1', read: number, write: plain, least: 1 }

export const DOLLARS: Unit = { sign: '$', read: (text) => number(text.trim().replace(/^\$/, '')), write: plain, least: 0 }

/** Bandwidth in bits, from any of the forms that the program reads. */
export const GIGABITS: Unit = {
  sign: 'Gbit/s',
  read: (text) => {
    const found = /^([\d.]+)\s*(G|T|Gbit\/s|Gbps|Tbit\/s|GB\/s)$/i.exec(text.trim())
    const value = found && number(found[1] ?? '')
    if (!found || value === null) return null
    const factor = /^T/i.test(found[2] ?? '') ? 1000 : found[2] === 'GB/s' ? 8 : 1
    return Number((value * factor).toPrecision(9))
  },
  write: (value) => `${plain(value)}G`,
  least: 0,
}

/** A share, which the program reads from 0 to 1. */
export const PERCENT: Unit = {
  sign: '%',
  read: (text) => {
    const value = number(text)
    return value === null || value > 1 ? null : Number((value * 100).toPrecision(9))
  },
  write: (value) => plain(value / 100),
  least: 0,
  most: 100,
}

/** Days, from days or hours. */
export const DAYS: Unit = {
  sign: 'days',
  read: (text) => {
    const found = /^([\d.]+)\s*(d|days?|h|hours?)$/i.exec(text.trim())
    const value = found && number(found[1] ?? '')
    return found && value !== null ? Number((/^h/i.test(found[2] ?? '') ? value / 24 : value).toPrecision(9)) : null
  },
  write: (value) => `${plain(value)}d`,
  least: 0,
}

/** Dollars in millions, from any of the forms that the program reads. */
export const MILLIONS: Unit = {
  sign: 'M$',
  read: (text) => {
    const found = /^\$?([\d.]+)\s*([KMB]?)$/i.exec(text.trim())
    const value = found && number(found[1] ?? '')
    const factor = { '': 1e-6, K: 1e-3, M: 1, B: 1e3 }[(found?.[2] ?? '').toUpperCase()]
    return found && value !== null && factor !== undefined ? Number((value * factor).toPrecision(9)) : null
  },
  write: (value) => `${plain(value)}M`,
  least: 0,
}

/** Numbers with a unit of the program's own examples (`400 Gbit/s`, `14.8T`): the units that a field offers. */
export function unitsOf(examples: readonly string[]): readonly string[] {
  return [...new Set(examples.map((text) => /^[\d.]+\s*(\D+)$/.exec(text)?.[1]?.trim()).filter((unit) => unit !== undefined))]
}

/** `400 Gbit/s` to its number and unit; null for a text of another form. */
export function quantityOf(text: string): { readonly value: number; readonly unit: string } | null {
  const found = /^([\d.]+)\s*([A-Za-z/µ]*)$/.exec(text.trim())
  const value = found && number(found[1] ?? '')
  return found && value !== null ? { value, unit: found[2] ?? '' } : null
}

/** Texts of a list with commas. */
export const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
