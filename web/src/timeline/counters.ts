// A counter as a filled step line, with its maximum as a label at the top.
// Responsible for: drawing one within its row. Of points within a pixel, the highest is drawn.
import type { Counter } from './data'
import type { Look } from './renderer'
import { bytes, volume } from '../charts/format'
import type { View } from './view'
import * as texts from '../words/timeline'

/** Value of a counter as text. */
export function counterValue(counter: Counter, value: number): string {
  if (counter.unit === 'B') return bytes(value)
  if (counter.unit === 'B/s') return `${volume(value)}/s`
  return `${Math.round(value).toLocaleString('en')}${counter.unit && ` ${counter.unit}`}`
}

export function counterLine(pen: CanvasRenderingContext2D, counter: Counter, view: View, look: Look, top: number, height: number): void {
  const { colours, ratio } = look
  const width = Math.round(look.width * ratio)
  const scale = width / (view.to - view.from)
  const room = height - 2 * ratio
  const yOf = (value: number) => top + height - (counter.most > 0 ? Math.max(0, value) / counter.most : 0) * room
  pen.fillStyle = colours.sunken
  pen.fillRect(0, top, width, height)
  pen.beginPath()
  pen.moveTo(0, top + height)
  let at = firstAfter(counter, view.from) - 1
  let value = at >= 0 ? counter.value[at]! : 0
  pen.lineTo(0, yOf(value))
  at++
  while (at < counter.at.length && counter.at[at]! < view.to) {
    const pixel = Math.floor((counter.at[at]! - view.from) * scale)
    let highest = value
    // All changes within a pixel.
    while (at < counter.at.length && Math.floor((counter.at[at]! - view.from) * scale) === pixel) {
      value = counter.value[at]!
      if (value > highest) highest = value
      at++
    }
    pen.lineTo(pixel, yOf(highest))
    pen.lineTo(pixel + 1, yOf(highest))
    pen.lineTo(pixel + 1, yOf(value))
  }
  pen.lineTo(width, yOf(value))
  pen.lineTo(width, top + height)
  pen.closePath()
  pen.globalAlpha = 0.28
  pen.fillStyle = colours.accent
  pen.fill()
  pen.globalAlpha = 1
  pen.strokeStyle = colours.accent
  pen.lineWidth = ratio
  pen.stroke()
  pen.font = `${Math.round(10 * ratio)}px ${colours.font}`
  pen.textBaseline = 'top'
  pen.textAlign = 'right'
  const label = texts.max(counterValue(counter, counter.most))
  pen.strokeStyle = colours.surface
  pen.lineWidth = 3 * ratio
  pen.strokeText(label, width - 4 * ratio, top + 2 * ratio)
  pen.fillStyle = colours.text
  pen.fillText(label, width - 4 * ratio, top + 2 * ratio)
}

function firstAfter(counter: Counter, time: number): number {
  let low = 0
  let high = counter.at.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (counter.at[middle]! <= time) low = middle + 1
    else high = middle
  }
  return low
}
