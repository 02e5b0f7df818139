// Reason for a rejected run at the last changed control: its value, the nearest valid one, and a remedy.
import * as format from '../../charts/format'
import { type Valid, nearest, numbersOf } from '../../state/valid'
import { LAYOUT } from '../parts/strategy'
import { edited, heldKeys, lastSet, set } from './scenarios'
import { isClosed, toAuto } from './to-auto'
import { flagTitle } from './wording'
import * as texts from '../../words/calculator'

/** Maximum number of words offered. */
const MOST_OFFERED = 6

export function Blame({ valid }: { valid: Valid }) {
  const text = edited.value
  // Only for a change of one control; an action that set several is undone by Back.
  const changed = lastSet.value.filter((key) => valid.has(key))
  const own = changed.filter((key) => text[key] !== undefined)
  const moved = own.length > 0 ? own : changed
  const key = moved.length === 1 ? moved[0] : undefined
  if (key === undefined) return null
  const value = text[key]
  const listed = valid.get(key) ?? []
  // Without a valid value, other settings are to blame; the program's problem names them.
  if (listed.length === 0 || (value === undefined ? !isClosed(valid, key, text) : listed.includes(value))) return null
  const number = value === undefined ? Number.NaN : Number(value)
  const near = Number.isFinite(number) ? nearest(numbersOf(valid, key), number).map(String) : listed.slice(0, MOST_OFFERED)
  const others = LAYOUT.filter((name) => name !== key && text[name] !== undefined)
  return (
    <div class="blame" role="status">
      <p>
        <strong>
          {flagTitle(key)} {Number.isFinite(number) ? format.count(number) : (value ?? texts.auto)}
        </strong>{' '}
        {texts.isNotValidWithThe} {texts.nearestValid}
      </p>
      <div class="actions">
        {near.map((one) => (
          <button key={one} type="button" class="button" onClick={() => set({ [key]: one })}>
            {flagTitle(key)} {Number.isFinite(Number(one)) ? format.count(Number(one)) : one}
          </button>
        ))}
        {!isClosed(valid, key, text) && (
          <button type="button" class="button" onClick={() => set(toAuto(key, text, heldKeys.value))}>
            {flagTitle(key)} {texts.auto}
          </button>
        )}
        {others.length > 0 && (
          <button type="button" class="button" onClick={() => set(Object.fromEntries(others.map((name) => [name, undefined])))}>
            {texts.allOtherLayoutSettingsAuto}
          </button>
        )}
      </div>
    </div>
  )
}
