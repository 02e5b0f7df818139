// Overlay of the spans: the cursor, the span under it, the selected one with its predecessors, the selected range, findings.
// Responsible for: redrawing them each time, because they are few. Does not change the layer of spans.
import type { Controller } from './controller'
import { type ArrowKind, type Mark, type Place, collectiveOf, firstEndingAfter, neighbours } from './data'
import { topOf } from './layout'
import type { Look } from './renderer'

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Box of a span on the canvas; null if its track is hidden. */
export function boxOf(controller: Controller, place: Place): Box | null {
  const track = controller.model.tracks[place.track]
  const row = track && controller.rows.rows[controller.rows.rowOf[track.index]!]
  if (!track || !row) return null
  const from = controller.xOf(track.starts[place.span]!)
  const to = controller.xOf(track.ends[place.span]!)
  const y = yOf(controller, controller.rows.rowOf[track.index]!)
  return y === null ? null : { x: from, y, width: Math.max(to - from, 2), height: row.height }
}

/** Vertical position of a row on the canvas; null if pinned rows cover it. */
function yOf(controller: Controller, at: number): number | null {
  const { rows } = controller
  const y = topOf(rows, at, controller.sight.view.top)
  return at >= rows.pinned && y + rows.rows[at]!.height <= rows.pinnedHeight ? null : y
}

/** Row of a mark: the visible row of its group if its own track is collapsed. */
export function rowOfMark(controller: Controller, mark: Mark): number {
  if (mark.track === null) return -1
  const track = controller.model.tracks[mark.track]!
  const own = controller.rows.rowOf[track.index]!
  if (own >= 0) return own
  return controller.rows.rows.findIndex((row) => controller.model.groups[row.group]!.name === track.group)
}

export function drawOverlay(pen: CanvasRenderingContext2D, controller: Controller, look: Look): void {
  const { colours, ratio, width, height } = look
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.clearRect(0, 0, width, height)
  const range = controller.range.value
  if (range) {
    const from = controller.xOf(range.from)
    const to = controller.xOf(range.to)
    pen.globalAlpha = 0.1
    pen.fillStyle = colours.accent
    pen.fillRect(from, 0, to - from, height)
    pen.globalAlpha = 1
    pen.fillRect(Math.round(from), 0, 1, height)
    pen.fillRect(Math.round(to), 0, 1, height)
    if (range.tracks) markedRows(pen, controller, colours.accent, { tracks: range.tracks, from, to })
  }
  marks(pen, controller, look)
  const hover = controller.hover.value
  if (hover) {
    sameBatch(pen, controller, look, hover.place)
    outline(pen, boxOf(controller, hover.place), look, colours.text, 1)
  }
  const selected = controller.selection.value
  if (selected) {
    arrows(pen, controller, look, selected)
    outline(pen, boxOf(controller, selected), look, colours.surface, 4)
    outline(pen, boxOf(controller, selected), look, colours.text, 2)
  }
  if (controller.cursor !== null) {
    pen.fillStyle = colours.strong
    pen.fillRect(Math.round(controller.xOf(controller.cursor)), 0, 1, height)
  }
}

/** Bars at both ends of every selected row. */
function markedRows(
  pen: CanvasRenderingContext2D,
  controller: Controller,
  colour: string,
  { tracks, from, to }: { tracks: readonly number[]; from: number; to: number },
): void {
  pen.fillStyle = colour
  for (const track of tracks) {
    const row = controller.rows.rows[controller.rows.rowOf[track] ?? -1]
    if (!row) continue
    const y = yOf(controller, controller.rows.rowOf[track]!)
    if (y === null) continue
    pen.fillRect(Math.round(from) - 1, y, 3, row.height)
    pen.fillRect(Math.round(to) - 1, y, 3, row.height)
  }
}

function outline(pen: CanvasRenderingContext2D, box: Box | null, look: Look, colour: string, line: number): void {
  if (!box || box.x > look.width || box.x + box.width < 0) return
  const from = Math.max(-4, box.x)
  const to = Math.min(look.width + 4, box.x + box.width)
  pen.strokeStyle = colour
  pen.lineWidth = line
  pen.strokeRect(from, box.y, Math.max(to - from, 2), box.height)
}

/** Maximum number of outlines for one micro-batch: more would be too narrow to distinguish. */
const MOST_OUTLINES = 2000

