// A list with search by typing: arrows move, Enter selects, Escape cancels.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import * as texts from '../words/ui'

export interface Option {
  readonly value: string
  readonly title: string
  readonly note?: string
  readonly group?: string
  /** Further search terms. */
  readonly words?: string
}

interface Props {
  readonly label: string
  readonly value: string
  readonly options: readonly Option[]
  readonly onChoose: (value: string) => void
  readonly placeholder?: string
  readonly disabled?: boolean
  /** Offers the typed text itself, for paths and free text. */
  readonly free?: (text: string) => Option | null
}

export function Combobox(props: Props) {
  const id = useId()
  const [text, showText] = useState<string | null>(null)
  // The typed text before it is shown: keys may be faster than rendering.
  const latest = useRef<string | null>(null)
  const setText = (next: string | null) => {
    latest.current = next
    showText(next)
  }
  const [active, setActive] = useState(0)
  const holder = useRef<HTMLSpanElement>(null)
  const open = text !== null
  const matching = (text: string) => {
    const typed = text.toLowerCase().split(/\s+/).filter(Boolean)
    const matches = props.options.filter((option) => {
      const all = `${option.title} ${option.value} ${option.group ?? ''} ${option.note ?? ''} ${option.words ?? ''}`.toLowerCase()
      return typed.every((word) => all.includes(word))
    })
    const free = text ? props.free?.(text) : null
    return free ? [...matches, free] : matches
  }
  const found = useMemo(() => matching(text ?? ''), [text, props.options])
  const current = props.options.find((option) => option.value === props.value)
  const [place, setPlace] = useState<Place | null>(null)
  useLayoutEffect(() => {
    if (!open) return
    setPlace(placeOf(holder.current))
    // The list has a fixed position, so it follows its field: new results above it move the page while it is open. It closes with the field
    // out of sight.
    const moved = (event: Event) => {
      const list = holder.current?.querySelector('.listbox')
      if (event.target instanceof Node && list?.contains(event.target)) return
      const box = holder.current?.getBoundingClientRect()
      if (!box || box.bottom < 0 || box.top > window.innerHeight) setText(null)
      else setPlace(placeOf(holder.current))
    }
    window.addEventListener('scroll', moved, true)
    window.addEventListener('resize', moved)
    return () => {
      window.removeEventListener('scroll', moved, true)
      window.removeEventListener('resize', moved)
    }
  }, [open])
  useEffect(() => {
    const list = holder.current?.querySelector<HTMLElement>('.listbox')
    const option = list?.querySelector<HTMLElement>('.active')
    if (!list || !option) return
    if (option.offsetTop < list.scrollTop) list.scrollTop = option.offsetTop - 24
    else if (option.offsetTop + option.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = option.offsetTop + option.offsetHeight - list.clientHeight + 4
  }, [active, open, place])
  const choose = (option: Option | undefined) => {
    setText(null)
    if (option && option.value !== props.value) props.onChoose(option.value)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!open) return start()
      const by = event.key === 'ArrowDown' ? 1 : -1
      setActive((active + by + found.length) % Math.max(found.length, 1))
    } else if (event.key === 'Enter' && latest.current !== null) {
      event.preventDefault()
      choose(latest.current === text ? found[active] : matching(latest.current)[0])
    } else if (event.key === 'Escape' && open) {
      event.preventDefault()
      event.stopPropagation()
      setText(null)
    }
  }
  const start = () => {
    if (latest.current !== null) return
    // Keys may be faster than rendering: they must not follow the shown value.
    const input = holder.current?.querySelector('input')
    if (input) input.value = ''
    setText('')
    setActive(
      Math.max(
        0,
        props.options.findIndex((option) => option.value === props.value),
      ),
    )
  }
  return (
    <span class="combobox" ref={holder}>
      <input
        class="input"
        role="combobox"
        aria-label={props.label}
        aria-expanded={open}
        aria-controls={open ? `${id}-list` : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && found[active] ? `${id}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        disabled={props.disabled}
        placeholder={open ? (current?.title ?? props.value) || props.placeholder : props.placeholder}
        value={text ?? current?.title ?? props.value}
        title={(current?.title ?? props.value) || props.placeholder}
        onMouseDown={() => !open && setTimeout(start)}
        onInput={(event) => {
          // Keys before the list opens follow the shown value.
          const shown = latest.current === null ? (current?.title ?? props.value) : ''
          const { value } = event.currentTarget
          setText(value.startsWith(shown) ? value.slice(shown.length) : value)
          setActive(0)
        }}
        onBlur={() => setText(null)}
        onKeyDown={onKeyDown}
      />
      <span class="caret" aria-hidden="true">
        ▾
      </span>
      {open && (
        <div
          class="listbox"
          role="listbox"
          id={`${id}-list`}
          aria-label={props.label}
          style={place ? { ...place } : { visibility: 'hidden' }}
        >
          {found.map((option, index) => (
            <>
              {option.group && option.group !== found[index - 1]?.group && (
                <div class="group" role="presentation" key={`group-${option.group}`}>
                  {option.group}
                </div>
              )}
              <div
                key={option.value}
                id={`${id}-${index}`}
                role="option"
                aria-selected={option.value === props.value}
                class={index === active ? 'active' : ''}
                onMouseDown={(event) => (event.preventDefault(), choose(option))}
                onMouseMove={() => setActive(index)}
              >
                <span>{option.title}</span>
                {option.note && <span class="note">{option.note}</span>}
              </div>
            </>
          ))}
          {found.length === 0 && (
            <div class="none" role="option" aria-selected={false} aria-disabled={true}>
              {texts.nothingMatches}
              {text}”.
            </div>
          )}
        </div>
      )}
    </span>
  )
}

type Place = {
  readonly left: string
  readonly width: string
  readonly maxHeight: string
  readonly top?: string
  readonly bottom?: string
}

/** Position below the field, or above it if there is more room. */
function placeOf(holder: HTMLElement | null): Place | null {
  const box = holder?.getBoundingClientRect()
  if (!box) return null
  const width = Math.min(Math.max(box.width, 360), window.innerWidth - 16)
  const left = `${Math.max(8, Math.min(box.left, window.innerWidth - width - 8))}px`
  const below = window.innerHeight - box.bottom - 12
  const room = { left, width: `${width}px` }
  if (below >= 240 || below >= box.top) return { ...room, top: `${box.bottom + 4}px`, maxHeight: `${Math.min(380, below)}px` }
  return { ...room, bottom: `${window.innerHeight - box.top + 4}px`, maxHeight: `${Math.min(380, box.top - 56)}px` }
}
