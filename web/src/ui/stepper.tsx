// A number from a list of valid ones: slider, minus and plus, and a field for any number (the program reports why it rejects one).
// `onChange(value, final)`: `final` is false while the slider moves.
import { useId, useState } from 'preact/hooks'
import { nearest } from '../state/valid'
import { Label } from './fields'
import * as texts from '../words/ui'

interface Props {
  readonly label: string
  /** Meaning, as a tooltip. */
  readonly about?: string
  readonly value: number
  /** Valid values, ascending. */
  readonly values: readonly number[]
  /** True if set by the user, not by default. */
  readonly own?: boolean
  /** True if the value was the program's, and is held because another setting changed. */
  readonly kept?: boolean | undefined
  /** True if the value is not the program's choice, but 1 because other settings are set. */
  readonly byDefault?: boolean
  /** Resets the setting to auto. */
  readonly onAuto?: (() => void) | undefined
  readonly format?: (value: number) => string
  readonly onChange: (value: number, final: boolean) => void
  readonly disabled?: boolean
  readonly wide?: boolean
  /** True to show that the value is invalid with the others, and a valid one. */
  readonly blame?: boolean
}

export function Stepper(props: Props) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const { value, values } = props
  const format = props.format ?? String
  // Without a list all values are accepted.
  const valid = values.length === 0 || values.includes(value)
  const index = values.includes(value) ? values.indexOf(value) : Math.max(0, values.filter((one) => one < value).length - 1)
  const step = (by: number) => {
    const next = valid ? values[index + by] : nearest(values, value)[by < 0 ? 0 : nearest(values, value).length - 1]
    if (next !== undefined) props.onChange(next, true)
  }
  const commit = () => {
    const number = Number((typed ?? '').replace(/[\s,_]/g, ''))
    setTyped(null)
    if (typed !== null && typed.trim() !== '' && Number.isFinite(number) && number !== value) props.onChange(number, true)
  }
  const least = values[0]
  const most = values.at(-1)
  return (
    <div class={`field ${valid || !props.blame ? '' : 'refused'}`}>
      <Label
        id={id}
        label={props.label}
        about={props.about}
        own={props.own}
        kept={props.kept}
        byDefault={props.byDefault}
        onAuto={props.onAuto}
        disabled={props.disabled}
      />
      <span class="control">
        <span class={`stepper ${props.wide ? 'wide' : ''}`}>
          <button
            type="button"
            tabIndex={-1}
            aria-label={`${props.label}: less`}
            disabled={props.disabled || least === undefined || value <= least}
            onClick={() => step(-1)}
          >
            −
          </button>
          <input
            id={id}
            inputMode="numeric"
            autocomplete="off"
            value={typed ?? format(value)}
            disabled={props.disabled}
            aria-invalid={!valid && props.blame === true}
            onFocus={(event) => event.currentTarget.select()}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onBlur={commit}
            onKeyDown={(event) => {
              if (event.key === 'Enter') commit()
              if (event.key === 'Escape') setTyped(null)
              if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
                event.preventDefault()
                step(event.key === 'ArrowUp' ? 1 : -1)
              }
            }}
          />
          <button
            type="button"
            tabIndex={-1}
            aria-label={`${props.label}: more`}
            disabled={props.disabled || most === undefined || value >= most}
            onClick={() => step(1)}
          >
            +
          </button>
        </span>
      </span>
      <input
        class={`slider below ${values.length === 0 ? 'without-values' : ''}`}
        type="range"
        min={0}
        max={Math.max(values.length - 1, 0)}
        step={1}
        value={index}
        disabled={props.disabled || values.length < 2}
        aria-label={texts.slider(props.label)}
        aria-valuetext={format(value)}
        data-slider={props.label}
        style={{ '--at': `${values.length < 2 ? 0 : (index / (values.length - 1)) * 100}%` }}
        onInput={(event) => {
          const next = values[Number(event.currentTarget.value)]
          if (next !== undefined && next !== value) props.onChange(next, false)
        }}
        onChange={(event) => {
          const next = values[Number(event.currentTarget.value)]
          if (next !== undefined) props.onChange(next, true)
        }}
      />
      {!valid && props.blame && nearest(values, value).length > 0 && (
        <span class="below suggestions">
          {texts.nearestValidValue}
          {nearest(values, value).map((one) => (
            <button key={one} type="button" onClick={() => props.onChange(one, true)}>
              {format(one)}
            </button>
          ))}
        </span>
      )}
    </div>
  )
}
