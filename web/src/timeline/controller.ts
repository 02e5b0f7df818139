// Controller of the timeline: shown data, selection, visible range and redraws.
// Responsible for: state and frames. Drawing, input and texts are modules of their own. Independent of the surrounding page.
import { matcher } from './find'
import { signal } from '@preact/signals'
import { type Palette, palette } from './colours'
import { FOUND, LIT, type Model, type Place, type Track, firstEndingAfter } from './data'
import { type Layout, layout, tallest, topOf } from './layout'
import { drawOverlay } from './overlay'
import type { Dim } from './painter'
import { Renderer, type Look, roomForNames } from './renderer'
import { Minimap, drawRuler } from './ruler'
import { Sight } from './view'

export interface Range {
  readonly from: number
  readonly to: number
  /** Selected rows; by default all visible ones. */
  readonly tracks?: readonly number[]
}

export interface Canvases {
  readonly host: HTMLElement
  readonly base: HTMLCanvasElement
  readonly overlay: HTMLCanvasElement
  readonly names: HTMLCanvasElement
  readonly ruler: HTMLCanvasElement
  readonly minimap: HTMLCanvasElement
}

export const RULER = 26
export const MINIMAP = 34

export class Controller {
  readonly selection = signal<Place | null>(null)
  readonly range = signal<Range | null>(null)
  /** True while the mouse selects a range: no sums yet. */
  readonly marking = signal(false)
  readonly hover = signal<{ place: Place; x: number; y: number } | null>(null)
  readonly critical = signal(true)
  readonly onlyCritical = signal(false)
  readonly found = signal<{ text: string; places: readonly Place[]; at: number }>({ text: '', places: [], at: -1 })
  /** Incremented when the visible range has settled after a change. */
  readonly settled = signal(0)
  readonly closed = signal<ReadonlySet<string>>(new Set())
  /** Indices of pinned tracks, which do not scroll. */
  readonly pins = signal<readonly number[]>([])
  /** Highlighted micro-batch on all rows, with the rest faded; -1 for none. */
  readonly lit = signal(-1)

  model: Model
  sight: Sight
  rows: Layout
  width = 0
  height = 0
  ratio = 1
  gutter = 168
  /** Time at the mouse pointer, in nanoseconds; null outside of the canvas. */
  cursor: number | null = null
  private canvases: Canvases | null = null
  private colours: Palette | null = null
  private readonly renderer = new Renderer()
  private readonly minimap = new Minimap()
  private dirty = 0
  private frame = 0
  private movingUntil = 0
  private velocity = { pan: 0, zoom: 0 }
  private held = { pan: 0, zoom: 0 }
  private lastFrame = 0
  /** Drawing times of the last frames, in milliseconds, for measurements. */
  readonly costs = new Float32Array(512)
  frames = 0
  private flight: { from: Range; to: Range; since: number } | null = null

  constructor(model: Model) {
    this.model = model
    this.sight = new Sight(model.duration)
    if (model.groups.length > 4) this.closed.value = new Set(model.groups.map((group) => group.name))
    this.rows = layout(model, this.closed.value, 480)
  }

  /** Shows another answer; the visible range is kept if both have about the same length. */
  show(model: Model): void {
    const before = this.sight.duration
    const same = model.groups.length === this.model.groups.length
    this.model = model
    const share = model.duration / before
    if (share > 0.5 && share < 2 && this.sight.span < before * 0.98) {
      this.sight.duration = model.duration
      this.sight.show(this.sight.view.from, this.sight.view.to)
    } else {
      const { top } = this.sight.view
      this.sight = new Sight(model.duration)
      if (same) this.sight.view.top = top
    }
    if (!same) this.closed.value = new Set(model.groups.length > 4 ? model.groups.map((group) => group.name) : [])
    this.pins.value = this.pins.value.filter((at) => at < model.tracks.length)
    this.lit.value = -1
    this.selection.value = null
    this.range.value = null
    this.hover.value = null
    this.found.value = { text: '', places: [], at: -1 }
    this.minimap.forget()
    if (this.canvases && this.gutter !== this.roomAtLeft(this.canvases)) this.resize()
    else this.arrange()
  }

