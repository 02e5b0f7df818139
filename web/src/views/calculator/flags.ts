// From keys of a run file to flags of the command line. Pure.
import type { Key } from '../../api/answers'
import { normalise } from '../../state/run'

/** Flag of a key: without the sections of the plan, with dashes instead of dots and underscores. */
export function flagOf(key: Pick<Key, 'section' | 'name'>): string {
  const name = key.name.replace(/[._]/g, '-')
  const flag =
    key.section === 'cluster'
      ? (({ preset: 'cluster', name: 'cluster-name', source: 'cluster-source' } as Record<string, string>)[key.name] ?? name)
      : key.section === 'model'
        ? (({ name: 'model', config: 'model' } as Record<string, string>)[key.name] ?? name)
        : name === 'precision-preset'
          ? 'precision'
          : name
  return Object.keys(normalise({ [flag]: '1' }))[0] ?? flag
}
