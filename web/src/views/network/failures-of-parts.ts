// Failed parts as the address keeps them, `nic:3 leaf:0 link:leaf-spine:5`, and the parts that a design has. Pure.
import type { ShowAnswer } from './answer'
import { layerName } from './names'
import * as texts from '../../words/network'

/** A kind of part by the name that the program reads before the number. */
export interface PartKind {
  readonly name: string
  readonly title: string
  readonly count: number
}

/** A failed part; a number that is not chosen yet is empty. */
export interface Failed {
  readonly kind: string
  readonly number: string
}

export const partsOf = (text: string): readonly Failed[] =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((part) => {
      // `leaf#0` is what failures of a design are written as.
      const at = Math.max(part.lastIndexOf(':'), part.lastIndexOf('#'))
      return at < 0 ? { kind: part, number: '' } : { kind: part.slice(0, at), number: part.slice(at + 1) }
    })

export const textOf = (parts: readonly Failed[]): string => parts.map((part) => `${part.kind}:${part.number}`).join(' ')

/** What the question takes: parts with a number. */
export const failures = (text: string): readonly string[] =>
  partsOf(text)
    .filter((part) => part.number !== '')
    .map((part) => `${part.kind}:${part.number}`)

/** The parts of a design that can fail, from the program's counts. */
export function kindsOf({ counts }: Pick<ShowAnswer, 'counts'>): readonly PartKind[] {
  return [
    { name: 'nic', title: texts.nic, count: counts.nics },
    ...counts.tiers.map((tier) => ({ name: tier.name, title: tier.name, count: tier.switches })),
    ...counts.layers.map((one) => ({
      name: `link:${one.layer.replaceAll('_', '-')}`,
      title: texts.linkOf(layerName(one.layer)),
      count: one.links,
    })),
  ].filter((one) => one.count > 0)
}

/** The first number of a kind that has not failed yet. */
export function free(kind: string, rows: readonly Failed[]): string {
  const taken = new Set(rows.filter((row) => row.kind === kind).map((row) => row.number))
  let number = 0
  while (taken.has(String(number))) number += 1
  return String(number)
}
