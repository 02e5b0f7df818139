// The steps of "This job is": all of them, one, or a range by the numbers of the recorder. Responsible for: `t.only` of the URL, as `profile`
// takes it. The program rejects numbers that were not recorded.
import type { Arguments } from '../../api/ask'
import { NUMBER_FROM_0, plain } from '../../state/amounts'
import { change } from '../../state/location'
import { afresh } from '../../timeline/address'
import { NumberInput } from '../../ui/amounts'
import * as texts from '../../words/traces'
import * as common from '../../words/ui'
import type { Profile } from './types'

interface Steps {
  readonly first: number | null
  readonly last: number | null
}

/** `10..12`, `10..`, `..12` or `10` to its ends; `null` is open. Pure. */
export function stepsOf(text: string): Steps {
  const [first = '', last] = text.split('..')
  const end = (part: string) => (/^\d+$/.test(part.trim()) ? Number(part) : null)
  return { first: end(first), last: end(last ?? first) }
}

/** The text of a range; empty for all steps. Ends in the wrong order are exchanged. Pure. */
export function stepsText({ first, last }: Steps): string {
  if (first === null && last === null) return ''
  if (first !== null && first === last) return String(first)
  const isTurned = first !== null && last !== null && last < first
  return isTurned ? `${last}..${first}` : `${first ?? ''}..${last ?? ''}`
}

/** Options of `profile` for the steps. Pure. */
export function stepOptions(text: string | undefined): Arguments {
  if (!text) return {}
  return text.includes('..') ? { steps: text } : { step: text }
}

export function StepsField({ value, profile }: { value: string; profile: Profile | null }) {
  const now = stepsOf(value)
  const recorded = profile?.steps.map((one) => one.step) ?? []
  const write = (next: Steps) => change({ ...afresh('t'), 't.only': stepsText(next) || undefined, 't.step': undefined })
  const end = (label: string, of: keyof Steps, placeholder: string | undefined) => (
    <NumberInput
      key={`${of} ${now[of] ?? ''}`}
      unit={NUMBER_FROM_0}
      initial={now[of] === null ? '' : plain(now[of])}
      placeholder={placeholder ?? common.auto}
      label={label}
      onDone={(number) => number !== now[of] && write({ ...now, [of]: number })}
    />
  )
  return (
    <div class="entry traces-steps" role="group" aria-label={texts.steps2} title={texts.numbersOfTheSteps}>
      <span>
        {texts.steps2}{' '}
        {value !== '' && (
          <button
            type="button"
            class="to-auto"
            aria-label={common.resetToAuto(texts.steps2)}
            onClick={() => write({ first: null, last: null })}
          >
            {common.reset}
          </button>
        )}
      </span>
      <span class="amount">
        {end(texts.firstStep, 'first', value === '' ? recorded[0] : undefined)}
        <span class="unit">{texts.to}</span>
        {end(texts.lastStep, 'last', value === '' ? recorded.at(-1) : undefined)}
      </span>
    </div>
  )
}
