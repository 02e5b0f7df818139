// The ruler above the tracks, and above it a minimap of the whole step with a window for the visible range. Responsible for: ticks, marks
// and the range on the ruler; the minimap, drawn once per size and theme. Excludes input.
import type { Controller } from './controller'
import { Painter } from './painter'
import type { Look } from './renderer'
import { moment, span, tick } from './time'

export function drawRuler(pen: CanvasRenderingContext2D, controller: Controller, look: Look): void {
  const { colours, ratio, width } = look
  const height = 26
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.fillStyle = colours.surface
  pen.fillRect(0, 0, width, height)
  const { view } = controller.sight
  const step = tick((controller.sight.span / width) * 96)
  const latest = Math.min(view.to, controller.model.duration)
  pen.font = `11px ${colours.font}`
  pen.textBaseline = 'middle'
  pen.textAlign = 'left'
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    if (at < 0 || at > controller.model.duration * 1.0001) continue
    const x = Math.round(controller.xOf(at))
    pen.fillStyle = colours.strong
    pen.fillRect(x, height - 9, 1, 9)
    pen.fillStyle = colours.muted
    pen.fillText(moment(at, step, latest), x + 4, height - 11)
  }
  pen.fillStyle = colours.line
  for (let at = Math.ceil(view.from / (step / 5)) * (step / 5); at <= view.to; at += step / 5) {
    if (at >= 0 && at <= controller.model.duration) pen.fillRect(Math.round(controller.xOf(at)), height - 5, 1, 5)
  }
  pen.fillRect(0, height - 1, width, 1)
  const range = controller.range.value
  if (range) {
    const from = controller.xOf(range.from)
    const to = controller.xOf(range.to)
    pen.fillStyle = colours.accent
    pen.fillRect(from, height - 3, to - from, 3)
    label(pen, look, (Math.max(0, from) + Math.min(width, to)) / 2, span(range.to - range.from))
  }
  if (controller.cursor !== null && !range) {
    label(pen, look, controller.xOf(controller.cursor), moment(controller.cursor, controller.sight.span / width, latest))
  }
}

function label(pen: CanvasRenderingContext2D, look: Look, x: number, text: string): void {
  const { colours } = look
  pen.font = `11px ${colours.font}`
  const room = pen.measureText(text).width + 10
  const left = Math.min(Math.max(0, x - room / 2), look.width - room)
  pen.fillStyle = colours.text
  pen.fillRect(left, 2, room, 16)
  pen.fillStyle = colours.surface
  pen.textAlign = 'left'
  pen.textBaseline = 'middle'
  pen.fillText(text, left + 5, 10.5)
}

export class Minimap {
  private readonly picture = document.createElement('canvas')
  private known = false
  private readonly painter = new Painter()

  /** Redraws the minimap the next time. */
  forget(): void {
    this.known = false
  }

  draw(pen: CanvasRenderingContext2D, controller: Controller, look: Look): void {
    const { colours, ratio, width } = look
    const height = 34
    if (!this.known) this.make(controller, look)
    pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    pen.fillStyle = colours.sunken
    pen.fillRect(0, 0, width, height)
    pen.imageSmoothingEnabled = false
    pen.drawImage(this.picture, 0, 3, width, height - 7)
    const { view } = controller.sight
    const scale = width / controller.model.duration
    const from = Math.max(0, view.from * scale)
    const to = Math.min(width, view.to * scale)
    // Fades the part outside of the visible range.
    pen.globalAlpha = 0.62
    pen.fillStyle = colours.sunken
    pen.fillRect(0, 0, from, height)
    pen.fillRect(to, 0, width - to, height)
    pen.globalAlpha = 1
    pen.strokeStyle = colours.accent
    pen.lineWidth = 1.5
    pen.strokeRect(Math.max(1, from), 1, Math.max(3, Math.min(width - 1, to) - Math.max(1, from)), height - 3)
    for (const mark of controller.model.marks) {
      pen.fillStyle = mark.severity === 'fault' ? colours.bad : mark.severity === 'warning' ? colours.warn : colours.muted
      pen.fillRect(mark.at * scale - 1, height - 5, Math.max(2, mark.length * scale), 4)
    }
    pen.fillStyle = colours.line
    pen.fillRect(0, height - 1, width, 1)
  }

  private make(controller: Controller, look: Look): void {
    this.known = true
    const { model } = controller
    const width = Math.max(1, Math.round(look.width * look.ratio))
    const tracks = model.groups.map((group) => group.tracks[0]).filter((track) => track !== undefined)
    const rows = Math.max(1, tracks.length)
    this.picture.width = width
    this.picture.height = rows
    const image = new ImageData(width, rows)
    const pixels = new Uint32Array(image.data.buffer)
    tracks.forEach((track, at) => {
      this.painter.paint(track, 0, model.duration, width, Infinity, 0, look.colours, 'nothing', pixels, at * width, null, 0)
    })
    this.picture.getContext('2d')!.putImageData(image, 0, 0)
  }
}