  attach(canvases: Canvases): () => void {
    this.canvases = canvases
    const observer = new ResizeObserver(() => this.resize())
    observer.observe(canvases.host)
    this.resize()
    this.settle()
    return () => {
      observer.disconnect()
      cancelAnimationFrame(this.frame)
      this.frame = 0
      this.canvases = null
    }
  }

  /** Reads the colours again. */
  recolour(): void {
    this.colours = null
    this.minimap.forget()
    this.draw()
  }

  arrange(): void {
    this.rows = layout(this.model, this.closed.value, this.height, this.pins.value)
    const most = MINIMAP + RULER + tallest(this.model, this.closed.value, this.pins.value)
    if (this.canvases) this.canvases.host.style.maxHeight = `${most}px`
    this.scroll(0)
    this.draw()
  }

  private roomAtLeft({ host }: Canvases): number {
    return host.clientWidth < 560 ? roomForNames(this.model, getComputedStyle(host).fontFamily) : 168
  }

  private resize(): void {
    const canvases = this.canvases
    if (!canvases) return
    const box = canvases.host.getBoundingClientRect()
    this.ratio = Math.min(window.devicePixelRatio || 1, 3)
    this.gutter = this.roomAtLeft(canvases)
    this.width = Math.max(50, Math.floor(box.width - this.gutter))
    this.height = Math.max(50, Math.floor(box.height - RULER - MINIMAP))
    const size = (canvas: HTMLCanvasElement, x: number, y: number, width: number, height: number) => {
      canvas.width = Math.round(width * this.ratio)
      canvas.height = Math.round(height * this.ratio)
      canvas.style.cssText = `left:${x}px;top:${y}px;width:${width}px;height:${height}px`
    }
    size(canvases.minimap, this.gutter, 0, this.width, MINIMAP)
    size(canvases.ruler, this.gutter, MINIMAP, this.width, RULER)
    size(canvases.base, this.gutter, MINIMAP + RULER, this.width, this.height)
    size(canvases.overlay, this.gutter, MINIMAP + RULER, this.width, this.height)
    size(canvases.names, 0, MINIMAP + RULER, this.gutter, this.height)
    this.minimap.forget()
    this.arrange()
  }

  /** Requests a frame. */
  draw(what: 'all' | 'overlay' = 'all'): void {
    this.dirty = Math.max(this.dirty, what === 'all' ? 2 : 1)
    if (!this.frame && this.canvases) this.frame = requestAnimationFrame((time) => this.tick(time))
  }

  private look(moving: boolean): Look {
    this.colours ??= palette(this.canvases!.host, this.model.classes)
    const dim: Dim =
      this.found.value.places.length > 0
        ? 'not-found'
        : this.lit.value >= 0
          ? 'not-lit'
          : this.onlyCritical.value
            ? 'not-critical'
            : 'nothing'
    return {
      colours: this.colours,
      ratio: this.ratio,
      width: this.width,
      height: this.height,
      gutter: this.gutter,
      critical: this.critical.value && this.model.critical.length > 0,
      dim,
      moving,
    }
  }

  private tick(time: number): void {
    this.frame = 0
    const canvases = this.canvases
    if (!canvases) return
    const begun = performance.now()
    const moves = this.move(time)
    const moving = moves || time < this.movingUntil
    const look = this.look(moving)
    const { view } = this.sight
    if (this.dirty === 2 || moves) {
      this.renderer.draw(canvases.base.getContext('2d', { alpha: false })!, this.model, this.rows, view, look)
      this.renderer.names(canvases.names.getContext('2d')!, this.model, this.rows, view, look, this.closed.value)
      drawRuler(canvases.ruler.getContext('2d')!, this, look)
      this.minimap.draw(canvases.minimap.getContext('2d')!, this, look)
    } else {
      drawRuler(canvases.ruler.getContext('2d')!, this, look)
    }
    drawOverlay(canvases.overlay.getContext('2d')!, this, look)
    const again = this.dirty === 2 && moving
    this.dirty = 0
    this.lastFrame = time
    this.costs[this.frames++ % this.costs.length] = performance.now() - begun
    // One more frame draws the small labels after the motion ends.
    if (moves || again) this.draw()
  }

