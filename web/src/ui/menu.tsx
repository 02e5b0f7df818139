// A button with a menu: arrows move, Enter selects, Escape and Tab close.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export interface MenuItem {
  readonly title: string
  readonly note?: string
  readonly run: () => void
}

export function Menu(props: {
  label: string
  items: readonly MenuItem[]
  class?: string
  align?: 'left' | 'right'
  children: ComponentChildren
}) {
  const [open, setOpen] = useState(false)
  const holder = useRef<HTMLSpanElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!open) return
    holder.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    const outside = (event: MouseEvent) => {
      if (!holder.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('mousedown', outside)
    return () => document.removeEventListener('mousedown', outside)
  }, [open])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return
    const items = [...(holder.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
    const at = items.indexOf(document.activeElement as HTMLElement)
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) items[(at + step + items.length) % items.length]?.focus()
    else if (event.key === 'Escape') close()
    else if (event.key === 'Tab') setOpen(false)
    else return
    if (event.key !== 'Tab') {
      event.preventDefault()
      event.stopPropagation()
    }
  }
  return (
    <span class="menu-holder" ref={holder} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        class={props.class ?? 'button quiet icon'}
        aria-label={props.label}
        title={props.label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {props.children}
      </button>
      {open && (
        <div class="menu" role="menu" aria-label={props.label} style={{ top: '100%', [props.align === 'left' ? 'left' : 'right']: 0 }}>
          {props.items.map((item) => (
            <button
              key={item.title}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close()
                item.run()
              }}
            >
              <span>{item.title}</span>
              {item.note && <span class="muted">{item.note}</span>}
            </button>
          ))}
        </div>
      )}
    </span>
  )
}
