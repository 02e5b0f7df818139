// State of a timeline in the URL: visible range, selection, highlights, pins and groups, so that a link reproduces the view. Responsible
// for: writing it once it settles, and applying it when the URL changes by a link or Back. Rejects positions that the answer does not have.
import { useEffect, useRef } from 'preact/hooks'
import { change, own } from '../state/location'
import type { Controller } from './controller'
import type { Model, Place } from './data'

const KEYS = ['view', 'sel', 'mark', 'mb', 'pins', 'open'] as const
type Key = (typeof KEYS)[number]
export type Kept = Partial<Record<Key, string>>

/** Clears the stored state of a timeline, for links to another place in it. */
export function afresh(prefix: string): Record<string, undefined> {
  return Object.fromEntries(KEYS.map((key) => [`${prefix}.${key}`, undefined]))
}

/** State to store, without defaults. */
export function write(controller: Controller): Kept {
  const { model, sight, selection, range, lit, pins, closed } = controller
  const kept: Kept = {}
  const { from, to } = sight.view
  if (to - from < model.duration * 0.995) kept.view = `${Math.round(from)}..${Math.round(to)}`
  if (selection.value) kept.sel = `${selection.value.track}.${selection.value.span}`
  const marked = range.value
  if (marked) {
    const rows = marked.tracks ? `:${marked.tracks.join('.')}` : ''
    kept.mark = `${Math.round(marked.from)}..${Math.round(marked.to)}${rows}`
  }
  if (lit.value >= 0) kept.mb = String(lit.value)
  if (pins.value.length > 0) kept.pins = pins.value.join('.')
  const open = model.groups.flatMap((group, at) => (closed.value.has(group.name) ? [] : [at]))
  const usually = model.groups.length > 4 ? 0 : model.groups.length
  if (open.length !== usually) kept.open = open.length === model.groups.length ? 'all' : open.join('.') || 'none'
  return kept
}

function stretch(text: string | undefined): { from: number; to: number } | null {
  const [, from, to] = /^(-?\d+)\.\.(-?\d+)/.exec(text ?? '') ?? []
  if (from === undefined || to === undefined || Number(to) <= Number(from)) return null
  return { from: Number(from), to: Number(to) }
}

const numbers = (text: string | undefined): number[] =>
  (text ?? '')
    .split('.')
    .filter((part) => /^\d+$/.test(part))
    .map(Number)

function placeIn(model: Model, text: string | undefined): Place | null {
  const [track, span] = numbers(text)
  const found = track === undefined ? undefined : model.tracks[track]
  return found && span !== undefined && span < found.count ? { track: track!, span } : null
}

/** Applies the stored state of a URL. */
export function take(controller: Controller, kept: Kept): void {
  const { model } = controller
  const opened = kept.open === undefined ? null : kept.open === 'all' ? model.groups.map((_, at) => at) : numbers(kept.open)
  if (opened) controller.closed.value = new Set(model.groups.flatMap((group, at) => (opened.includes(at) ? [] : [group.name])))
  controller.pins.value = numbers(kept.pins).filter((at) => at < model.tracks.length)
  controller.arrange()
  const marked = stretch(kept.mark)
  const rows = numbers(kept.mark?.split(':')[1]).filter((at) => at < model.tracks.length)
  controller.range.value = marked && { ...marked, ...(rows.length > 0 ? { tracks: rows } : {}) }
  const batch = numbers(kept.mb)[0]
  if ((batch ?? -1) !== controller.lit.value) controller.light(batch ?? -1)
  const place = placeIn(model, kept.sel)
  const view = stretch(kept.view)
  controller.sight.show(view?.from ?? 0, view?.to ?? model.duration)
  controller.select(place, place !== null && view === null)
  controller.draw()
}

const same = (one: Kept, other: Kept) => KEYS.every((key) => one[key] === other[key])

/** Synchronizes a timeline with the URL. */
export function useAddress(controller: Controller, prefix: string | undefined): void {
  const written = useRef<{ of: Model; kept: Kept } | null>(null)
  const here = prefix ? own(prefix) : {}
  const kept: Kept = Object.fromEntries(KEYS.flatMap((key) => (here[key] === undefined ? [] : [[key, here[key]]])))
  const { model } = controller
  useEffect(() => {
    if (!prefix) return
    const last = written.current
    // A new answer keeps the state of the timeline, and the URL is updated.
    if (last === null || (last.of === model && !same(last.kept, kept))) {
      if (last !== null || Object.keys(kept).length > 0) take(controller, kept)
      written.current = { of: model, kept }
    } else if (last.of !== model) written.current = { of: model, kept }
  })
  const settled = controller.settled.value
  const range = controller.range.value
  const marking = controller.marking.value
  const closed = controller.closed.value
  useEffect(() => {
    if (!prefix || marking || written.current === null) return
    const timer = setTimeout(() => {
      const now = write(controller)
      if (same(now, written.current?.kept ?? {})) return
      written.current = { of: controller.model, kept: now }
      change(Object.fromEntries(KEYS.map((key) => [`${prefix}.${key}`, now[key]])), 'replace')
    }, 250)
    return () => clearTimeout(timer)
  }, [controller, prefix, settled, range, marking, closed])
}
