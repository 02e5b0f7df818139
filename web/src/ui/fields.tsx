// Small fields: a switch, a choice, a text; all with a label, and with a mark for values set by the user.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import * as texts from '../words/ui'

interface Common {
  readonly label: string
  readonly about?: string
  readonly own?: boolean
  /** True if the value was the program's, and is held because another setting changed. */
  readonly kept?: boolean | undefined
  /** True if the value is not the program's choice, but 1 because other settings are set. */
  readonly byDefault?: boolean | undefined
  /** Resets the setting to auto; without it the setting cannot be auto. */
  readonly onAuto?: (() => void) | undefined
  readonly disabled?: boolean
}

/** Label of a field with the origin of its value: `auto`, or set by the user with a reset to auto. */
export function Label(props: Pick<Common, 'label' | 'about' | 'own' | 'kept' | 'byDefault' | 'onAuto' | 'disabled'> & { id: string }) {
  return (
    <span class="label">
      <label for={props.id} title={props.about} class={props.own ? '' : 'muted'}>
        {props.label}
      </label>
      {props.onAuto &&
        !props.disabled &&
        (props.own ? (
          <>
            {props.kept && (
              <span class="is-auto" title={texts.heldAtTheProgramsValue}>
                {texts.kept}
              </span>
            )}
            <button
              type="button"
              class="to-auto"
              title={texts.setBackToAuto(props.label.toLowerCase())}
              aria-label={texts.resetToAuto(props.label)}
              onClick={props.onAuto}
            >
              {texts.reset}
            </button>
          </>
        ) : props.byDefault ? (
          <button
            type="button"
            class="to-auto"
            title={texts.oneBesideOthers}
            aria-label={texts.chooseForMe(props.label)}
            onClick={props.onAuto}
          >
            {texts.byDefault}
          </button>
        ) : (
          <span class="is-auto" title={texts.chosenByTheProgramChange}>
            {texts.auto}
          </span>
        ))}
    </span>
  )
}

/** A switch; `fixed`: its other position is not valid with the other settings. */
export function Switch(props: Common & { value: boolean; fixed?: boolean; onChange: (value: boolean) => void }) {
  const id = useId()
  return (
    <div class="field">
      <Label {...props} id={id} />
      <span class="control">
        <button
          id={id}
          type="button"
          role="switch"
          class="switch"
          aria-checked={props.value}
          disabled={props.disabled || props.fixed}
          title={props.fixed ? texts.neededByTheOtherSettings : undefined}
          onClick={() => props.onChange(!props.value)}
        />
      </span>
    </div>
  )
}

export function Choice(
  props: Common & { value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void },
) {
  const id = useId()
  const known = props.options.some(([value]) => value === props.value)
  return (
    <div class="field">
      <Label {...props} id={id} />
      <span class="control">
        <select
          id={id}
          class="select"
          value={props.value}
          disabled={props.disabled}
          onChange={(event) => props.onChange(event.currentTarget.value)}
        >
          {!known && <option value={props.value}>{props.value}</option>}
          {props.options.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </span>
    </div>
  )
}

export function TextField(
  props: Common & { value: string; placeholder?: string; width?: string; onChange: (value: string) => void; after?: ComponentChildren },
) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const commit = () => {
    if (typed !== null && typed.trim() !== props.value) props.onChange(typed.trim())
    setTyped(null)
  }
  return (
    <div class="field">
      <Label {...props} id={id} />
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

/** A row of choices with one selected. */
export function Segments(props: {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  onChange: (value: string) => void
}) {
  return (
    <span class="segments" role="group" aria-label={props.label}>
      {props.options.map(([value, title]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {title}
        </button>
      ))}
    </span>
  )
}
