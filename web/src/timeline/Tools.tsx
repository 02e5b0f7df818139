// Above the canvas: finding, what is highlighted, opening and closing groups, files.
// Responsible for: buttons and their keys. Refuses to hold state: the controller does.
import type { Signal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import type { Controller } from './controller'
import { className } from './describe'
import { toCsv, toPng, toSvg } from './export'
import { download } from '../ui/clipboard'
import { Menu } from '../ui/menu'

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
  const text = (content: string, type: string, name: string) => download(name, new Blob([content], { type }))
  const saves = [
    { title: 'Save as PNG', run: () => void toPng(controller).then((blob) => download('timeline.png', blob)) },
    { title: 'Save as SVG', run: () => text(toSvg(controller), 'image/svg+xml', 'timeline.svg') },
    { title: 'Save as CSV', run: () => text(toCsv(controller), 'text/csv', 'timeline.csv') },
  ]
  return (
    <div class="timeline-tools" role="toolbar" aria-label="Timeline">
      {children}
      <div class="timeline-find">
        <input
          ref={search}
          type="search"
          class="input"
          data-filter
          placeholder="Find a span"
          aria-label="Find spans by name, or #12 for a micro batch"
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
              ? `${hits.at >= 0 ? `${(hits.at + 1).toLocaleString('en')} of ` : ''}${hits.places.length.toLocaleString('en')}`
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
            title="Underline the chain of spans that makes the step as long as it is"
          >
            <span class="timeline-critical" /> Critical path
          </button>
          <button
            type="button"
            class="button"
            aria-pressed={onlyCritical.value}
            onClick={() => flip(onlyCritical)}
            title="Fade all else (c); comma and full stop follow it"
          >
            Only it
          </button>
        </>
      )}
      <button type="button" class="button" onClick={() => controller.toggleAll()} title="All streams of every stage (e)">
        {closed.value.size > 0 ? 'Open all' : 'Close all'}
      </button>
      <button type="button" class="button" onClick={() => controller.fly(0, model.duration)} title="The whole step (0)">
        Fit
      </button>
      <button
        type="button"
        class="button"
        aria-pressed={table.value}
        onClick={() => (table.value = !table.value)}
        title="The spans in sight as a table"
      >
        Table
      </button>
      <span class="timeline-save">
        <Menu label="Save the timeline" items={saves}>
          <span aria-hidden="true">⋯</span>
        </Menu>
      </span>
    </div>
  )
}

/** What colours mean, of the classes that there are. */
export function Legend({ controller }: { controller: Controller }) {
  const { model } = controller
  const used = new Set<string>()
  for (const track of model.tracks) for (const colour of track.colours) used.add(model.classes[colour]!)
  return (
    <ul class="timeline-legend" aria-label="Colours">
      {[...new Set(model.classes)].map((name) =>
        used.has(name) ? (
          <li key={name}>
            <span
              class={`timeline-swatch${name === 'bubble' ? ' bubble' : ''}`}
              style={{ background: name === 'bubble' ? undefined : `var(--class-${name})` }}
            />
            {className(name)}
          </li>
        ) : null,
      )}
    </ul>
  )
}