  /** Marks a manual motion, during which small labels are not drawn. */
  touch(): void {
    if (this.movingUntil === 0 || performance.now() > this.movingUntil) setTimeout(() => this.rest(), 140)
    this.movingUntil = performance.now() + 120
    this.draw()
  }

  private rest(): void {
    if (performance.now() < this.movingUntil) {
      setTimeout(() => this.rest(), 60)
      return
    }
    this.settle()
    this.draw()
  }

  private settle(): void {
    this.settled.value++
  }

  // Held keys: speed increases and decreases smoothly, as in Perfetto.

  hold(what: 'pan' | 'zoom', direction: number): void {
    this.held[what] = direction
    this.flight = null
    this.touch()
  }

  private move(time: number): boolean {
    const seconds = Math.min(0.05, Math.max(0.001, (time - this.lastFrame) / 1000))
    if (this.flight) {
      const share = Math.min(1, (time - this.flight.since) / 180)
      const eased = 1 - (1 - share) ** 3
      const { from, to } = this.flight
      this.sight.show(from.from + (to.from - from.from) * eased, from.to + (to.to - from.to) * eased)
      if (share >= 1) {
        this.flight = null
        this.settle()
      }
      return true
    }
    let moves = false
    for (const what of ['pan', 'zoom'] as const) {
      const wanted = this.held[what] * (what === 'pan' ? 1.5 : 2.6)
      this.velocity[what] += (wanted - this.velocity[what]) * Math.min(1, seconds * 14)
      if (Math.abs(this.velocity[what]) < 0.02 && wanted === 0) {
        if (this.velocity[what] !== 0) this.settle()
        this.velocity[what] = 0
        continue
      }
      moves = true
      if (what === 'pan') this.sight.pan(this.velocity.pan * seconds)
      else this.sight.zoom(Math.exp(-this.velocity.zoom * seconds), this.focus())
    }
    return moves
  }

  /** Centre of keyboard zoom: the mouse pointer, else the selection, else the middle. */
  focus(): number {
    const { view } = this.sight
    if (this.cursor !== null && this.cursor >= view.from && this.cursor <= view.to) return this.cursor
    const place = this.selection.value
    if (place) {
      const track = this.model.tracks[place.track]!
      const middle = (track.starts[place.span]! + track.ends[place.span]!) / 2
      if (middle >= view.from && middle <= view.to) return middle
    }
    return (view.from + view.to) / 2
  }

