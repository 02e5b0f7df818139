// A modal dialog: keeps the focus inside; Escape and a click outside close it; the focus then returns to its previous element.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { focusHeading } from './focus'
import * as texts from '../words/ui'

export function Dialog(props: { title: string; close: () => void; wide?: boolean; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  // Read before anything is drawn, because the opener may disappear immediately, such as a menu item.
  const before = useRef(document.activeElement).current
  useEffect(() => {
    box.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus()
      else focusHeading()
    }
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      props.close()
    }
    if (event.key === 'Tab') keepInside(event, box.current)
  }
  return (
    <div class="overlay" onMouseDown={(event) => event.target === event.currentTarget && props.close()}>
      <div
        ref={box}
        class="dialog"
        role="dialog"
        aria-modal="true"
        aria-label={props.title}
        tabIndex={-1}
        style={props.wide ? { width: 'min(1100px, 100%)' } : {}}
        onKeyDown={onKeyDown}
      >
        <div class="dialog-head">
          <h2>{props.title}</h2>
          <button type="button" class="button quiet icon" aria-label={texts.close} onClick={props.close}>
            ✕
          </button>
        </div>
        <div class="content">{props.children}</div>
      </div>
    </div>
  )
}

function keepInside(event: KeyboardEvent, box: HTMLElement | null): void {
  const inside = [...(box?.querySelectorAll<HTMLElement>('a[href], button:not(:disabled), input, select, textarea, [tabindex="0"]') ?? [])]
  const first = inside[0]
  const last = inside[inside.length - 1]
  if (!first || !last) return
  if (event.shiftKey && (document.activeElement === first || document.activeElement === box)) {
    event.preventDefault()
    last.focus()
  } else if (!event.shiftKey && document.activeElement === last) {
    event.preventDefault()
    first.focus()
  }
}
