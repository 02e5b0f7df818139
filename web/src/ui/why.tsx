// Origin of a number: hover or focus shows its formula, inputs and sources; Enter or a click pins it, then inputs that are numbers
// themselves open in place. There is one box for the whole UI.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Why } from '../api/answers'
import { digits } from '../charts/format'
import * as format from '../charts/format'
import * as texts from '../words/ui'

interface Open {
  readonly id: string
  readonly list: readonly Why[]
  readonly anchor: Element
  readonly pinned: boolean
  /** Additional text of the web UI. */
  readonly more: string | undefined
}

const open = signal<Open | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

function show(next: Open | null, delay: number): void {
  clearTimeout(timer)
  timer = setTimeout(() => {
    if (next === null && open.value?.pinned) return
    open.value = next
  }, delay)
}

/** A number with its explanation; plain text without one. */
export function Explained(props: {
  id: string
  list: readonly Why[] | undefined
  children: ComponentChildren
  class?: string
  more?: string
}) {
  const button = useRef<HTMLButtonElement>(null)
  const known = props.list?.some((one) => one.id === props.id)
  if (!known || !props.list) return <span class={props.class}>{props.children}</span>
  const list = props.list
  const at = (pinned: boolean): Open | null =>
    button.current ? { id: props.id, list, anchor: button.current, pinned, more: props.more } : null
  return (
    <button
      ref={button}
      type="button"
      class={`explained ${props.class ?? ''}`}
      aria-describedby={open.value?.anchor === button.current && open.value !== null ? 'why' : undefined}
      onMouseEnter={() => open.value?.pinned || show(at(false), 140)}
      onMouseLeave={() => show(null, 180)}
      onFocus={(event) => event.currentTarget.matches(':focus-visible') && show(at(false), 0)}
      onBlur={() => show(null, 80)}
      onClick={(event) => {
        event.stopPropagation()
        clearTimeout(timer)
        open.value = open.value?.pinned && open.value.anchor === button.current ? null : at(true)
      }}
    >
      {props.children}
    </button>
  )
}

/** A value with its unit, in the format of explanations. */
export function valueText(value: number, unit: string): string {
  switch (unit) {
    case 's':
      return format.seconds(value)
    case 'B':
      return format.bytes(value)
    case 'B/s':
      return format.bandwidth(value)
    case 'FLOP/s':
      return format.flops(value)
    case '$':
      return format.dollars(value)
    case '%':
      return `${digits(value)}%`
    case 'kWh':
      return format.energy(value)
    case 'W':
      return format.power(value)
    case 'FLOP':
      return texts.flop(value.toExponential(3).replace('e+', 'e'))
    default:
      return `${Math.abs(value) >= 1e6 && !Number.isInteger(value) ? value.toExponential(3) : Number.isInteger(value) ? value.toLocaleString('en') : digits(value, 4)}${unit ? ` ${unit}` : ''}`
  }
}

/** The box; mounted once, in the shell. */
export function WhyBox() {
  const box = useRef<HTMLDivElement>(null)
  const [path, setPath] = useState<readonly string[]>([])
  const [place, setPlace] = useState({ left: 0, top: 0 })
  const now = open.value
  useEffect(() => setPath(now ? [now.id] : []), [now?.id, now?.anchor])
  useLayoutEffect(() => {
    if (!now || !box.current) return
    const anchor = now.anchor.getBoundingClientRect()
    const { offsetWidth: width, offsetHeight: height } = box.current
    const below = anchor.bottom + 6
    const top =
      below + height > window.innerHeight - 8 && anchor.top - height - 6 > 8
        ? anchor.top - height - 6
        : Math.min(below, Math.max(8, window.innerHeight - height - 8))
    setPlace({ left: Math.max(8, Math.min(anchor.left, window.innerWidth - width - 8)), top })
  }, [now, path])
  useEffect(() => {
    if (!now) return
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return
      if (event.type === 'mousedown' && box.current?.contains(event.target as Node)) return
      if (event.type === 'scroll' && (now.pinned || box.current?.contains(event.target as Node))) return
      clearTimeout(timer)
      open.value = null
      if (event instanceof KeyboardEvent) event.preventDefault()
    }
    for (const kind of ['mousedown', 'keydown', 'scroll']) window.addEventListener(kind, close, true)
    return () => {
      for (const kind of ['mousedown', 'keydown', 'scroll']) window.removeEventListener(kind, close, true)
    }
  }, [now])
  const id = path.at(-1)
  const why = now?.list.find((one) => one.id === id)
  if (!now || !why) return null
  const pin = () => (open.value = { ...now, pinned: true })
  return (
    <div
      ref={box}
      id="why"
      class="why"
      role={now.pinned ? 'dialog' : 'tooltip'}
      aria-label={texts.whereComesFrom(why.title)}
      style={{ left: `${place.left}px`, top: `${place.top}px` }}
      onMouseEnter={() => clearTimeout(timer)}
      onMouseLeave={() => show(null, 180)}
    >
      <div class="why-head">
        {path.length > 1 && (
          <button type="button" class="button quiet icon" aria-label={texts.back} onClick={() => setPath(path.slice(0, -1))}>
            ←
          </button>
        )}
        <strong>{why.title}</strong>
        <span>{why.text}</span>
      </div>
      <code class="why-formula">{why.formula}</code>
      {why.inputs.length > 0 && (
        <table class="why-inputs">
          <tbody>
            {why.inputs.map((input) => {
              const deeper = now.list.some((one) => one.id === input.source) && input.source !== id
              return (
                <tr key={input.name}>
                  <th scope="row">{input.name.replaceAll('_', ' ')}</th>
                  <td class="number">{valueText(input.value, input.unit)}</td>
                  <td class="muted">
                    {deeper ? (
                      <button type="button" class="link" onClick={() => (pin(), setPath([...path, input.source]))}>
                        {input.source} ›
                      </button>
                    ) : (
                      input.source
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      {now.more && path.length <= 1 && <p>{now.more}</p>}
      {why.source && <p class="muted">{why.source}</p>}
    </div>
  )
}
