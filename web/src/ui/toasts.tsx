// Shows the messages of state/toasts.
import { useEffect } from 'preact/hooks'
import { dismiss, toasts } from '../state/toasts'
import { Folded, Ticked } from './states'
import * as texts from '../words/ui'

/** Number of letters from which a message may scroll, so that the keyboard must reach it. */
const LONG = 400

export function Toasts() {
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      const newest = toasts.value.at(-1)
      if (event.key === 'Escape' && !event.defaultPrevented && newest && !document.querySelector('dialog[open]')) dismiss(newest.id)
    }
    window.addEventListener('keydown', close)
    return () => window.removeEventListener('keydown', close)
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.id} class={`toast ${one.kind}`}>
          <p tabIndex={one.text.length + (one.hint?.length ?? 0) > LONG ? 0 : undefined}>
            <Ticked text={one.text} />
            {one.hint && (
              <span class="hint">
                <Folded text={one.hint} />
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
