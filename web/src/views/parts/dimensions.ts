// The dimensions of a search, each with the values that are valid with the run. The program lists both.
import type { Key, ValidValues } from '../../api/answers'
import type { Arguments } from '../../api/ask'
import { useAnswer, useListed } from '../../api/live'
import { type Valid, numbersOf, validOf, valuesQuestion } from '../../state/valid'
import { flagOf } from '../calculator/flags'
import { canonicalName } from './strategy'

export interface Dimension {
  readonly flag: string
  readonly title: string
  readonly about: string
  readonly values: readonly string[]
  readonly key: Key
}

/** All keys of a run file; empty until the program has listed them. */
export const useKeyList = (): readonly Key[] => useListed<{ keys: readonly Key[] }, readonly Key[]>('keys', ({ keys }) => keys, [])

/** Valid values of a run's settings. */
export function useValid(run: Arguments | null): Valid {
  const { answer } = useAnswer<ValidValues>('values', valuesQuestion(run))
  return validOf(answer)
}

/** The dimensions of a search, with the values that are valid while the rest of the run stays. */
export function useDimensions(run: Arguments | null): readonly Dimension[] {
  const keys = useKeyList()
  const valid = useValid(run)
  return keys
    .filter((key) => key.section === 'plan' && key.is_searched)
    .map((key) => {
      const flag = canonicalName(flagOf(key))
      const about = key.doc.trim()
      const title = about.replace(/^([^:.(]*).*$/s, '$1').trim() || flag
      const numbers = key.kind === 'count' ? numbersOf(valid, flag).map(String) : (valid.get(flag) ?? [])
      return { flag, title, about, key, values: numbers.length > 0 ? numbers : wordsOf(key) }
    })
}

/** Words of a key; of forms with numbers or lists in them only the plain ones. */
function wordsOf(key: Key): readonly string[] {
  if (key.kind === 'flag') return ['false', 'true']
  return 'choices' in key ? key.choices.filter((choice) => !/[:,\d]/.test(choice) || key.kind === 'choice') : []
}
