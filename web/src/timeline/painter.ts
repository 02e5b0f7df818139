// Paints one track to one line of pixels: every pixel is the mix of the spans during its interval, weighted by their time. Responsible for:
// merging spans narrower than a pixel without loss, and listing those wide enough for a shape or a label. Excludes shapes and text.
// Allocates no objects while painting.
import { CRITICAL, FOUND, LIT, type Track, firstEndingAfter, firstStartingAt } from './data'
import type { Palette } from './colours'

/** Spans that are faded. */
export type Dim = 'nothing' | 'not-critical' | 'not-found' | 'not-lit'

const FADED = 0.18

/** Maximum number of spans per pixel before sampling. */
const SAMPLES = 4

export class Painter {
  private red = new Float32Array(0)
  private green = new Float32Array(0)
  private blue = new Float32Array(0)
  private cover = new Float32Array(0)
  private strip = new Float32Array(0)
  /** Spans wider than `wide` pixels, from left to right: indices, and edges in pixels. */
  readonly wideSpan = new Int32Array(8192)
  readonly wideFrom = new Float32Array(8192)
  readonly wideTo = new Float32Array(8192)
  wideCount = 0

  private ready(width: number): void {
    if (this.cover.length !== width) {
      this.red = new Float32Array(width)
      this.green = new Float32Array(width)
      this.blue = new Float32Array(width)
      this.cover = new Float32Array(width)
      this.strip = new Float32Array(width)
    } else {
      this.red.fill(0)
      this.green.fill(0)
      this.blue.fill(0)
      this.cover.fill(0)
      this.strip.fill(0)
    }
    this.wideCount = 0
  }

  /** Paints a track into `width` pixels from `offset` of `pixels`, and its part of the critical path into `strip`, if given. */
  paint(
    track: Track,
    from: number,
    to: number,
    width: number,
    wide: number,
    gap: number,
    colours: Palette,
    dim: Dim,
    pixels: Uint32Array,
    offset: number,
    strip: Uint32Array | null,
    stripOffset: number,
  ): void {
    this.ready(width)
    const scale = width / (to - from)
    const first = firstEndingAfter(track, from)
    const last = firstStartingAt(track, to, first)
    const { starts, ends, flags } = track
    const dense = last - first > width * SAMPLES
    for (let at = first; at < last; at++) {
      let x0 = (starts[at]! - from) * scale
      const x1 = (ends[at]! - from) * scale
      const size = x1 - x0
      if (dense && size < 0.25) {
        const pixel = Math.floor(x0)
        const next = firstStartingAt(track, from + (pixel + 1) / scale, at + 1)
        const count = next - at
        if (count > SAMPLES && pixel >= 0 && pixel < width) {
          this.sample(track, at, count, pixel, scale, colours, dim)
          at = next - 1
          continue
        }
      }
      if (size >= wide && this.wideCount < this.wideSpan.length) {
        this.wideSpan[this.wideCount] = at
        this.wideFrom[this.wideCount] = x0
        this.wideTo[this.wideCount] = x1
        this.wideCount++
      }
      // A thin gap separates neighbours.
      if (size > gap * 4) x0 += gap
      this.add(Math.max(0, x0), Math.min(width, x1), track.colours[at]!, flags[at]!, colours, dim)
    }
    this.blend(width, colours, pixels, offset)
    if (strip) this.blendStrip(width, strip, stripOffset)
  }

  private sample(track: Track, at: number, count: number, pixel: number, scale: number, colours: Palette, dim: Dim): void {
    let busy = 0
    for (let n = 0; n < SAMPLES; n++) {
      const one = at + Math.floor((n * count) / SAMPLES)
      busy += track.ends[one]! - track.starts[one]!
    }
    const covered = Math.min(1, (busy / SAMPLES) * count * scale)
    for (let n = 0; n < SAMPLES; n++) {
      const one = at + Math.floor((n * count) / SAMPLES)
      this.put(pixel, covered / SAMPLES, track.colours[one]!, track.flags[one]!, colours, dim)
    }
  }

  private add(x0: number, x1: number, colour: number, flags: number, colours: Palette, dim: Dim): void {
    if (x1 <= x0) return
    const first = Math.floor(x0)
    const last = Math.min(Math.ceil(x1), this.cover.length) - 1
    if (first >= last) {
      this.put(first, x1 - x0, colour, flags, colours, dim)
      return
    }
    this.put(first, first + 1 - x0, colour, flags, colours, dim)
    for (let pixel = first + 1; pixel < last; pixel++) this.put(pixel, 1, colour, flags, colours, dim)
    this.put(last, x1 - last, colour, flags, colours, dim)
  }

  private put(pixel: number, share: number, colour: number, flags: number, colours: Palette, dim: Dim): void {
    const { rgb } = colours
    if (flags & CRITICAL) this.strip[pixel] = this.strip[pixel]! + share
    let weight = share
    if (dim !== 'nothing' && !(flags & (dim === 'not-critical' ? CRITICAL : dim === 'not-found' ? FOUND : LIT))) weight *= FADED
    // Bubbles too narrow for hatching are faint.
    if (colour === colours.bubble) weight *= 0.55
    this.red[pixel] = this.red[pixel]! + weight * rgb[colour * 3]!
    this.green[pixel] = this.green[pixel]! + weight * rgb[colour * 3 + 1]!
    this.blue[pixel] = this.blue[pixel]! + weight * rgb[colour * 3 + 2]!
    this.cover[pixel] = this.cover[pixel]! + weight
  }

  private blend(width: number, colours: Palette, pixels: Uint32Array, offset: number): void {
    const [r0, g0, b0] = colours.back
    const { red, green, blue, cover } = this
    for (let pixel = 0; pixel < width; pixel++) {
      const all = cover[pixel]!
      // Rounding may cover a pixel more than once.
      const down = all > 1 ? 1 / all : 1
      const rest = all > 1 ? 0 : 1 - all
      const r = red[pixel]! * down + r0 * rest
      const g = green[pixel]! * down + g0 * rest
      const b = blue[pixel]! * down + b0 * rest
      pixels[offset + pixel] = 0xff000000 | ((b & 255) << 16) | ((g & 255) << 8) | (r & 255)
    }
  }

  private blendStrip(width: number, pixels: Uint32Array, offset: number): void {
    const { strip } = this
    for (let pixel = 0; pixel < width; pixel++) pixels[offset + pixel] = Math.min(255, strip[pixel]! * 255) << 24
  }
}
