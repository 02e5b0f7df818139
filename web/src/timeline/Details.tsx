// Beneath the canvas: the selected span, the marked range, or what colours mean and how the keys work.
// Responsible for: showing what the answer says of them, with links along messages. Refuses to fetch.
import type { Controller, Range } from './controller'
import { type ArrowKind, type Neighbour, type Place, neighbours } from './data'
import { className, facts, nameOf, within } from './describe'
import { instant, percent, span } from './time'
import { Legend } from './Tools'

export function Details({ controller, summed }: { controller: Controller; summed: boolean }) {
  const place = controller.selection.value
  const range = controller.range.value
  return (
    <div class="timeline-details" tabIndex={0} role="region" aria-label="Details">
      {place ? (
        <Selected controller={controller} place={place} />
      ) : range && !summed ? (
        <Marked controller={controller} range={range} />
      ) : (
        <Resting controller={controller} />
      )}
      <Merged controller={controller} />
    </div>
  )
}

const HINTS = [
  ['W S', 'zoom'],
  ['A D', 'pan'],
  ['F', 'focus'],
  ['M', 'mark'],
  ['B', 'micro batch'],
  ['P', 'pin'],
  ['E', 'open all'],
  [', .', 'critical path'],
  ['?', 'all keys'],
] as const

function Resting({ controller }: { controller: Controller }) {
  return (
    <>
      <Legend controller={controller} />
      <p class="timeline-hints">
        <span class="timeline-mouse">
          Drag pans, Ctrl and wheel zooms, Shift and drag marks a range of rows, drag on the ruler a range of all rows.
        </span>
        <span class="timeline-touch">Drag sideways pans, two fingers zoom, a tap selects.</span>
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
      {merged.toLocaleString('en')} of {spans.toLocaleString('en')} spans are merged with their neighbours, because their tracks have more
      than are drawn.
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
    <section aria-label="Selected span" class="timeline-selected">
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
            Micro batch {batch} on all rows <kbd>b</kbd>
          </button>
        )}
        <button
          type="button"
          class="button"
          aria-pressed={controller.pins.value.includes(place.track)}
          onClick={() => controller.pin(place.track)}
        >
          Pin this row <kbd>p</kbd>
        </button>
      </p>
      {(Object.keys(FROM) as ArrowKind[]).map((kind) => (
        <Links key={kind} controller={controller} title={FROM[kind]} places={from.filter((one) => one.kind === kind)} />
      ))}
      {(Object.keys(TO) as ArrowKind[]).map((kind) => (
        <Links key={kind} controller={controller} title={TO[kind]} places={to.filter((one) => one.kind === kind)} />
      ))}
      {marks.map((mark) => (
        <p key={mark.title} class={`timeline-mark ${mark.severity}`}>
          <b>{mark.title}</b> {mark.detail}
        </p>
      ))}
    </section>
  )
}

/** What the arrows that lead to a span mean, and those that lead away from it. */
const FROM: Readonly<Record<ArrowKind, string>> = {
  awaited: 'waits for',
  message: 'waited for',
  collective: 'last rank to arrive',
  launch: 'launched by',
}
const TO: Readonly<Record<ArrowKind, string>> = {
  awaited: 'awaited by',
  message: 'needed by',
  collective: 'other ranks of the collective',
  launch: 'launches',
}

function Links({ controller, title, places }: { controller: Controller; title: string; places: readonly Neighbour[] }) {
  if (places.length === 0) return null
  return (
    <p class="timeline-links">
      {title}{' '}
      {places.slice(0, 6).map((place) => {
        const track = controller.track(place)
        const batch = track.microBatch?.[place.span] ?? -1
        return (
          <button type="button" key={`${place.track} ${place.span}`} onClick={() => controller.select(place, true)}>
            {nameOf(controller.model, place)}
            {batch >= 0 ? ` ${batch}` : ''}, {track.group}
          </button>
        )
      })}
      {places.length > 6 && ` and ${(places.length - 6).toLocaleString('en')} more`}
    </p>
  )
}

function Marked({ controller, range }: { controller: Controller; range: Range }) {
  const parts = within(controller.model, range.from, range.to)
  return (
    <section aria-label="Marked range" class="timeline-selected">
      <h2>
        {span(range.to - range.from)}, from {instant(range.from, range.to - range.from)} until {instant(range.to, range.to - range.from)}
      </h2>
      <dl>
        {parts.map((part) => (
          <div key={part.name}>
            <dt>{className(part.name)}</dt>
            <dd>
              {percent(part.share)} <small>{span(part.time / controller.model.groups.length)} a stage</small>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
