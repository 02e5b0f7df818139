// Visible range: time interval and vertical scroll position.
// Responsible for: zooming and panning within bounds. Independent of the content.

export interface View {
  /** Nanoseconds at the left edge. */
  from: number
  /** Nanoseconds at the right edge. */
  to: number
  /** Pixels scrolled down. */
  top: number
}

/** Minimum length of the visible range in nanoseconds, because spans are whole nanoseconds. */
const LEAST = 50

/** Margin beyond the step, as a share of the visible range, so that its ends are visible. */
const MARGIN = 0.02

export class Sight {
  readonly view: View
  duration: number
  constructor(duration: number) {
    this.duration = duration
    this.view = { from: 0, to: duration, top: 0 }
  }

  get span(): number {
    return this.view.to - this.view.from
  }

  /** Shows the whole step. */
  fit(): void {
    this.show(-this.duration, 2 * this.duration)
  }

  /** Shows a time range, limited to the bounds. */
  show(from: number, to: number): void {
    const least = Math.min(LEAST, this.duration)
    const span = Math.min(Math.max(to - from, least), this.duration * (1 + 2 * MARGIN))
    const room = span * MARGIN
    const middle = (from + to) / 2
    let start = middle - span / 2
    start = Math.min(Math.max(start, -room), this.duration + room - span)
    this.view.from = start
    this.view.to = start + span
  }

  /** Zooms around a time; a factor below 1 zooms in. */
  zoom(factor: number, around: number): void {
    const span = Math.min(Math.max(this.span * factor, LEAST), this.duration * (1 + 2 * MARGIN))
    const share = (around - this.view.from) / this.span
    const from = around - share * span
    this.show(from, from + span)
  }

  /** Moves by a share of the visible range. */
  pan(share: number): void {
    const by = share * this.span
    this.show(this.view.from + by, this.view.to + by)
  }

  /** Scrolls an interval into view: no change if it is visible and wide enough, else with a margin. */
  reveal(from: number, to: number): void {
    const { view } = this
    const wide = (to - from) / this.span
    if (from >= view.from && to <= view.to && wide > 0.004) return
    if (wide > 0.8 || wide < 0.004) {
      const room = Math.max((to - from) * 8, LEAST)
      this.show((from + to) / 2 - room, (from + to) / 2 + room)
    } else {
      const by = from < view.from ? from - view.from - this.span * 0.1 : to > view.to ? to - view.to + this.span * 0.1 : 0
      this.show(view.from + by, view.to + by)
    }
  }
}
