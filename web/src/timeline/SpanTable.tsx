// Visible spans as a table: the timeline for screen readers.
// Responsible for: the first few hundred by time, and the number of further ones.
import type { Controller } from './controller'
import { type Place, firstEndingAfter, firstStartingAt } from './data'
import { className } from './describe'
import { instant, span } from './time'
import * as texts from '../words/timeline'

const MOST = 300

export function SpanTable({ controller }: { controller: Controller }) {
  controller.settled.value
  const { model, sight } = controller
  const places: Place[] = []
  let count = 0
  for (const row of controller.rows.rows) {
    const { track } = row
    if (!track) continue
    const first = firstEndingAfter(track, sight.view.from)
    const last = firstStartingAt(track, sight.view.to, first)
    count += last - first
    for (let at = first; at < last && at < first + MOST; at++) places.push({ track: track.index, span: at })
  }
  places.sort((a, b) => controller.track(a).starts[a.span]! - controller.track(b).starts[b.span]! || a.track - b.track)
  const shown = places.slice(0, MOST)
  const selected = controller.selection.value
  return (
    <div class="timeline-table" tabIndex={0} role="region" aria-label={texts.spansInSight}>
      <table>
        <caption>
          {shown.length.toLocaleString('en')} {texts.ofText} {count.toLocaleString('en')} {texts.spansBetween}{' '}
          {span(Math.max(0, sight.view.from))} {texts.and} {span(Math.min(model.duration, sight.view.to))}
          {texts.inOrderOfTimeCsv}
        </caption>
        <thead>
          <tr>
            <th scope="col">{texts.where}</th>
            <th scope="col">{texts.what}</th>
            <th scope="col">{texts.classText}</th>
            <th scope="col" class="number">
              {texts.microBatch}
            </th>
            <th scope="col" class="number">
              {texts.from2}
            </th>
            <th scope="col" class="number">
              {texts.takes}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((place) => {
            const track = controller.track(place)
            const batch = track.microBatch?.[place.span] ?? -1
            const is = selected?.track === place.track && selected.span === place.span
            return (
              <tr key={`${place.track} ${place.span}`} aria-current={is ? 'true' : undefined}>
                <td>
                  {track.group}, {track.name}
                </td>
                <td>
                  <button type="button" onClick={() => controller.select(place)}>
                    {model.names[track.names[place.span]!]}
                  </button>
                </td>
                <td>{className(model.classes[track.colours[place.span]!] ?? '')}</td>
                <td class="number">{batch >= 0 ? batch : ''}</td>
                <td class="number">{instant(track.starts[place.span]!, track.ends[place.span]! - track.starts[place.span]!)}</td>
                <td class="number">{span(track.ends[place.span]! - track.starts[place.span]!)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
