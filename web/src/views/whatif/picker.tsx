// Which changes are compared: presets that are valid with the run, a change composed of settings, chips of what was chosen.
import { Composer } from './composer'
import { run } from '../../state/run'
import { isRefused } from '../../state/valid'
import { RemoveButton } from '../../ui/remove'
import { useValid } from '../parts/dimensions'
import { PRESETS, changes, flagOf, setChanges, titleOf, toggle } from './changes'
import * as texts from '../../words/whatif'

export function Picker() {
  const chosen = changes()
  const valid = useValid(run.value)
  /** A preset with a value that the program does not list for this run. */
  const isOut = (change: string) => {
    const [key = '', value = ''] = change.split('=')
    return isRefused(valid, flagOf(key), value)
  }
  return (
    <div class="picker">
      {PRESETS.map((group) => (
        <div key={group.group} class="entries" role="group" aria-label={group.group}>
          <span class="muted group">{group.group}</span>
          {group.presets.map((preset) => (
            <button
              key={preset.change}
              type="button"
              class="pick"
              aria-pressed={chosen.includes(preset.change)}
              title={isOut(preset.change) ? texts.notValidWithTheRun(preset.change) : preset.change}
              disabled={isOut(preset.change) && !chosen.includes(preset.change)}
              onClick={() => toggle(preset.change)}
            >
              {preset.title}
            </button>
          ))}
        </div>
      ))}
      <div class="entries">
        <Composer />
        {chosen.length > 0 && (
          <button type="button" class="button quiet" onClick={() => setChanges([])}>
            {texts.clearAll}
          </button>
        )}
      </div>
      {chosen.length > 0 && (
        <ul class="picks" aria-label={texts.changes}>
          {chosen.map((one) => (
            <li key={one}>
              <span title={one}>{titleOf(one)}</span>
              <RemoveButton label={texts.remove(one)} onClick={() => toggle(one)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
