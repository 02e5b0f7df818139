// Draws the tracks: pixels for all spans, shapes and labels for wide ones. The layer is redrawn only when the view, the layout or the theme
// changes; elements that follow the mouse are on a layer of their own.
// Responsible for: the layer of spans, and that of names at the left. Excludes input.
import { CRITICAL, FOUND, LIT, type Model, type Track } from './data'
import { type Palette, hatching } from './colours'
import { Labels } from './labels'
import { counterLine } from './counters'
import { type Layout, firstInSight, topOf } from './layout'
import { type Dim, Painter } from './painter'
import type { View } from './view'
import * as texts from '../words/timeline'

export interface Look {
  readonly colours: Palette
  readonly ratio: number
  /** Width in CSS pixels. */
  readonly width: number
  readonly height: number
  readonly gutter: number
  readonly critical: boolean
  readonly dim: Dim
  /** True during a motion: small labels are not drawn. */
  readonly moving: boolean
}

const STRIP = 3

/** Flag of the spans that are not faded. */
const FLAG: Readonly<Record<Dim, number>> = { nothing: 0, 'not-critical': CRITICAL, 'not-found': FOUND, 'not-lit': LIT }

export class Renderer {
  readonly labels = new Labels()
  private readonly painter = new Painter()
  private readonly lines = document.createElement('canvas')
  private image: ImageData | null = null
  private pixels = new Uint32Array(0)
  private readonly stripes = document.createElement('canvas')
  private stripImage: ImageData | null = null
  private stripPixels = new Uint32Array(0)
  private pattern: CanvasPattern | null = null
  private patternOf: Palette | null = null

  /** Draws the visible spans. */
  draw(context: CanvasRenderingContext2D, model: Model, layout: Layout, view: View, look: Look): void {
    const { colours, ratio } = look
    const width = Math.max(1, Math.round(look.width * ratio))
    const height = Math.max(1, Math.round(look.height * ratio))
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.fillStyle = colours.surface
    context.fillRect(0, 0, width, height)
    this.grid(context, view, look, width, height)
    if (this.patternOf !== colours) {
      this.pattern = hatching(context, colours, ratio)
      this.patternOf = colours
    }
    const first = firstInSight(layout, view.top)
    let last = first
    while (last < layout.rows.length && topOf(layout, last, view.top) < look.height) last++
    this.rows(context, model, layout, view, look, first, last)
    if (layout.pinned === 0) return
    // Covers rows scrolled below the pinned ones.
    context.fillStyle = colours.surface
    context.fillRect(0, 0, width, Math.round(layout.pinnedHeight * ratio))
    this.rows(context, model, layout, view, look, 0, layout.pinned)
    context.fillStyle = colours.strong
    context.fillRect(0, Math.round(layout.pinnedHeight * ratio), width, Math.max(1, Math.round(ratio)))
  }

  /** Draws a range of rows. */
  private rows(context: CanvasRenderingContext2D, model: Model, layout: Layout, view: View, look: Look, first: number, last: number): void {
    const { colours, ratio } = look
    const width = Math.max(1, Math.round(look.width * ratio))
    const count = last - first
    if (count <= 0) return
    this.ready(width, count)
    const strip = look.critical ? this.stripPixels : null
    const wide = 7 * ratio
    // Shapes and labels are drawn after the pixels of all tracks, so wide spans are collected here.
    const shapes: { row: number; spans: Int32Array; from: Float32Array; to: Float32Array }[] = []
    for (let at = 0; at < count; at++) {
      const track = layout.rows[first + at]!.track
      if (!track) continue
      this.painter.paint(track, view.from, view.to, width, wide, 0.8 * ratio, colours, look.dim, this.pixels, at * width, strip, at * width)
      const n = this.painter.wideCount
      if (n > 0) {
        shapes.push({
          row: first + at,
          spans: this.painter.wideSpan.slice(0, n),
          from: this.painter.wideFrom.slice(0, n),
          to: this.painter.wideTo.slice(0, n),
        })
      }
    }
    this.lines.getContext('2d')!.putImageData(this.image!, 0, 0, 0, 0, width, count)
    if (strip) this.stripes.getContext('2d')!.putImageData(this.stripImage!, 0, 0, 0, 0, width, count)
    context.imageSmoothingEnabled = false
    for (let at = 0; at < count; at++) {
      const row = layout.rows[first + at]!
      const y = Math.round(topOf(layout, first + at, view.top) * ratio)
      if (row.track) context.drawImage(this.lines, 0, at, width, 1, 0, y, width, Math.round(row.height * ratio))
      else if (row.counter) counterLine(context, row.counter, view, look, y, Math.round(row.height * ratio))
    }
    for (const shape of shapes) this.shapes(context, model, layout, view, look, shape)
    if (strip) {
      this.tint(count, width, colours.accent)
      for (let at = 0; at < count; at++) {
        const row = layout.rows[first + at]!
        if (!row.track) continue
        const y = Math.round((topOf(layout, first + at, view.top) + row.height - STRIP) * ratio)
        context.drawImage(this.stripes, 0, at, width, 1, 0, y, width, Math.round(STRIP * ratio))
      }
    }
  }

