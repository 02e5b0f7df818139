// Shows the messages of state/toasts.
import { dismiss, toasts } from '../state/toasts'
import { Ticked } from './states'
import * as texts from '../words/ui'

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.id} class={`toast ${one.kind}`}>
          <p>
            <Ticked text={one.text} />
            {one.hint && (
              <span class="hint">
                <Ticked text={one.hint} />
              </span>
            )}
          </p>
          {one.action && (
            <button type="button" class="button" onClick={() => (dismiss(one.id), one.action?.run())}>
              {one.action.title}
            </button>
          )}
          <button type="button" class="button quiet icon" aria-label={texts.dismiss} onClick={() => dismiss(one.id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
