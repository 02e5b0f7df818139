// Small form elements of several views: labelled choice, text, number, switch; each is one parameter of the URL.
import { change } from '../../state/location'
import type { ComponentChildren } from 'preact'

interface Common {
  readonly title: string
  readonly about?: string
}

export function Choice<T extends string>(
  props: Common & { value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void },
) {
  return (
    <label class="entry" title={props.about}>
      <span>{props.title}</span>
      <select class="select" value={props.value} onChange={(event) => props.onChange(event.currentTarget.value as T)}>
        {props.options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A text that is applied by Enter or by leaving the field. */
export function Text(
  props: Common & { value: string; placeholder?: string; onChange: (value: string) => void; wide?: boolean; list?: readonly string[] },
) {
  const list = props.list && `list-${props.title.replaceAll(/\W+/g, '-')}`
  return (
    <label class={props.wide ? 'entry wide' : 'entry'} title={props.about}>
      <span>{props.title}</span>
      <input
        key={props.value}
        class="input"
        defaultValue={props.value}
        placeholder={props.placeholder}
        spellcheck={false}
        autocomplete="off"
        list={list}
        onChange={(event) => {
          const text = event.currentTarget.value.trim()
          if (text !== props.value) props.onChange(text)
        }}
      />
      {list && (
        <datalist id={list}>
          {props.list?.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </label>
  )
}

export function Switch(props: Common & { on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label class="check" title={props.about}>
      <input type="checkbox" checked={props.on} onChange={(event) => props.onChange(event.currentTarget.checked)} />
      <span>{props.title}</span>
    </label>
  )
}

/** Buttons with one selected, for two to five choices that should be visible at once. */
export function Segments<T extends string>(props: {
  label: string
  value: T
  options: readonly (readonly [T, ComponentChildren])[]
  onChange: (value: T) => void
}) {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.options.map(([value, title]) => (
        <button key={value} type="button" aria-pressed={props.value === value} onClick={() => props.onChange(value)}>
          {title}
        </button>
      ))}
    </div>
  )
}

/** Sets one parameter of a view. */
export function set(prefix: string, key: string, value: string | undefined, history: 'push' | 'replace' = 'push'): void {
  change({ [`${prefix}.${key}`]: value }, history)
}

/** A number with its name, for the head of a view. */
export function Figure(props: { title: string; children: ComponentChildren; note?: ComponentChildren; tone?: 'good' | 'bad' | 'warn' }) {
  return (
    <div class={`figure ${props.tone ?? ''}`}>
      <dt>{props.title}</dt>
      <dd>
        <strong>{props.children}</strong>
        {props.note && <span class="muted">{props.note}</span>}
      </dd>
    </div>
  )
}
