// Empty, loading and rejected states, common to all views.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Place, Problem } from '../api/ask'
import { report } from '../api/report'
import { withoutHandle } from '../api/uploads'
import { placeOfCommand } from '../state/commands'
import { go } from '../state/location'
import { withUnits, withoutFlags } from '../state/program-text'
import * as texts from '../words/ui'

/** Empty state: the missing content, and how to get it. */
export function Empty(props: { title: string; text?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{props.title}</h2>
      {props.text && <p>{props.text}</p>}
      {props.children && <div class="actions">{props.children}</div>}
    </div>
  )
}

/** Placeholders of the size of the content; announced once by screen readers. */
export function Loading(props: { heights?: readonly number[]; label?: string }) {
  return (
    <div role="status" aria-label={props.label ?? texts.loading} style={{ display: 'grid', gap: '12px', padding: '16px' }}>
      {(props.heights ?? [64, 220, 160]).map((height, index) => (
        <div key={index} class="skeleton" style={{ height: `${height}px` }} />
      ))}
    </div>
  )
}

export interface Suggestion {
  readonly title: string
  readonly run: () => void
}

/** Problems: place, message, hint. Buttons apply what was suggested; a hint that has the same remedies in flags is left out then. */
export function Problems(props: { problems: readonly Problem[]; suggest?: (problem: Problem) => readonly Suggestion[] }) {
  return (
    <div class="problems" role="alert">
      {props.problems.map((problem, index) => {
        const place = placeText(problem.place)
        const suggestions = props.suggest?.(problem) ?? []
        return (
          <div class="problem" key={index}>
            {place && <span class="place">{place}</span>}
            <p class="message">
              <Ticked text={withoutFlags(problem.message)} />
            </p>
            {problem.hint && !(suggestions.length > 0 && problem.remedies && problem.remedies.length > 0) && (
              <p class="hint">
                <Folded text={withoutFlags(problem.hint)} />
              </p>
            )}
            {suggestions.length > 0 && (
              <div class="actions">
                {suggestions.map((one) => (
                  <button key={one.title} type="button" class="button" onClick={one.run}>
                    {one.title}
                  </button>
                ))}
              </div>
            )}
          </div>
        )
      })}
    </div>
  )
}

/** Number of names from which a list is folded, and the number that is shown then. */
const [MANY, FIRST] = [20, 8]

/** A list of names in a text, split where it is folded; null if it is short. Pure. */
export function fold(text: string): { readonly shown: string; readonly rest: string; readonly more: number } | null {
  const names = text.split(', ')
  if (names.length <= MANY) return null
  return { shown: names.slice(0, FIRST).join(', '), rest: names.slice(FIRST).join(', '), more: names.length - FIRST }
}

/** A text whose list of very many names is folded until asked for. */
export function Folded({ text }: { text: string }) {
  const [isOpen, open] = useState(false)
  const folded = isOpen ? null : fold(text)
  if (!folded) return <Ticked text={text} />
  return (
    <>
      <Ticked text={folded.shown} />{' '}
      <button type="button" class="text-link" title={folded.rest} onClick={() => open(true)}>
        {texts.andMore(folded.more)}
      </button>
    </>
  )
}

/** Text with `ticked` parts as code; a command that has a place here leads to it. */
export function Ticked(props: { text: string }) {
  return (
    <>
      {withUnits(props.text)
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <Code key={index} text={part} /> : part))}
    </>
  )
}

function Code({ text }: { text: string }) {
  const place = report ? null : placeOfCommand(text)
  if (!place) return <code>{text}</code>
  return (
    <button type="button" class="text-link" title={text} onClick={() => go(place.view, place.own)}>
      {place.title}
    </button>
  )
}

/** `file:line:column key`, without unknown parts. */
export function placeText(place: Place | string | null | undefined): string {
  if (!place) return ''
  if (typeof place === 'string') return place
  // A flag of the command line is a setting here.
  const path = place.file == null ? undefined : withoutHandle(place.file)
  const file = path?.replace(/^--(?=[a-z])/, '')
  const named = file === path ? file : file?.replaceAll('-', ' ')
  const where = [named ?? place.origin, place.line, place.column].filter((part) => part !== undefined && part !== null).join(':')
  // A positional argument is in capitals.
  return [/^[A-Z]+$/.test(where) ? where.toLowerCase() : where, place.key ?? place.flag].filter(Boolean).join(' ')
}
