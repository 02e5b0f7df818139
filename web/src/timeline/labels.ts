// Labels inside spans, shortened to fit.
// Responsible for: shortening, with widths measured once. Excludes drawing.
import type { Model, Track } from './data'
import { showsPasses } from './layout'

export class Labels {
  private readonly widths = new Map<string, number>()
  private readonly cut = new Map<string, string>()
  private readonly pen: CanvasRenderingContext2D
  private font = ''

  constructor() {
    this.pen = document.createElement('canvas').getContext('2d')!
  }

  /** Sets the font for measurements. */
  use(font: string): void {
    if (font === this.font) return
    this.font = font
    this.pen.font = font
    this.widths.clear()
    this.cut.clear()
  }

  width(text: string): number {
    let width = this.widths.get(text)
    if (width === undefined) {
      width = this.pen.measureText(text).width
      if (this.widths.size > 20_000) this.widths.clear()
      this.widths.set(text, width)
    }
    return width
  }

  /** As much of a text as fits; empty if too little. */
  fit(text: string, room: number): string {
    const full = this.width(text)
    if (full <= room) return text
    const characters = Math.floor((room / full) * text.length) - 1
    if (characters < 3) return ''
    const key = `${characters} ${text}`
    let cut = this.cut.get(key)
    if (cut === undefined) {
      cut = `${text.slice(0, characters).trimEnd()}…`
      if (this.cut.size > 20_000) this.cut.clear()
      this.cut.set(key, cut)
    }
    return cut
  }

  /** A name that fits, shortened in its middle: names of rows differ at their ends. */
  fitName(text: string, room: number): string {
    const full = this.width(text)
    return full <= room ? text : shortened(text, Math.floor((room / full) * text.length) - 1)
  }

  /** Label of a span; passes start with their micro-batch. */
  of(model: Model, track: Track, span: number, room: number): string {
    const name = model.names[track.names[span]!] ?? ''
    const count = track.counts?.[span] ?? 1
    if (count > 1) return this.fit(`${count}× ${name}`, room)
    const batch = track.microBatch?.[span] ?? -1
    const isPass = showsPasses(track)
    if (batch >= 0 && (isPass || track.name === 'compute')) {
      const number = String(batch)
      const long = `${name} ${number}`
      if (this.width(long) <= room) return long
      if (isPass) return this.width(number) <= room ? number : ''
    }
    return this.fit(name, room)
  }
}

/** A name with so many characters and an ellipsis in its middle, its end whole from the last space on; empty if too few. */
export function shortened(name: string, characters: number): string {
  const [end = ''] = /\s\S+(?:\s\(\d+\))?$/.exec(name) ?? []
  const head = characters - end.length
  if (characters < 3) return ''
  return end !== '' && head >= 2 ? `${name.slice(0, head)}…${end}` : `${name.slice(0, characters).trimEnd()}…`
}
