// Above the canvas: search, highlights, expanding and collapsing groups, files. Responsible for: buttons and their keys. The controller has
// the state.
import type { Signal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import type { Controller } from './controller'
import { className } from './describe'
import { saved } from './export'
import { download } from '../ui/clipboard'
import { Menu } from '../ui/menu'
import * as texts from '../words/timeline'

interface Props {
  readonly controller: Controller
  readonly table: Signal<boolean>
  readonly search: RefObject<HTMLInputElement | null>
  readonly children?: ComponentChildren
}

export function Tools({ controller, table, search, children }: Props) {
  const { found, closed, critical, onlyCritical } = controller
  const { model } = controller
  const hits = found.value
  const draw = () => controller.draw()
  const flip = (state: Signal<boolean>) => {
    state.value = !state.value
    draw()
  }
  const saves = [
    { title: texts.saveAsPng, format: 'png' as const },
    { title: texts.saveAsSvg, format: 'svg' as const },
    { title: texts.saveAsCsv, format: 'csv' as const },
  ].map(({ title, format }) => ({ title, run: () => void saved(controller, format).then((blob) => download(`timeline.${format}`, blob)) }))
  return (
    <div class="timeline-tools" role="toolbar" aria-label={texts.timeline2}>
      {children}
      <div class="timeline-find">
        <input
          ref={search}
          type="search"
          class="input"
          data-filter
          placeholder={texts.findASpan}
          aria-label={texts.findSpansByNameOr}
          value={hits.text}
          onInput={(event) => controller.find(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') controller.nextFound(event.shiftKey ? -1 : 1)
            else if (event.key === 'Escape') {
              controller.find('')
              controller.surfaces?.host.focus()
            } else return
            event.preventDefault()
            event.stopPropagation()
          }}
        />
        <kbd>/</kbd>
        <span class="timeline-hits" aria-live="polite">
          {hits.text &&
            (hits.places.length > 0
              ? `${hits.at >= 0 ? texts.ofText2((hits.at + 1).toLocaleString('en')) : ''}${hits.places.length.toLocaleString('en')}`
              : 'none')}
        </span>
      </div>
      {model.critical.length > 0 && (
        <>
          <button
            type="button"
            class="button"
            aria-pressed={critical.value}
            onClick={() => flip(critical)}
            title={texts.underlineTheChainOfSpans}
          >
            <span class="timeline-critical" /> {texts.criticalPath2}
          </button>
          <button
            type="button"
            class="button"
            aria-pressed={onlyCritical.value}
            onClick={() => flip(onlyCritical)}
            title={texts.fadeAllElseCComma}
          >
            {texts.pathOnly}
          </button>
        </>
      )}
      <button type="button" class="button" onClick={() => controller.toggleAll()} title={texts.allStreamsOfEveryStage}>
        {closed.value.size > 0 ? texts.openAll2 : texts.closeAll}
      </button>
      <button type="button" class="button" onClick={() => controller.fly(0, model.duration)} title={texts.theWholeStep0}>
        {texts.fit}
      </button>
      <button
        type="button"
        class="button"
        aria-pressed={table.value}
        onClick={() => (table.value = !table.value)}
        title={texts.theSpansInSightAs}
      >
        {texts.table}
      </button>
      <span class="timeline-save">
        <Menu label={texts.saveTheTimeline} items={saves}>
          <span aria-hidden="true">⋯</span>
        </Menu>
      </span>
    </div>
  )
}

/** Legend of the classes in the timeline. */
export function Legend({ controller }: { controller: Controller }) {
  const { model } = controller
  const used = new Set<string>()
  for (const track of model.tracks) for (const colour of track.colours) used.add(model.classes[colour]!)
  return (
    <ul class="timeline-legend" aria-label={texts.colours}>
      {[...new Set(model.classes)].map((name) =>
        used.has(name) ? (
          <li key={name}>
            <span
              class={`timeline-swatch${name === 'bubble' ? ' bubble' : ''}`}
              style={{ background: name === 'bubble' ? undefined : `var(--class-${name})` }}
            />
            {name === 'other' && model.classes.indexOf(name) !== model.classes.lastIndexOf(name) ? texts.otherByName : className(name)}
          </li>
        ) : null,
      )}
    </ul>
  )
}
