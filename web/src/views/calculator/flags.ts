// From keys of a run file to flags of the command line. Pure.
import type { Key } from '../../api/answers'
import { normalise } from '../../state/run'

/** A key's flag, as the command line names it: sections of the plan fall away, dots and underscores are dashes. */
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
