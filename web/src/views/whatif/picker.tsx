// Choice of changes: presets, any key of a run file, chips of the chosen ones.
import { useEffect, useState } from 'preact/hooks'
import { askOnce } from '../../api/live'
import { Text } from '../parts/controls'
import { PRESETS, changes, setChanges, toggle } from './changes'
import * as texts from '../../words/whatif'

interface Keys {
  readonly keys: readonly { readonly section: string; readonly name: string }[]
}

export function Picker() {
  const chosen = changes()
  const known = useKeys()
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
        <Text
          title={texts.anyOtherChange}
          wide
          placeholder={texts.tp4Pp8Or}
          about={texts.keyValueJoinKeysThat}
          value=""
          list={known}
          onChange={(text) => text && setChanges([...changes(), text])}
        />
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
              <code>{one}</code>
              <button type="button" class="button quiet icon" aria-label={texts.remove(one)} onClick={() => toggle(one)}>
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function useKeys(): readonly string[] {
  const [known, setKnown] = useState<readonly string[]>([])
  useEffect(() => {
    let here = true
    askOnce<Keys>('keys').then(
      ({ answer }) => here && setKnown(answer.keys.map((one) => `${one.section}.${one.name}=`)),
      () => undefined,
    )
    return () => {
      here = false
    }
  }, [])
  return known
}