  /** Animates to a time range; without animation if reduced motion is set. */
  fly(from: number, to: number): void {
    const { view } = this.sight
    if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.sight.show(from, to)
      this.settle()
    } else {
      const goal = new Sight(this.sight.duration)
      goal.show(from, to)
      this.flight = { from: { from: view.from, to: view.to }, to: { from: goal.view.from, to: goal.view.to }, since: performance.now() }
    }
    this.draw()
  }

  scroll(by: number): void {
    const most = Math.max(0, this.rows.height - this.height)
    this.sight.view.top = Math.min(most, Math.max(0, this.sight.view.top + by))
    this.draw()
  }

  /** Tracks of the rows between two vertical positions of the canvas. */
  tracksBetween(one: number, other: number): number[] {
    const from = Math.min(one, other)
    const to = Math.max(one, other)
    return this.rows.rows.flatMap((row, at) => {
      const top = topOf(this.rows, at, this.sight.view.top)
      const isHidden = at >= this.rows.pinned && top + row.height <= this.rows.pinnedHeight
      return row.track && !isHidden && top < to && top + row.height > from ? [row.track.index] : []
    })
  }

  /** True if the rows can scroll in that direction. */
  canScroll(by: number): boolean {
    const most = Math.max(0, this.rows.height - this.height)
    return by < 0 ? this.sight.view.top > 0 : this.sight.view.top < most - 1
  }

  /** Time at a horizontal position of the canvas, in pixels. */
  timeAt(x: number): number {
    return this.sight.view.from + (x / this.width) * this.sight.span
  }

  xOf(time: number): number {
    return ((time - this.sight.view.from) / this.sight.span) * this.width
  }

  track(place: Place): Track {
    return this.model.tracks[place.track]!
  }

  /** Selects a span; `reveal` scrolls it into view. */
  select(place: Place | null, reveal = false): void {
    this.selection.value = place
    this.settle()
    if (place && reveal) this.reveal(place)
    this.draw('overlay')
  }

  reveal(place: Place): void {
    const track = this.track(place)
    if (this.rows.rowOf[track.index]! < 0) this.toggle(track.group)
    const at = this.rows.rowOf[track.index]!
    const row = this.rows.rows[at]
    if (row && at >= this.rows.pinned) {
      const { view } = this.sight
      if (row.top < view.top + this.rows.pinnedHeight) this.scroll(row.top - view.top - this.rows.pinnedHeight - 8)
      else if (row.top + row.height > view.top + this.height) this.scroll(row.top + row.height - view.top - this.height + 8)
    }
    const goal = new Sight(this.sight.duration)
    goal.show(this.sight.view.from, this.sight.view.to)
    goal.reveal(track.starts[place.span]!, track.ends[place.span]!)
    if (goal.view.from !== this.sight.view.from || goal.view.to !== this.sight.view.to) this.fly(goal.view.from, goal.view.to)
  }

  /** `f`: zooms so that the selection fills most of the view. */
  focusSelection(): void {
    const place = this.selection.value
    const range = this.range.value
    if (place) {
      const track = this.track(place)
      const room = (track.ends[place.span]! - track.starts[place.span]!) * 0.6
      this.fly(track.starts[place.span]! - room, track.ends[place.span]! + room)
    } else if (range) this.focusRange()
    else this.fly(0, this.model.duration)
  }

  toggle(group: string): void {
    const closed = new Set(this.closed.value)
    if (!closed.delete(group)) closed.add(group)
    this.closed.value = closed
    this.arrange()
  }

  toggleAll(): void {
    const open = this.closed.value.size > 0
    this.closed.value = open ? new Set() : new Set(this.model.groups.map((group) => group.name))
    this.arrange()
  }

  /** Pins a track to the top, or unpins it. */
  pin(track: number): void {
    const pins = this.pins.value
    this.pins.value = pins.includes(track) ? pins.filter((one) => one !== track) : [...pins, track]
    this.arrange()
    this.settle()
  }

  /** `p`: pins the row of the selected span. */
  pinSelected(): void {
    const place = this.selection.value
    if (place) this.pin(place.track)
  }

  /** Highlights a micro-batch on all rows; -1 for none. */
  light(batch: number): void {
    this.lit.value = batch
    for (const { flags, microBatch } of this.model.tracks)
      for (let span = 0; span < flags.length; span++)
        flags[span] = batch >= 0 && microBatch?.[span] === batch ? flags[span]! | LIT : flags[span]! & ~LIT
    this.settle()
    this.draw()
  }

  /** `b`: highlights the micro-batch of the selected span; again to remove. */
  lightSelected(): void {
    const place = this.selection.value
    const batch = place ? (this.track(place).microBatch?.[place.span] ?? -1) : -1
    this.light(batch === this.lit.value ? -1 : batch)
  }

  /** Marks spans whose names contain a text, and moves to the first visible one. */
  find(text: string): void {
    const hits = matcher(text, this.model.names)
    const places: Place[] = []
    for (const track of this.model.tracks) {
      const { flags } = track
      for (let span = 0; span < track.count; span++) {
        const hit = hits(track.names[span]!, track.microBatch?.[span] ?? -1)
        flags[span] = hit ? flags[span]! | FOUND : flags[span]! & ~FOUND
        if (hit) places.push({ track: track.index, span })
      }
    }
    // As typed, with spaces, because the field shows it.
    this.found.value = { text, places, at: -1 }
    this.draw()
  }

  /** Moves to the next or previous match. */
  nextFound(by: number): void {
    const { places, at, text } = this.found.value
    if (places.length === 0) return
    const next = at < 0 ? this.firstFound(by) : (at + by + places.length) % places.length
    this.found.value = { text, places, at: next }
    this.select(places[next]!, true)
  }

  private firstFound(by: number): number {
    const { places } = this.found.value
    const { view } = this.sight
    const at = places.findIndex((place) => this.track(place).ends[place.span]! >= view.from)
    return at < 0 ? (by > 0 ? 0 : places.length - 1) : at
  }

  /** Moves to the next span on the critical path. */
  nextCritical(by: number): void {
    const path = this.model.critical
    if (path.length === 0) return
    const place = this.selection.value
    let at = place ? path.findIndex((one) => one.track === place.track && one.span === place.span) : -1
    if (at < 0) {
      const time = place ? this.track(place).starts[place.span]! : this.sight.view.from
      at = path.findIndex((one) => this.track(one).ends[one.span]! > time)
      at = (at < 0 ? path.length : at) - (by > 0 ? 1 : 0)
    }
    this.select(path[Math.min(path.length - 1, Math.max(0, at + by))]!, true)
  }

  /** Arrow keys: along the track, or to the nearest span of the next track. */
  step(direction: 'left' | 'right' | 'up' | 'down'): void {
    const place = this.selection.value
    if (!place) {
      this.selectFirst()
      return
    }
    const track = this.track(place)
    if (direction === 'left' || direction === 'right') {
      const span = place.span + (direction === 'left' ? -1 : 1)
      if (span >= 0 && span < track.count) this.select({ track: place.track, span }, true)
      return
    }
    const by = direction === 'up' ? -1 : 1
    const middle = (track.starts[place.span]! + track.ends[place.span]!) / 2
    for (let row = this.rows.rowOf[track.index]! + by; row >= 0 && row < this.rows.rows.length; row += by) {
      const other = this.rows.rows[row]!.track
      if (!other || other.count === 0) continue
      const at = Math.min(firstEndingAfter(other, middle), other.count - 1)
      this.select({ track: other.index, span: at }, true)
      return
    }
  }

  private selectFirst(): void {
    for (const row of this.rows.rows) {
      const top = topOf(this.rows, this.rows.rows.indexOf(row), this.sight.view.top)
      if (top + row.height < 0 || !row.track || row.track.count === 0) continue
      const span = Math.min(firstEndingAfter(row.track, this.sight.view.from), row.track.count - 1)
      this.select({ track: row.track.index, span }, true)
      return
    }
  }

  /** `m`: selects the range of the selected span; again to clear. */
  markRange(): void {
    const place = this.selection.value
    if (this.range.value) this.range.value = null
    else if (place) {
      const track = this.track(place)
      this.range.value = { from: track.starts[place.span]!, to: track.ends[place.span]!, tracks: [place.track] }
    } else this.range.value = { from: this.sight.view.from, to: this.sight.view.to }
    this.draw('overlay')
  }

  unmark(): void {
    this.range.value = null
    this.draw('overlay')
  }

  /** Zooms so that the selected range fills most of the view. */
  focusRange(): void {
    const range = this.range.value
    if (!range) return
    const room = (range.to - range.from) * 0.05
    this.fly(range.from - room, range.to + room)
  }

  /** Moves to a given place, such as that of a finding. Nothing moves without a track and a length: that is not a place. */
  goTo(track: number | null, at: number, length: number, span?: number | null): void {
    if (track === null && length <= 0) return
    if (track !== null && this.model.tracks[track]) {
      const one = this.model.tracks[track]!
      const target = { track, span: span ?? Math.min(firstEndingAfter(one, at), Math.max(0, one.count - 1)) }
      if (one.count > 0) this.select(target)
      if (this.rows.rowOf[track]! < 0) this.toggle(one.group)
      const place = this.rows.rowOf[track]!
      const row = this.rows.rows[place]
      if (row && place >= this.rows.pinned) this.scroll(row.top - this.sight.view.top - this.height / 3)
    }
    const room = Math.max(length, this.model.duration * 1e-5) * 2
    this.range.value = length > 0 ? { from: at, to: at + length, ...(track === null ? {} : { tracks: [track] }) } : null
    this.fly(at - room, at + length + room)
  }

  paletteNow(): Palette {
    return this.look(false).colours
  }

  get theRenderer(): Renderer {
    return this.renderer
  }

  get surfaces(): Canvases | null {
    return this.canvases
  }
}
