// A change of one or several settings, composed by controls: names and values are those that the program lists.
import { useState } from 'preact/hooks'
import { run } from '../../state/run'
import { type Pair, chosenPairs, controlOf, pairsText } from '../../state/settings'
import { type Setting, Settings } from '../../ui/settings'
import { flagOf } from '../calculator/flags'
import { useKeyList, useValid } from '../parts/dimensions'
import { useCatalogue } from '../parts/run-bar'
import { SLOW, changes, setChanges } from './changes'
import * as texts from '../../words/whatif'

export function Composer() {
  const [pairs, setPairs] = useState<readonly Pair[]>([])
  const options = useChangeable()
  const chosen = chosenPairs(pairs)
  const add = () => {
    setChanges([...changes(), pairsText(chosen)])
    setPairs([])
  }
  return (
    <div class="settings" role="group" aria-label={texts.anyOtherChange}>
      <Settings
        title={texts.anyOtherChange}
        about={texts.settingsOfOneChange}
        add={pairs.length > 0 ? texts.andASetting : texts.chooseASetting}
        pairs={pairs}
        options={options}
        onChange={setPairs}
        relative
      />
      {pairs.length > 0 && (
        <button type="button" class="button" disabled={chosen.length === 0} onClick={add}>
          {texts.compareIt}
        </button>
      )}
    </div>
  )
}

/** What a change may name: model and cluster by the catalogue, keys of a run file, and parts that run slowly. */
function useChangeable(): readonly Setting[] {
  const keys = useKeyList()
  const valid = useValid(run.value)
  const { models, clusters } = useCatalogue()
  const whole: readonly Setting[] = [
    { name: 'cluster', title: texts.cluster2, group: texts.machine, control: { is: 'choice', options: clusters } },
    { name: 'model', title: texts.model2, group: texts.machine, control: { is: 'choice', options: models } },
  ]
  const slow = SLOW.map(
    ({ name, title }): Setting => ({ name, title, about: texts.shareOfItsRate, group: texts.slowParts, control: { is: 'share' } }),
  )
  const listed = keys
    .filter((key) => !NAMED.has(`${key.section}.${key.name}`))
    .map(
      (key): Setting => ({
        name: `${key.section}.${key.name}`,
        title: key.name.replaceAll(/[._]/g, ' '),
        about: key.doc.trim(),
        group: key.section,
        auto: key.default,
        control: controlOf(key, valid.get(flagOf(key))),
      }),
    )
  return [...whole, ...listed, ...slow]
}

/** Keys that the catalogue's names stand for. */
const NAMED = new Set(['cluster.preset', 'cluster.name', 'cluster.source', 'model.name', 'model.config'])
