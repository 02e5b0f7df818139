// A set of names from a list: each a button that is down while the name is chosen. None chosen leaves the choice to the program.
import type { ComponentChildren } from 'preact'
import { listOf } from '../state/amounts'
import * as texts from '../words/ui'

interface Props {
  readonly title: string
  readonly about?: string
  /** Names with commas; empty is auto. */
  readonly value: string
  readonly options: readonly (readonly [string, ComponentChildren])[]
  readonly onChange: (value: string | undefined) => void
}

export function Chips({ title, about, value, options, onChange }: Props) {
  const chosen = listOf(value)
  // Names of an older link that the program does not list can be removed.
  const others = chosen.filter((name) => !options.some(([known]) => known === name))
  const order = [...options.map(([name]) => name), ...others]
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]
    onChange(next.length > 0 ? order.filter((one) => next.includes(one)).join(',') : undefined)
  }
  return (
    <div class="chips" role="group" aria-label={title} title={about}>
      <span class="muted">{title}</span>
      {[...options, ...others.map((name) => [name, name] as const)].map(([name, shown]) => (
        <button key={name} type="button" class="pick" aria-pressed={chosen.includes(name)} onClick={() => toggle(name)}>
          {shown}
        </button>
      ))}
      {chosen.length === 0 ? (
        <span class="is-auto" title={texts.chosenByTheProgramChange}>
          {texts.auto}
        </span>
      ) : (
        <button type="button" class="to-auto" aria-label={texts.resetToAuto(title)} onClick={() => onChange(undefined)}>
          {texts.reset}
        </button>
      )}
    </div>
  )
}
