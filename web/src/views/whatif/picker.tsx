// Which changes are compared: presets, a change composed of settings, chips of what was chosen.
import { Composer } from './composer'
import { PRESETS, changes, setChanges, titleOf, toggle } from './changes'
import { RemoveButton } from '../../ui/remove'
import * as texts from '../../words/whatif'

export function Picker() {
  const chosen = changes()
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
              title={preset.change}
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
