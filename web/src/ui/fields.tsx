// Small fields: a switch, a choice, a text; all with a label, and all say when their value is the user's own.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

interface Common {
  readonly label: string
  readonly about?: string
  readonly own?: boolean
  readonly disabled?: boolean
}

export function Switch(props: Common & { value: boolean; onChange: (value: boolean) => void }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} title={props.about} class={props.own ? '' : 'muted'}>{props.label}</label>
      <span class="control">
        <button id={id} type="button" role="switch" class="switch" aria-checked={props.value} disabled={props.disabled} onClick={() => props.onChange(!props.value)} />
      </span>
    </div>
  )
}

export function Choice(props: Common & { value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  const id = useId()
  const known = props.options.some(([value]) => value === props.value)
  return (
    <div class="field">
      <label for={id} title={props.about} class={props.own ? '' : 'muted'}>{props.label}</label>
      <span class="control">
        <select id={id} class="select" value={props.value} disabled={props.disabled} onChange={(event) => props.onChange(event.currentTarget.value)}>
          {!known && <option value={props.value}>{props.value}</option>}
          {props.options.map(([value, title]) => <option key={value} value={value}>{title}</option>)}
        </select>
      </span>
    </div>
  )
}

export function TextField(props: Common & { value: string; placeholder?: string; width?: string; onChange: (value: string) => void; after?: ComponentChildren }) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const commit = () => {
    if (typed !== null && typed.trim() !== props.value) props.onChange(typed.trim())
    setTyped(null)
  }
  return (
    <div class="field">
      <label for={id} title={props.about} class={props.own ? '' : 'muted'}>{props.label}</label>
      <span class="control">
        <input
          id={id}
          class="input"
          style={{ width: props.width ?? '104px', textAlign: 'right' }}
          autocomplete="off"
          spellcheck={false}
          disabled={props.disabled}
          placeholder={props.placeholder}
          value={typed ?? props.value}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onBlur={commit}
          onKeyDown={(event) => event.key === 'Enter' && commit()}
        />
        {props.after}
      </span>
    </div>
  )
}

/** A few choices side by side, one of which holds. */
export function Segments(props: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  return (
    <span class="segments" role="group" aria-label={props.label}>
      {props.options.map(([value, title]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>{title}</button>
      ))}
    </span>
  )
}
