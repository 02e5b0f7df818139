// Settings as `name=value`, and which control a value gets: from the program's description of a key and the values that it lists as valid.
// Pure. Holds no rule of validity.
import type { Key } from '../api/answers'
import { unitsOf } from './amounts'

/** A name with its value as text; a value that is not chosen yet is empty. */
export type Pair = readonly [name: string, value: string]

/** What a value is chosen with. */
export type Control =
  | { readonly is: 'choice'; readonly options: readonly string[] }
  | { readonly is: 'form'; readonly forms: readonly Form[] }
  | { readonly is: 'number'; readonly whole: boolean }
  | { readonly is: 'quantity'; readonly units: readonly string[] }
  | { readonly is: 'numbers' }
  | { readonly is: 'share' }
  | { readonly is: 'text' }

/** A word, with a number behind it where the program's example has one: `hsdp:8`. */
export interface Form {
  readonly head: string
  readonly hasNumber: boolean
}

/** More values than these are not worth a list; a number field takes them. */
const MOST = 400

type Described = Pick<Key, 'kind'> & { readonly choices?: readonly string[] }

export function controlOf(key: Described, valid: readonly string[] = []): Control {
  const choices = key.choices ?? []
  switch (key.kind) {
    case 'flag':
      return { is: 'choice', options: ['true', 'false'] }
    case 'choice':
      return { is: 'choice', options: valid.length > 0 ? valid : choices }
    case 'form':
      return { is: 'form', forms: formsOf([...valid, ...choices]) }
    case 'count':
    case 'number':
      if (valid.length > 0 && valid.length <= MOST) return { is: 'choice', options: valid }
      return { is: 'number', whole: key.kind === 'count' }
    case 'quantity':
    case 'amount':
      return { is: 'quantity', units: unitsOf(choices) }
    case 'counts':
      return { is: 'numbers' }
    default:
      return { is: 'text' }
  }
}

/** Words of a form; examples that differ in their number alone are one. */
function formsOf(examples: readonly string[]): readonly Form[] {
  const found = new Map<string, Form>()
  for (const text of examples) {
    const [, head] = /^(|.*:)\d+$/.exec(text) ?? []
    if (head === undefined) found.set(text, { head: text, hasNumber: false })
    else found.set(`${head}#`, { head, hasNumber: true })
  }
  return [...found.values()]
}

/** The form of a value and its number; null for a value of no known form. */
export function formOf(value: string, forms: readonly Form[]): { readonly form: Form; readonly number: string } | null {
  const whole = forms.find((form) => !form.hasNumber && form.head === value)
  if (whole) return { form: whole, number: '' }
  const numbered = forms.filter((form) => form.hasNumber && value.startsWith(form.head) && /^\d*$/.test(value.slice(form.head.length)))
  const longest = numbered.sort((a, b) => b.head.length - a.head.length)[0]
  return longest && value !== '' ? { form: longest, number: value.slice(longest.head.length) } : null
}

/** How a number changes: to a value, by a factor, by a percentage. */
export type Operator = '=' | 'x' | '%'

/** `x2`, `+10%` and `800 Gbit/s` to what they do and by how much. */
export function changeOf(text: string): { readonly operator: Operator; readonly value: string } {
  const times = /^x(.*)$/i.exec(text.trim())
  if (times) return { operator: 'x', value: times[1] ?? '' }
  const percent = /^([+-][\d.]*)%$/.exec(text.trim())
  if (percent) return { operator: '%', value: (percent[1] ?? '').replace('+', '') }
  return { operator: '=', value: text }
}

export function changeText(operator: Operator, value: string): string {
  if (value === '') return ''
  if (operator === 'x') return `x${value}`
  if (operator === '%') return `${Number(value) < 0 ? '' : '+'}${value}%`
  return value
}

/** `tp=8,recompute=selective:a,b` to its settings: a comma before a name separates, any other belongs to the value. */
export function pairsOf(text: string, separator: ',' | ' ' = ','): readonly Pair[] {
  const pieces = separator === ' ' ? text.split(/\s+(?=[^\s=]+=)/) : text.split(/,(?=\s*[\w.-]+=)/)
  return pieces
    .map((piece) => piece.trim())
    .filter(Boolean)
    .map((piece) => {
      const at = piece.indexOf('=')
      return at < 0 ? ([piece, ''] as const) : ([piece.slice(0, at), piece.slice(at + 1)] as const)
    })
}

export function pairsText(pairs: readonly Pair[], separator: ',' | ' ' = ','): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join(separator)
}

/** Only what has a value: what a question takes. */
export const chosenPairs = (pairs: readonly Pair[]): readonly Pair[] => pairs.filter(([, value]) => value !== '')
