// Topologies and the keys of a design, as the program lists them.
// Responsible for: one question for the list, and the keys that a topology takes as settings. Refuses to hold a key of its own.
import type { Key } from '../../api/answers'
import { useListed } from '../../api/live'
import { controlOf } from '../../state/settings'
import type { Setting } from '../../ui/settings'
import type { TopologiesAnswer } from './answer'

type Listed = Pick<TopologiesAnswer, 'topologies' | 'keys'>

const NONE: Listed = { topologies: [], keys: [] }

/** Without the list the view shows the settings of the URL. */
export const useTopologies = (): Listed => useListed<TopologiesAnswer, Listed>('network/topologies', (answer) => answer, NONE)

/** A key's name with underscores: flags have dashes. */
export const keyName = (name: string): string => name.replaceAll('-', '_')

/** The keys that these topologies take, without those that have a field of their own. */
export function settingsOf({ topologies, keys }: Listed, kinds: readonly string[], withField: readonly string[]): readonly Setting[] {
  const own = new Set([...withField.map(keyName), 'kind', 'name'])
  const takes = (name: string) => topologies.some((one) => kinds.includes(one.kind) && one.keys.includes(name))
  return keys
    .filter((key) => !own.has(key.name) && takes(key.name))
    .map((key) => ({
      name: key.name,
      title: key.name.replaceAll('_', ' '),
      about: key.doc.trim(),
      auto: key.default,
      control: controlOf(key as Key),
    }))
}

/** The choices of one key, such as the ways of routing. */
export function choicesOf({ keys }: Listed, name: string): readonly string[] {
  const key = keys.find((one) => one.name === name)
  return key && 'choices' in key && key.choices ? key.choices : []
}
