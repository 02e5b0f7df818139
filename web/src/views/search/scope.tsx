// What is searched, what is best, and the button that starts it.
import { useKeys } from '../../state/keys'
import { RunBar } from '../parts/run-bar'
import { Choice, Switch, Text, set } from '../parts/controls'
import { PREFIX, type Scope, keepable } from './question'

const OBJECTIVES = [
  ['time', 'shortest step'],
  ['cost', 'cheapest token'],
  ['gpus', 'fewest GPUs'],
  ['memory', 'least memory'],
] as const

export function ScopePanel({ scope, ready, running, onStart }: { scope: Scope; ready: boolean; running: boolean; onStart: () => void }) {
  const kept = Object.entries(keepable())
  useKeys([{ keys: 'r', title: 'Start the search', group: 'Search', run: () => (ready ? onStart() : false) }], [ready, onStart])
  const keep = (name: string, on: boolean) =>
    set(PREFIX, 'keep', (on ? [...scope.kept, name] : scope.kept.filter((one) => one !== name)).join(','))
  return (
    <section class="panel scope" aria-label="Scope">
      <RunBar />
      <form
        class="entries"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) onStart()
        }}
      >
        <Choice
          title="Objective"
          value={scope.objective}
          options={OBJECTIVES}
          onChange={(value) => set(PREFIX, 'objective', value === 'time' ? undefined : value)}
        />
        <Text
          title="GPUs to compare"
          placeholder="as above"
          about="Several numbers with commas put all into one table: 512,1024,2048"
          value={scope.gpus}
          onChange={(value) => set(PREFIX, 'gpus', value)}
        />
        <Text
          title="Clusters to compare"
          placeholder="as above"
          about="Several names with commas: dgx-h100,dgx-b200"
          value={scope.clusters}
          onChange={(value) => set(PREFIX, 'clusters', value)}
        />
        <Text
          title="Narrow to"
          wide
          placeholder="tp=2..8 recompute=none,full"
          about="Dimensions with the values that may be tried, separated by spaces"
          value={scope.space.join(' ')}
          onChange={(value) => set(PREFIX, 'space', value)}
        />
        <Text
          title="Least fit probability"
          placeholder="0.9"
          about="Least probability that a layout fits in memory"
          value={scope.fit}
          onChange={(value) => set(PREFIX, 'fit', value)}
        />
        <Switch
          title="Ignore software limits"
          about="Also what the software generation does not ship, as far as it can be priced"
          on={scope.unlimited}
          onChange={(on) => set(PREFIX, 'unlimited', on ? 'true' : undefined)}
        />
        <button type="submit" class="button primary push" disabled={!ready || running}>
          {running ? 'Searching' : 'Search'} <kbd>r</kbd>
        </button>
      </form>
      {kept.length > 0 && (
        <div class="entries" role="group" aria-label="Keep from the calculator">
          <span class="muted">Keep from the calculator:</span>
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