/** Outlines of a span's micro-batch on all visible rows. */
function sameBatch(pen: CanvasRenderingContext2D, controller: Controller, look: Look, place: Place): void {
  const batch = controller.track(place).microBatch?.[place.span] ?? -1
  if (batch < 0) return
  const { view } = controller.sight
  let left = MOST_OUTLINES
  controller.rows.rows.forEach((row, at) => {
    const { track } = row
    if (!track?.microBatch || topOf(controller.rows, at, view.top) > look.height) return
    for (let span = firstEndingAfter(track, view.from); span < track.count && track.starts[span]! < view.to; span++) {
      if (track.microBatch[span] !== batch) continue
      if (left-- <= 0) return
      outline(pen, boxOf(controller, { track: track.index, span }), look, look.colours.accent, 1.5)
    }
  })
}

/** Dash pattern of each kind of arrow, so that colour is never the only sign. */
const DASHES: Readonly<Record<ArrowKind, readonly number[]>> = { message: [], launch: [2, 2], collective: [7, 3], awaited: [1, 3] }

/** Arrows of the selected span: from its predecessors and its launch, and to its successors; all parts of its collective. */
function arrows(pen: CanvasRenderingContext2D, controller: Controller, look: Look, place: Place): void {
  const { from, to } = neighbours(controller.model.arrows, place)
  const own = boxOf(controller, place)
  if (!own) return
  pen.lineWidth = 1.5
  for (const part of collectiveOf(controller.model.arrows, place).slice(0, 64))
    outline(pen, boxOf(controller, part), look, look.colours.accent, 1.5)
  for (const [others, incoming] of [
    [from, true],
    [to, false],
  ] as const) {
    for (const other of others.slice(0, 64)) {
      const box = boxOf(controller, other)
      if (!box) continue
      const [a, b] = incoming ? [box, own] : [own, box]
      pen.setLineDash(DASHES[other.kind] as number[])
      // Parts of a collective run concurrently: they can start when the last one enters.
      const leaves = other.kind === 'collective' || other.kind === 'launch' ? a.x : a.x + a.width
      const arrives = other.kind === 'awaited' ? b.x + b.width : b.x
      curve(pen, leaves, a.y + a.height / 2, arrives, b.y + b.height / 2, look.colours.text)
      pen.setLineDash([])
      outline(pen, box, look, look.colours.text, 1)
    }
  }
}

function curve(pen: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number, colour: string): void {
  const bend = Math.min(60, Math.max(12, Math.abs(x1 - x0) / 2))
  pen.strokeStyle = colour
  pen.beginPath()
  pen.moveTo(x0, y0)
  pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 3, y1)
  pen.stroke()
  pen.setLineDash([])
  pen.fillStyle = colour
  pen.beginPath()
  pen.moveTo(x1, y1)
  pen.lineTo(x1 - 6, y1 - 3.5)
  pen.lineTo(x1 - 6, y1 + 3.5)
  pen.fill()
}

/** Findings: a bracket over the place with a flag. Both colour and shape of the flag show the severity. */
function marks(pen: CanvasRenderingContext2D, controller: Controller, look: Look): void {
  const { colours } = look
  for (const mark of controller.model.marks) {
    const at = rowOfMark(controller, mark)
    const row = controller.rows.rows[at]
    if (!row) continue
    const from = controller.xOf(mark.at)
    const to = Math.max(controller.xOf(mark.at + mark.length), from + 2)
    if (to < 0 || from > look.width) continue
    const y = yOf(controller, at)
    if (y === null) continue
    const colour = mark.severity === 'fault' ? colours.bad : mark.severity === 'warning' ? colours.warn : colours.muted
    pen.strokeStyle = colour
    pen.lineWidth = 1.5
    pen.setLineDash(mark.severity === 'note' ? [3, 2] : [])
    pen.strokeRect(Math.max(-2, from) - 0.5, y - 0.5, Math.min(to, look.width + 2) - Math.max(-2, from) + 1, row.height + 1)
    pen.setLineDash([])
    pen.fillStyle = colour
    pen.beginPath()
    pen.moveTo(from - 4, y - 6)
    pen.lineTo(from + 4, y - 6)
    pen.lineTo(from, y + 1)
    pen.fill()
  }
}
