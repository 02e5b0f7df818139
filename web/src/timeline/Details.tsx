// Below the canvas: the selected span, or the legend and the keys.
// Responsible for: data of the answer, with links along messages. Excludes fetching.
import type { Controller } from './controller'
import { type ArrowKind, type Mark, type Neighbour, type Place, neighbours } from './data'
import { facts, nameOf, passOf } from './describe'
import { Ticked } from '../ui/states'
import { Legend } from './Tools'
import * as texts from '../words/timeline'

export function Details({ controller }: { controller: Controller }) {
  const place = controller.selection.value
  return (
    <div class="timeline-details" tabIndex={0} role="region" aria-label={texts.details}>
      {place ? <Selected controller={controller} place={place} /> : <Resting controller={controller} />}
      <Merged controller={controller} />
    </div>
  )
}

const HINTS = [
  ['W S', 'zoom'],
  ['A D', 'pan'],
  ['F', 'focus'],
  ['M', 'mark'],
  ['B', texts.microBatch2],
  ['P', 'pin'],
  ['E', texts.openAll],
  [', .', texts.criticalPath],
  ['?', texts.allKeys],
] as const

function Resting({ controller }: { controller: Controller }) {
  return (
    <>
      <Legend controller={controller} />
      <p class="timeline-hints">
        <span class="timeline-mouse">{texts.dragPansCtrlAndWheel}</span>
        <span class="timeline-touch">{texts.dragSidewaysPansTwoFingers}</span>
        {HINTS.map(([keys, what]) => (
          <span key={keys} class="timeline-mouse">
            <kbd>{keys}</kbd> {what}
          </span>
        ))}
      </p>
    </>
  )
}

function Merged({ controller }: { controller: Controller }) {
  const { merged, spans } = controller.model
  if (merged === 0) return null
  return (
    <p class="timeline-merged">
      {merged.toLocaleString('en')} {texts.ofText} {spans.toLocaleString('en')} {texts.spansAreMergedWithTheir}
    </p>
  )
}

function Selected({ controller, place }: { controller: Controller; place: Place }) {
  const { model } = controller
  const track = controller.track(place)
  const { from, to } = neighbours(model.arrows, place)
  const swatch = model.classes[track.colours[place.span]!] ?? 'other'
  const batch = track.microBatch?.[place.span] ?? -1
  const marks = model.marks.filter(
    (mark) =>
      mark.track === place.track && mark.at < track.ends[place.span]! && mark.at + Math.max(1, mark.length) > track.starts[place.span]!,
  )
  return (
    <section aria-label={texts.selectedSpan} class="timeline-selected">
      <h2>
        <span
          class={`timeline-swatch${swatch === 'bubble' ? ' bubble' : ''}`}
          style={{ background: swatch === 'bubble' ? undefined : `var(--class-${swatch})` }}
        />
        {nameOf(model, place)}
      </h2>
      <dl>
        {facts(model, place).map((fact) => (
          <div key={fact.name} title={fact.hint}>
            <dt>{fact.name}</dt>
            <dd>{fact.value}</dd>
          </div>
        ))}
      </dl>
      <p class="timeline-do">
        {batch >= 0 && (
          <button type="button" class="button" aria-pressed={controller.lit.value === batch} onClick={() => controller.lightSelected()}>
            {texts.microBatch} {batch} {texts.onAllRows} <kbd>b</kbd>
          </button>
        )}
        <button
          type="button"
          class="button"
          aria-pressed={controller.pins.value.includes(place.track)}
          onClick={() => controller.pin(place.track)}
        >
          {texts.pinThisRow} <kbd>p</kbd>
        </button>
      </p>
      {(Object.keys(FROM) as ArrowKind[]).map((kind) => (
        <Links key={kind} controller={controller} title={FROM[kind]} places={from.filter((one) => one.kind === kind)} />
      ))}
      {swatch === 'bubble' && !from.some((one) => one.kind === 'awaited') && <p class="muted">{texts.endsByNoKnownPass}</p>}
      {(Object.keys(TO) as ArrowKind[]).map((kind) => (
        <Links key={kind} controller={controller} title={TO[kind]} places={to.filter((one) => one.kind === kind)} />
      ))}
      {marks.map((mark) => (
        <Marking key={mark.title} mark={mark} />
      ))}
    </section>
  )
}

/** A finding at the selected span: evidence in lines, then the advice. */
function Marking({ mark }: { mark: Mark }) {
  const [evidence = '', advice] = mark.detail.split(ADVICE)
  return (
    <div class={`timeline-mark ${mark.severity}`}>
      <b>{mark.title}</b>
      <ul>
        {evidence
          .split('; ')
          .filter(Boolean)
          .map((line) => (
            <li key={line}>
              <Ticked text={line} />
            </li>
          ))}
      </ul>
      {advice && (
        <p>
          {texts.fix} <Ticked text={advice} />
        </p>
      )}
    </div>
  )
}

/** Between evidence and advice in the details of a mark. */
const ADVICE = /(?:^|\. )Do: /

/** Meaning of arrows that lead to a span, and of those that start at it. */
const FROM: Readonly<Record<ArrowKind, string>> = {
  awaited: texts.waitsFor,
  message: texts.waitedFor,
  collective: texts.lastRankToArrive,
  launch: texts.launchedBy,
}
const TO: Readonly<Record<ArrowKind, string>> = {
  awaited: texts.awaitedBy,
  message: texts.neededBy,
  collective: texts.otherRanksOfTheCollective,
  launch: 'launches',
}

function Links({ controller, title, places }: { controller: Controller; title: string; places: readonly Neighbour[] }) {
  if (places.length === 0) return null
  return (
    <p class="timeline-links">
      {title}{' '}
      {places.slice(0, 6).map((place) => {
        // A bubble waits for a pass, which ends with its last operator.
        const named = place.kind === 'awaited' ? (passOf(controller.model, place) ?? place) : place
        const track = controller.track(named)
        const batch = track.microBatch?.[named.span] ?? -1
        return (
          <button type="button" key={`${place.track} ${place.span}`} onClick={() => controller.select(named, true)}>
            {nameOf(controller.model, named)}
            {batch >= 0 ? ` ${batch}` : ''}, {track.group}
          </button>
        )
      })}
      {places.length > 6 && texts.andMore((places.length - 6).toLocaleString('en'))}
    </p>
  )
}
