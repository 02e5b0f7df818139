// All active keys, by group.
import { keyMap } from '../state/keys'
import { Dialog } from './dialog'
import * as texts from '../words/ui'

export function KeyOverlay(props: { close: () => void }) {
  const names = [...new Set(keyMap.value.map((binding) => binding.group))]
  return (
    <Dialog title={texts.keys} close={props.close}>
      <div class="key-groups">
        {names.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <ul>
              {keyMap.value
                .filter((binding) => binding.group === group)
                .map((binding) => (
                  <li key={binding.keys}>
                    <span>{binding.title}</span>
                    <span>
                      {binding.keys.split(' ').map((key) => (
                        <kbd key={key}>{READABLE[key] ?? key}</kbd>
                      ))}
                    </span>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

const READABLE: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
}
