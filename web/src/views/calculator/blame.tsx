// Reason for a rejected run at the last changed control: its value, the nearest valid one, and a remedy.
import * as format from '../../charts/format'
import { type Valid, nearest, numbersOf } from '../../state/valid'
import { LAYOUT } from '../parts/strategy'
import { edited, lastSet, set } from './scenarios'
import { flagTitle } from './wording'
import * as texts from '../../words/calculator'

export function Blame({ valid }: { valid: Valid }) {
  const text = edited.value
  // Only for a change of one control; an action that set several is undone by Back.
  const moved = lastSet.value.filter((key) => text[key] !== undefined)
  const key = moved.length === 1 ? moved[0] : undefined
  const value = key === undefined ? undefined : text[key]
  if (key === undefined || value === undefined || !valid.has(key)) return null
  const listed = valid.get(key) ?? []
  if (listed.includes(value)) return null
  const number = Number(value)
  const near = Number.isFinite(number) ? nearest(numbersOf(valid, key), number).map(String) : listed
  const others = LAYOUT.filter((name) => name !== key && text[name] !== undefined)
  return (
    <div class="blame" role="status">
      <p>
        <strong>
          {flagTitle(key)} {Number.isFinite(number) ? format.count(number) : value}
        </strong>{' '}
        {texts.isNotValidWithThe} {near.length > 0 ? texts.nearestValid : texts.noValueOfItIs}
      </p>
      <div class="actions">
        {near.map((one) => (
          <button key={one} type="button" class="button" onClick={() => set({ [key]: one })}>
            {flagTitle(key)} {Number.isFinite(Number(one)) ? format.count(Number(one)) : one}
          </button>
        ))}
        <button type="button" class="button" onClick={() => set({ [key]: undefined })}>
          {flagTitle(key)} {texts.auto}
        </button>
        {others.length > 0 && (
          <button type="button" class="button" onClick={() => set(Object.fromEntries(others.map((name) => [name, undefined])))}>
            {texts.allOtherLayoutSettingsAuto}
          </button>
        )}
      </div>
    </div>
  )
}
