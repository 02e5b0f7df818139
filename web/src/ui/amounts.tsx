// A number with its unit, and a set of such numbers: added one by one, removed one by one.
// A text that the unit does not read, from an older link, is shown whole and can be removed.
import { useId, useState } from 'preact/hooks'
import { type Unit, listOf, plain } from '../state/amounts'
import * as texts from '../words/ui'

interface AmountProps {
  readonly title: string
  readonly about?: string
  /** As the address has it; empty is auto. */
  readonly value: string
  readonly unit: Unit
  /** What holds while the field is empty. */
  readonly auto?: string
  readonly onChange: (value: string | undefined) => void
}

export function Amount({ title, about, value, unit, auto, onChange }: AmountProps) {
  const read = unit.read(value)
  if (value && read === null) {
    return (
      <div class="entry" role="group" aria-label={title} title={about}>
        <span>{title}</span>
        <Removable text={value} onRemove={() => onChange(undefined)} />
      </div>
    )
  }
  const shown = auto === undefined ? undefined : (mapped(unit.read(auto), plain) ?? auto)
  return (
    <label class="entry" title={about}>
      <span>{title}</span>
      <span class="amount">
        <NumberInput
          key={value}
          unit={unit}
          initial={read === null ? '' : plain(read)}
          placeholder={shown ?? texts.auto}
          onDone={(text) => {
            if (text === null) onChange(undefined)
            else if (text !== read) onChange(unit.write(text))
          }}
        />
        {unit.sign && <span class="unit">{unit.sign}</span>}
      </span>
    </label>
  )
}

interface AmountsProps extends Omit<AmountProps, 'onChange'> {
  /** Numbers with commas. */
  readonly value: string
  readonly onChange: (value: string | undefined) => void
  /** Whether a number may come twice and its place counts, as the sides of a torus. */
  readonly ordered?: boolean
}

export function Amounts({ title, about, value, unit, auto, ordered = false, onChange }: AmountsProps) {
  const id = useId()
  const [typed, setTyped] = useState('')
  const chosen = listOf(value)
  const set = (next: readonly string[]) => onChange(next.length > 0 ? next.join(',') : undefined)
  const amount = typed.trim() === '' ? null : Number(typed)
  const isValid = amount !== null && Number.isFinite(amount) && fits(amount, unit)
  const add = () => {
    if (!isValid) return
    setTyped('')
    const known = chosen.some((one) => unit.read(one) === amount)
    if (ordered) set([...chosen, unit.write(amount)])
    else if (!known) set([...chosen, unit.write(amount)].sort((a, b) => (unit.read(a) ?? Infinity) - (unit.read(b) ?? Infinity)))
  }
  return (
    <div class="narrow" role="group" aria-label={title} title={about}>
      <div class="entry">
        <label for={id}>{title}</label>
        <span class="amount">
          <input
            id={id}
            class="input"
            type="number"
            min={unit.least}
            max={unit.most}
            step={unit.whole ? 1 : 'any'}
            value={typed}
            placeholder={chosen.length > 0 ? texts.another : texts.auto}
            autocomplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              // Enter adds the number; it does not send the form.
              event.preventDefault()
              add()
            }}
          />
          {unit.sign && <span class="unit">{unit.sign}</span>}
          <button type="button" class="button" disabled={!isValid} aria-label={texts.addTo(title)} onClick={add}>
            {texts.add}
          </button>
        </span>
      </div>
      {chosen.length === 0 && auto !== undefined && <span class="is-auto narrow-row">{auto}</span>}
      {chosen.length > 0 && (
        <div class="narrow-row">
          {chosen.map((one, at) => (
            <Removable
              key={`${one}${at}`}
              text={mapped(unit.read(one), (read) => withSign(read, unit)) ?? one}
              onRemove={() => set(chosen.filter((_, place) => place !== at))}
            />
          ))}
        </div>
      )}
    </div>
  )
}

/** A number alone, taken when it is done: Enter, the arrows of the field, or leaving it. Null when it is emptied. */
export function NumberInput(props: {
  readonly unit: Unit
  readonly initial: string
  readonly placeholder?: string
  readonly label?: string
  readonly onDone: (value: number | null) => void
}) {
  const { unit } = props
  const [typed, setTyped] = useState<string | null>(null)
  const wrong = typed !== null && typed !== '' && !fits(Number(typed), unit)
  // The field has what was typed last, also where it is left before it is drawn again.
  const done = ({ value, validity }: HTMLInputElement) => {
    const text = value.trim()
    if (validity.badInput || text === props.initial || (text !== '' && !fits(Number(text), unit))) return
    props.onDone(text === '' ? null : Number(text))
  }
  return (
    <input
      class="input"
      type="number"
      min={unit.least}
      max={unit.most}
      step={unit.whole ? 1 : 'any'}
      value={typed ?? props.initial}
      placeholder={props.placeholder}
      aria-label={props.label}
      aria-invalid={wrong}
      autocomplete="off"
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={(event) => done(event.currentTarget)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        done(event.currentTarget)
      }}
    />
  )
}

/** A chosen value with the way to remove it. */
export function Removable({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }) {
  return (
    <button type="button" class="pick" aria-pressed="true" aria-label={texts.removeValue(text)} onClick={onRemove}>
      {text} ✕
    </button>
  )
}

export function withSign(value: number, unit: Unit): string {
  if (unit.sign === '$') return `$${value.toLocaleString('en')}`
  return `${plain(value)}${/^[A-Z]/i.test(unit.sign) ? ' ' : ''}${unit.sign}`
}

function fits(value: number, unit: Unit): boolean {
  return (
    Number.isFinite(value) &&
    value >= (unit.least ?? Number.NEGATIVE_INFINITY) &&
    value <= (unit.most ?? Number.POSITIVE_INFINITY) &&
    (!unit.whole || Number.isInteger(value))
  )
}

const mapped = <T, U>(value: T | null, of: (value: T) => U): U | undefined => (value === null ? undefined : of(value))
