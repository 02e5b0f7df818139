// Notes on the numbers: warnings with explanations, defaults of unspecified settings, evidence of the step time.
import { useState } from 'preact/hooks'
import type { Estimate, Warning } from '../../api/answers'
import { askOnce } from '../../api/live'
import { percent } from '../../charts/format'
import { Ticked } from '../../ui/states'
import * as texts from '../../words/calculator'

interface Topic {
  readonly title: string
  readonly text: string
}

export function Notes(props: { a: Estimate; b: Estimate | null; remarks: readonly string[]; stale: boolean }) {
  const warnings = [...props.a.warnings, ...(props.a.money?.warnings ?? [])]
  const other = props.b ? [...props.b.warnings, ...(props.b.money?.warnings ?? [])] : []
  const isIn = (list: readonly Warning[], one: Warning) => list.some((known) => known.id === one.id && known.message === one.message)
  const onlyB = other.filter((one) => !isIn(warnings, one))
  const scenarios = props.b
    ? ([
        ['A', props.a],
        ['B', props.b],
      ] as const)
    : ([['', props.a]] as const)
  const chosen = chosenOf(scenarios)
  // Warnings are part of the answer, too; the rest are remarks on the files.
  const remarks = [...new Set(props.remarks)].filter(
    (text) => ![...warnings, ...other].some((one) => text.includes(one.message)) && !text.startsWith('defaults:'),
  )
  return (
    <section class={`panel titled notes ${props.stale ? 'stale' : ''}`} aria-label={texts.notes}>
      <h2>{texts.notes}</h2>
      {warnings.length + onlyB.length > 0 && (
        <ul class="warnings" aria-label={texts.warnings}>
          {warnings.map((one) => (
            <Doubt key={`${one.id}${one.message}`} warning={one} letter={props.b && !isIn(other, one) ? 'A' : ''} />
          ))}
          {onlyB.map((one) => (
            <Doubt key={`b${one.id}${one.message}`} warning={one} letter="B" />
          ))}
        </ul>
      )}
      {remarks.length > 0 && (
        <details class="remarks">
          <summary>{remarks.length === 1 ? texts.oneRemarkOnTheInput : texts.remarksOnWhatWasRead(remarks.length)}</summary>
          <ul>
            {remarks.map((text) => (
              <li key={text}>
                <Ticked text={text} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <div class="note-columns">
        {chosen.length > 0 && (
          <div>
            <h3>{texts.defaults}</h3>
            <ul class="chips">
              {chosen.map(({ text, letter }) => (
                <li key={`${letter}${text}`}>
                  {letter && <span class="letter">{letter}</span>}
                  <Ticked text={text} />
                </li>
              ))}
            </ul>
          </div>
        )}
        {scenarios.map(([letter, estimate]) => (
          <Evidence key={letter} letter={letter} estimate={estimate} />
        ))}
      </div>
    </section>
  )
}

/** Defaults of one or two scenarios: those of both once, others with the letter of theirs. Pure. */
export function chosenOf(
  scenarios: readonly (readonly [string, Pick<Estimate, 'chosen'>])[],
): readonly { readonly text: string; readonly letter: string }[] {
  const found = new Map<string, string[]>()
  for (const [letter, { chosen }] of scenarios) for (const text of new Set(chosen)) found.set(text, [...(found.get(text) ?? []), letter])
  return [...found].map(([text, letters]) => ({ text, letter: letters.length === scenarios.length ? '' : letters.join() }))
}

/** Evidence of the step time of a scenario. */
function Evidence({ letter, estimate }: { letter: string; estimate: Estimate }) {
  return (
    <div>
      <h3>
        {letter && <span class="letter">{letter}</span>}
        {texts.evidenceOfTheStepTime}
      </h3>
      <ul class="rests">
        {estimate.provenance.map((one) => (
          <li key={one.id}>
            <span class="share-bar" aria-hidden="true">
              <span style={{ width: `${Math.max(0, Math.min(one.share, 1)) * 100}%` }} />
            </span>
            <span class="number">{percent(one.share)}</span>
            <span>{one.title}</span>
          </li>
        ))}
      </ul>
      <p class="muted small">
        {texts.constantsOf} <code>{estimate.software.id}</code>: {estimate.software.source}.
        {estimate.step_time_interval && ` Interval: ${estimate.step_time_interval.source.replaceAll('`', '')}.`}
      </p>
    </div>
  )
}

function Doubt(props: { warning: Warning; letter?: string }) {
  const [topic, setTopic] = useState<Topic | null>(null)
  const [open, setOpen] = useState(false)
  const toggle = () => {
    setOpen(!open)
    if (topic) return
    askOnce<{ topic: Topic }>('explain', { id: props.warning.id }).then(
      ({ answer }) => setTopic(answer.topic),
      (error: unknown) => setTopic({ title: '', text: String(error) }),
    )
  }
  return (
    <li class={/fit|exceed/.test(props.warning.id) ? 'bad' : ''}>
      <span class="sign" aria-hidden="true">
        !
      </span>
      <div>
        <p>
          {props.letter && <span class="letter">{props.letter}</span>}
          <Ticked text={props.warning.message} />{' '}
          <button type="button" class="link" aria-expanded={open} onClick={toggle}>
            {open ? 'less' : 'why'}
          </button>
        </p>
        {open && topic && <Explanation topic={topic} />}
      </div>
    </li>
  )
}

/** A topic as in `explain`: paragraphs; indented lines are formulas. */
export function Explanation(props: { topic: Topic }) {
  return (
    <div class="explanation">
      {props.topic.text.split(/\n\n+/).map((part, index) =>
        /^ {4}/.test(part) ? (
          <code key={index} class="why-formula">
            {part.replace(/^ {4}/gm, '')}
          </code>
        ) : (
          <p key={index}>
            <Ticked text={part} />
          </p>
        ),
      )}
    </div>
  )
}