  private ready(width: number, count: number): void {
    if (this.image && this.image.width === width && this.image.height >= count) return
    const rows = Math.max(count, 16)
    this.image = new ImageData(width, rows)
    this.pixels = new Uint32Array(this.image.data.buffer)
    this.stripImage = new ImageData(width, rows)
    this.stripPixels = new Uint32Array(this.stripImage.data.buffer)
    this.lines.width = this.stripes.width = width
    this.lines.height = this.stripes.height = rows
  }

  /** Colours the strip of the critical path, which only has its strength so far. */
  private tint(count: number, width: number, colour: string): void {
    const pen = this.stripes.getContext('2d')!
    pen.globalCompositeOperation = 'source-in'
    pen.fillStyle = colour
    pen.fillRect(0, 0, width, count)
    pen.globalCompositeOperation = 'source-over'
  }

  /** Draws faint lines at the ticks of the ruler. */
  private grid(context: CanvasRenderingContext2D, view: View, look: Look, width: number, height: number): void {
    // Nothing outside of the step.
    const scale = width / (view.to - view.from)
    context.fillStyle = look.colours.sunken
    const zero = (0 - view.from) * scale
    if (zero > 0) context.fillRect(0, 0, Math.min(zero, width), height)
  }

  private shapes(
    context: CanvasRenderingContext2D,
    model: Model,
    layout: Layout,
    view: View,
    look: Look,
    shape: { row: number; spans: Int32Array; from: Float32Array; to: Float32Array },
  ): void {
    const row = layout.rows[shape.row]!
    const track = row.track!
    const { colours, ratio } = look
    const size = row.height >= 20 ? 11 : 10
    const font = `${Math.round(size * ratio)}px ${colours.font}`
    const y = Math.round(topOf(layout, shape.row, view.top) * ratio)
    const height = Math.round(row.height * ratio)
    const middle = y + height / 2
    const right = look.width * ratio
    context.font = font
    this.labels.use(font)
    context.textBaseline = 'middle'
    context.textAlign = 'center'
    const pad = 3 * ratio
    const least = (look.moving ? 14 : 9) * ratio
    let ink = ''
    for (let at = 0; at < shape.spans.length; at++) {
      const span = shape.spans[at]!
      const from = Math.max(0, shape.from[at]!)
      const to = Math.min(right, shape.to[at]!)
      const colour = track.colours[span]!
      if (colour === colours.bubble) {
        if (this.pattern && look.dim === 'nothing') {
          context.fillStyle = this.pattern
          ink = ''
          context.fillRect(Math.round(from), y, Math.round(to) - Math.round(from), height)
        }
        continue
      }
      const room = to - from - 2 * pad
      if (room < least - pad) continue
      const text = this.labels.of(model, track, span, room)
      if (!text) continue
      const faded = look.dim !== 'nothing' && !(track.flags[span]! & FLAG[look.dim])
      const wanted = faded ? colours.muted : colours.ink[colour]!
      if (wanted !== ink) {
        context.fillStyle = wanted
        ink = wanted
      }
      context.fillText(text, (from + to) / 2, middle + 0.5 * ratio)
    }
  }

