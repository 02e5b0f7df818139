// Scope of the search, its objective, and the button that starts it.
import { useKeys } from '../../state/keys'
import { COUNT, PERCENT } from '../../state/amounts'
import { Amount, Amounts } from '../../ui/amounts'
import { RunBar, useCatalogue } from '../parts/run-bar'
import { Several } from '../parts/several'
import { Choice, Switch, set } from '../parts/controls'
import { Narrow } from '../parts/narrow'
import { PREFIX, type Scope, keepable, searchedRun } from './question'
import * as texts from '../../words/search'

const OBJECTIVES = [
  ['time', texts.shortestStep],
  ['cost', texts.cheapestToken],
  ['gpus', texts.fewestGpus],
  ['memory', texts.leastMemory],
] as const

export function ScopePanel({ scope, ready, running, onStart }: { scope: Scope; ready: boolean; running: boolean; onStart: () => void }) {
  const kept = Object.entries(keepable())
  const clusters = useCatalogue().clusters.map((name) => [name, name] as const)
  useKeys([{ keys: 'r', title: texts.startTheSearch, group: 'Search', run: () => (ready ? onStart() : false) }], [ready, onStart])
  const keep = (name: string, on: boolean) =>
    set(PREFIX, 'keep', (on ? [...scope.kept, name] : scope.kept.filter((one) => one !== name)).join(','))
  return (
    <section class="panel scope" aria-label={texts.scope}>
      <RunBar />
      <form
        class="entries"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) onStart()
        }}
      >
        <Choice
          title={texts.objective}
          value={scope.objective}
          options={OBJECTIVES}
          onChange={(value) => set(PREFIX, 'objective', value === 'time' ? undefined : value)}
        />
        <Amounts
          title={texts.gpusToCompare}
          about={texts.severalNumbersWithCommasPut}
          auto={texts.asAbove}
          unit={COUNT}
          value={scope.gpus}
          onChange={(value) => set(PREFIX, 'gpus', value)}
        />
        <Several
          title={texts.clustersToCompare}
          placeholder={texts.asAbove}
          about={texts.severalNamesWithCommasDgx}
          value={scope.clusters}
          options={clusters}
          free
          onChange={(value) => set(PREFIX, 'clusters', value)}
        />
        <Narrow
          title={texts.narrowTo}
          value={scope.space}
          onChange={(value) => set(PREFIX, 'space', value)}
          run={searchedRun(scope)}
          fixed={scope.kept}
        />
        <Amount
          title={texts.leastFitProbability}
          about={texts.leastProbabilityThatALayout}
          auto="0.9"
          unit={PERCENT}
          value={scope.fit}
          onChange={(value) => set(PREFIX, 'fit', value)}
        />
        <Switch
          title={texts.ignoreSoftwareLimits}
          about={texts.alsoWhatTheSoftwareGeneration}
          on={scope.unlimited}
          onChange={(on) => set(PREFIX, 'unlimited', on ? 'true' : undefined)}
        />
        <button type="submit" class="button primary push" disabled={!ready || running}>
          {running ? 'Searching' : 'Search'} <kbd>r</kbd>
        </button>
      </form>
      {kept.length > 0 && (
        <div class="entries" role="group" aria-label={texts.keepFromTheCalculator2}>
          <span class="muted">{texts.keepFromTheCalculator}</span>
          {kept.map(([name, value]) => (
            <Switch
              key={name}
              title={value === 'true' ? name : `${name} ${value}`}
              on={scope.kept.includes(name)}
              onChange={(on) => keep(name, on)}
            />
          ))}
        </div>
      )}
    </section>
  )
}
