// The timeline as a component: canvases, tools, the selection as text, and a table for screen readers.
// Responsible for: combining the parts. The caller fetches the answer in columns.
import { useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Arguments } from '../api/ask'
import { useKeys } from '../state/keys'
import { dark } from '../state/theme'
import { useAddress } from './address'
import { Controller } from './controller'
import { type RawColumns, model } from './data'
import { className, nameOf, sentence } from './describe'
import { Details } from './Details'
import { listen } from './input'
import { RangeSums } from './RangeSums'
import { SpanTable } from './SpanTable'
import { span } from './time'
import { Tools } from './Tools'
import './timeline.css'
import * as texts from '../words/timeline'

/** Only for the list of keys; the timeline handles them itself, because keys are held. */
const KEYS = (
  [
    ['w', texts.zoomInHold],
    ['s', texts.zoomOut],
    ['a', texts.panLeft],
    ['d', texts.panRight],
    ['ArrowRight', texts.nextSpanArrows],
    ['f', texts.focusOnWhatIsSelected],
    ['m', texts.markARangeTheSelected],
    ['b', texts.highlightTheMicroBatchOf],
    ['p', texts.pinTheRowOfThe],
    ['n', texts.nextSpanThatWasFound],
    ['.', texts.alongTheCriticalPathComma],
    ['c', texts.theCriticalPathAlone],
    ['e', texts.openOrCloseAllGroups],
    ['0', texts.theWholeStep],
  ] as const
).map(([keys, title]) => ({ keys, title, group: 'Timeline', run: () => false }))

interface Props {
  readonly columns: RawColumns
  /** Receives the controller, for control from outside of the timeline. */
  readonly handle?: { current: Controller | null }
  /** More tools, at the left. */
  readonly tools?: ComponentChildren
  readonly height?: string
  /** Prefix under which the URL stores the view; without it nothing is stored. */
  readonly prefix?: string
  /** Question for the sums of a selected range of measured rows; without it they are computed from the spans of the model. */
  readonly sums?: Arguments
}

export function Timeline({ columns, handle, tools, height, sums, prefix }: Props) {
  const known = useRef<{ of: RawColumns; controller: Controller } | null>(null)
  const controller = useMemo(() => {
    if (known.current) {
      known.current.controller.show(model(columns))
      known.current.of = columns
    } else {
      known.current = { of: columns, controller: new Controller(model(columns)) }
    }
    return known.current.controller
  }, [columns])
  if (handle) handle.current = controller
  useAddress(controller, prefix)
  const table = useSignal(false)
  useKeys(KEYS)
  const search = useRef<HTMLInputElement>(null)
  return (
    <div class="timeline">
      <Tools controller={controller} table={table} search={search}>
        {tools}
      </Tools>
      {table.value ? <SpanTable controller={controller} /> : <Canvases controller={controller} search={search} height={height} />}
      <Details controller={controller} />
      <RangeSums controller={controller} question={sums ?? null} />
    </div>
  )
}

function Canvases({ controller, search, height }: { controller: Controller; search: RefObject<HTMLInputElement | null>; height?: string }) {
  const host = useRef<HTMLDivElement>(null)
  const base = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<HTMLCanvasElement>(null)
  const names = useRef<HTMLCanvasElement>(null)
  const ruler = useRef<HTMLCanvasElement>(null)
  const minimap = useRef<HTMLCanvasElement>(null)
  useLayoutEffect(() => {
    const detach = controller.attach({
      host: host.current!,
      base: base.current!,
      overlay: overlay.current!,
      names: names.current!,
      ruler: ruler.current!,
      minimap: minimap.current!,
    })
    // For tests that measure frames, and for consoles.
    Object.assign(host.current!, { controller })
    const silence = listen(controller, host.current!, () => search.current?.focus())
    return () => {
      silence()
      detach()
    }
  }, [controller])
  useEffect(() => dark.subscribe(() => requestAnimationFrame(() => controller.recolour())), [controller])
  const sentenceShown = useComputed(() => {
    const place = controller.selection.value
    return place ? sentence(controller.model, place) : ''
  })
  const label = texts.timelineOfGroupsOfTracks(
    controller.model.label,
    controller.model.groups.length,
    controller.model.spans.toLocaleString('en'),
    span(controller.model.duration),
  )
  return (
    <>
      <div
        ref={host}
        class="timeline-host"
        style={height ? { height } : undefined}
        tabIndex={0}
        role="application"
        aria-label={label}
        aria-roledescription={texts.timeline}
        aria-describedby="timeline-keys"
        data-testid="timeline"
      >
        <canvas ref={minimap} aria-hidden="true" />
        <canvas ref={ruler} aria-hidden="true" />
        <canvas ref={base} aria-hidden="true" />
        <canvas ref={overlay} aria-hidden="true" />
        <canvas ref={names} aria-hidden="true" />
        <Tooltip controller={controller} />
      </div>
      <p id="timeline-keys" class="timeline-spoken">
        {texts.arrowKeysGoFromSpan}
      </p>
      <p class="timeline-spoken" aria-live="polite">
        {sentenceShown}
      </p>
    </>
  )
}

function Tooltip({ controller }: { controller: Controller }) {
  const hover = controller.hover.value
  if (!hover) return null
  const { model } = controller
  const track = model.tracks[hover.place.track]!
  const at = hover.place.span
  const batch = track.microBatch?.[at] ?? -1
  const chunk = track.chunk?.[at] ?? -1
  const right = hover.x > (controller.width + controller.gutter) * 0.7
  const style = right
    ? { right: `${controller.width + controller.gutter - hover.x + 12}px`, top: `${hover.y + 16}px` }
    : { left: `${hover.x + 12}px`, top: `${hover.y + 16}px` }
  const swatch = model.classes[track.colours[at]!] ?? 'other'
  return (
    <div class="timeline-tip" style={style} aria-hidden="true">
      <div class="timeline-tip-name">
        <span
          class={`timeline-swatch${swatch === 'bubble' ? ' bubble' : ''}`}
          style={{ background: swatch === 'bubble' ? undefined : `var(--class-${swatch})` }}
        />
        {nameOf(model, hover.place)}
      </div>
      <div>
        <b>{span(track.ends[at]! - track.starts[at]!)}</b> {className(swatch)}
        {batch >= 0 && texts.microBatch3(batch)}
        {chunk >= 0 && texts.chunk(chunk)}
      </div>
    </div>
  )
}