  /** Draws the names at the left. */
  names(context: CanvasRenderingContext2D, model: Model, layout: Layout, view: View, look: Look, closed: ReadonlySet<string>): void {
    const { colours, ratio, gutter } = look
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.fillStyle = colours.surface
    context.fillRect(0, 0, gutter, look.height)
    context.textBaseline = 'middle'
    this.namesOf(context, model, layout, view, look, closed, firstInSight(layout, view.top), layout.rows.length)
    if (layout.pinned > 0) {
      context.fillStyle = colours.surface
      context.fillRect(0, 0, gutter, layout.pinnedHeight)
      this.namesOf(context, model, layout, view, look, closed, 0, layout.pinned)
      context.fillStyle = colours.strong
      context.fillRect(0, layout.pinnedHeight, gutter, 1)
    }
    context.fillStyle = colours.line
    context.fillRect(gutter - 1, 0, 1, look.height)
  }

  private namesOf(
    context: CanvasRenderingContext2D,
    model: Model,
    layout: Layout,
    view: View,
    look: Look,
    closed: ReadonlySet<string>,
    from: number,
    to: number,
  ): void {
    const { colours, gutter } = look
    const narrow = gutter <= NARROW
    for (let at = from; at < to; at++) {
      const row = layout.rows[at]!
      const y = topOf(layout, at, view.top)
      if (y > look.height) break
      const isPinned = at < layout.pinned
      const group = model.groups[row.group]!
      const middle = y + Math.min(row.height, 34) / 2 + 0.5
      let titled = 18
      if (row.first) {
        if (at > from) {
          context.fillStyle = colours.line
          context.fillRect(0, y - 3, gutter, 1)
        }
        context.fillStyle = isPinned ? colours.accent : colours.muted
        if (isPinned) context.fillRect(5, middle - 3, 6, 6)
        else this.chevron(context, 8, middle, closed.has(group.name))
        context.font = `600 12px ${colours.font}`
        context.fillStyle = colours.text
        context.textAlign = 'left'
        this.labels.use(context.font)
        // A pinned row is away from its group: one name for both, the end of which is the row's.
        const pinnedName = `${titleOf(group.name, narrow)} ${short(row.track?.name ?? '')}`
        const title = isPinned ? this.labels.fitName(pinnedName, gutter - 22) : this.labels.fit(titleOf(group.name, narrow), gutter - 22)
        context.fillText(title, 18, middle)
        titled = 18 + context.measureText(title).width
      }
      if (isPinned || (narrow && row.first)) continue
      context.font = `11px ${colours.font}`
      context.fillStyle = colours.muted
      context.textAlign = 'right'
      const track = row.track
      const only = track && closed.has(group.name) && track.name === 'passes'
      const text = only ? rankOf(track, group.name) : short(track?.name ?? row.counter?.name ?? '')
      this.labels.use(context.font)
      const room = gutter - 12 - titled
      // Beside a title a name is whole or left out: the row has its colours.
      const fits = this.labels.width(text) <= room
      context.fillText(fits ? text : row.first ? '' : this.labels.fitName(text, room), gutter - 8, middle)
    }
  }

  private chevron(context: CanvasRenderingContext2D, x: number, y: number, closed: boolean): void {
    context.beginPath()
    if (closed) {
      context.moveTo(x - 2, y - 4)
      context.lineTo(x + 3, y)
      context.lineTo(x - 2, y + 4)
    } else {
      context.moveTo(x - 4, y - 2)
      context.lineTo(x, y + 3)
      context.lineTo(x + 4, y - 2)
    }
    context.fill()
  }
}

/** Widest column of names of a narrow screen. */
const NARROW = 124

/** Title of a group at the left. */
function titleOf(name: string, narrow: boolean): string {
  return narrow ? name.replace(/^stage /, 's') : name
}

/** The rank of a collapsed group's passes; empty if its title names the rank, as that of a measured stage does. */
export function rankOf(track: Track, title: string): string {
  const rank = texts.rank(track.rank)
  return title.endsWith(rank) ? '' : rank
}

/** Width of names at the left of a narrow screen, within the space that tracks can give. */
export function roomForNames(model: Model, font: string): number {
  const pen = document.createElement('canvas').getContext('2d')!
  let widest = 0
  for (const group of model.groups.slice(0, 200)) {
    pen.font = `600 12px ${font}`
    widest = Math.max(widest, pen.measureText(titleOf(group.name, true)).width)
    pen.font = `11px ${font}`
    for (const track of group.tracks) widest = Math.max(widest, pen.measureText(short(track.name)).width + 12)
  }
  return Math.ceil(Math.min(Math.max(widest + 24, 64), NARROW))
}

/** Short names of tracks for the left column. */
export function short(name: string): string {
  return name.replace(' communication', '')
}
