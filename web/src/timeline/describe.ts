// Descriptions of a span: rows for the panel, a sentence for screen readers, a line for the tooltip.
// Responsible for: texts. Computes only differences and shares of the answer's numbers.
import { CRITICAL, type Model, type Place, firstEndingAfter } from './data'
import { bytes, instant, percent, span } from './time'
import * as texts from '../words/timeline'

export const CLASS_NAMES: Readonly<Record<string, string>> = {
  forward: 'forward',
  backward: 'backward',
  weight_gradient: texts.weightGradient,
  recompute: 'recompute',
  tensor: texts.tensorCommunication,
  context: texts.contextCommunication,
  data: texts.dataCommunication,
  pipeline: texts.pipelineMessage,
  expert: texts.expertCommunication,
  bubble: 'bubble',
  optimizer: 'optimizer',
  copy: 'copy',
  host: 'host',
  other: 'other',
  communication: 'communication',
  waiting: texts.waitingForOtherRanks,
}

export function className(name: string): string {
  return CLASS_NAMES[name] ?? name.replaceAll('_', ' ')
}

export interface Fact {
  readonly name: string
  readonly value: string
  readonly hint?: string
}

export function nameOf(model: Model, { track, span: at }: Place): string {
  const own = model.tracks[track]!
  const name = model.names[own.names[at]!] ?? ''
  const count = own.counts?.[at] ?? 1
  return count > 1 ? texts.spansTheLongest(count, name) : name
}

/** Pass of a micro-batch in which a span ends, on the same stage; null if the row of passes lacks it. */
export function passOf(model: Model, { track, span: at }: Place): Place | null {
  const own = model.tracks[track]!
  const passes = model.groups.find((group) => group.name === own.group)?.tracks[0]
  if (!passes?.microBatch) return null
  const middle = (own.starts[at]! + own.ends[at]!) / 2
  const pass = firstEndingAfter(passes, middle)
  const isPass = pass < passes.count && passes.starts[pass]! <= middle && passes.microBatch[pass]! >= 0
  return isPass ? { track: passes.index, span: pass } : null
}

export function facts(model: Model, place: Place): Fact[] {
  const track = model.tracks[place.track]!
  const at = place.span
  const length = track.ends[at]! - track.starts[at]!
  const found: Fact[] = [
    { name: 'takes', value: span(length) },
    { name: texts.ofTheStep, value: percent(length / model.duration) },
    { name: 'from', value: instant(track.starts[at]!, length) },
    { name: 'until', value: instant(track.ends[at]!, length) },
    { name: 'class', value: className(model.classes[track.colours[at]!] ?? '') },
    { name: 'on', value: `${track.group}, ${track.name}` },
    { name: 'rank', value: String(track.rank) },
  ]
  const add = (name: string, column: Int32Array | null) => {
    const value = column?.[at] ?? -1
    if (value >= 0) found.push({ name, value: String(value) })
  }
  add(texts.microBatch2, track.microBatch)
  add('chunk', track.chunk)
  add('layer', track.layer)
  const moved = track.bytes?.[at] ?? 0
  if (moved > 0) {
    found.push({ name: 'moves', value: bytes(moved) })
    if (length > 0) found.push({ name: 'at', value: `${bytes((moved / length) * 1e9)}/s` })
  }
  const count = track.counts?.[at] ?? 1
  if (count > 1) {
    found.push({
      name: 'merged',
      value: texts.spansBusyFor(count, span(track.busy?.[at] ?? 0)),
      hint: texts.neighboursWithinOfEachOther(span(track.resolution), track.spans.toLocaleString('en')),
    })
  }
  if (track.flags[at]! & CRITICAL) found.push({ name: texts.criticalPath, value: 'yes' })
  return found
}

/** One sentence, for a live region. */
export function sentence(model: Model, place: Place): string {
  const track = model.tracks[place.track]!
  const at = place.span
  const batch = track.microBatch?.[at] ?? -1
  const parts = [
    nameOf(model, place),
    batch >= 0 ? texts.microBatch4(batch) : '',
    `${track.group}, ${track.name}`,
    texts.takesFrom(span(track.ends[at]! - track.starts[at]!), instant(track.starts[at]!, track.ends[at]! - track.starts[at]!)),
    track.flags[at]! & CRITICAL ? texts.onTheCriticalPath : '',
    texts.spanOf(at + 1, track.count),
  ]
  return `${parts.filter(Boolean).join(', ')}.`
}
