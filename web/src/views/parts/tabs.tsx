// A row of tabs over one panel, by mouse and by arrow keys. Responsible for: roles, focus, and scrolling the open tab into view on a phone.
// The URL of the view has the open tab.
import { useEffect, useRef } from 'preact/hooks'
import { useMoreBeyond } from '../../ui/more-beyond'
import './tabs.css'

interface Props {
  /** Label of the tabs for screen readers. */
  readonly label: string
  readonly tabs: readonly { readonly id: string; readonly title: string }[]
  readonly shown: string
  /** Identifiers of tabs are `PREFIX-ID`. */
  readonly prefix: string
  /** Identifier of the panel. */
  readonly panel: string
  readonly open: (id: string) => void
}

export function Tabs({ label, tabs, shown, prefix, panel, open }: Props) {
  const row = useRef<HTMLDivElement>(null)
  useMoreBeyond(row)
  const place = tabs.findIndex((one) => one.id === shown)
  const element = (id: string) => document.getElementById(`${prefix}-${id}`)
  // On a phone only some tabs are visible: the open one is scrolled into view.
  useEffect(() => element(shown)?.scrollIntoView({ block: 'nearest', inline: 'center' }), [shown])
  return (
    <div class="view-tabs" role="tablist" aria-label={label} ref={row}>
      {tabs.map((one) => (
        <button
          key={one.id}
          id={`${prefix}-${one.id}`}
          type="button"
          role="tab"
          aria-selected={one.id === shown}
          aria-controls={panel}
          tabIndex={one.id === shown ? 0 : -1}
          onClick={() => open(one.id)}
          onKeyDown={(event) => {
            const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
            if (by === 0) return
            event.preventDefault()
            const next = tabs[(place + by + tabs.length) % tabs.length]!
            open(next.id)
            requestAnimationFrame(() => element(next.id)?.focus())
          }}
        >
          {one.title}
        </button>
      ))}
    </div>
  )
}
