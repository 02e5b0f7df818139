// Visible range as a file: PNG as on screen, SVG with shapes and titles, CSV with exact nanoseconds.
// Responsible for: texts and blobs. The number of shapes is limited: spans narrower than a fifth of a pixel are merged.
import { captionedHere, drawingOf } from '../charts/caption'
import { type Caption, csvHead, pngFromSvg } from '../charts/export'
import { sourceText } from '../charts/source'
import { type Controller, MINIMAP, RULER } from './controller'
import { CRITICAL, firstEndingAfter, firstStartingAt } from './data'
import { className } from './describe'
import { instant, moment, tick } from './time'
import * as texts from '../words/timeline'

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!)

/** Combines the canvases. */
function toCanvas(controller: Controller): HTMLCanvasElement {
  const surfaces = controller.surfaces!
  const { ratio, gutter } = controller
  const canvas = document.createElement('canvas')
  canvas.width = Math.round((gutter + controller.width) * ratio)
  canvas.height = Math.round((MINIMAP + RULER + controller.height) * ratio)
  const pen = canvas.getContext('2d')!
  pen.fillStyle = controller.paletteNow().surface
  pen.fillRect(0, 0, canvas.width, canvas.height)
  const x = gutter * ratio
  pen.drawImage(surfaces.minimap, x, 0)
  pen.drawImage(surfaces.ruler, x, MINIMAP * ratio)
  pen.drawImage(surfaces.base, x, (MINIMAP + RULER) * ratio)
  pen.drawImage(surfaces.overlay, x, (MINIMAP + RULER) * ratio)
  pen.drawImage(surfaces.names, 0, (MINIMAP + RULER) * ratio)
  return canvas
}

/** Title, range, classes in sight, source. */
function captionOf(controller: Controller): Caption {
  const { model } = controller
  const { from, to } = controller.sight.view
  const colours = controller.paletteNow()
  const used = new Set(model.tracks.flatMap((track) => [...new Set(track.colours)]))
  const named = new Map([...used].sort((a, b) => a - b).map((at) => [model.classes[at] ?? '', at]))
  const whole = from <= 0 && to >= model.duration
  return {
    title: texts.timeline2,
    about: `${model.label}${whole ? '' : `; ${texts.fromTo(instant(Math.max(0, from), to - from), instant(to, to - from))}`}`,
    legend: [...named].map(([name, at]) => ({
      title: className(name),
      colour: (at === colours.bubble ? colours.hatch : colours.css[at]) ?? colours.muted,
    })),
    source: sourceText(new Date()),
  }
}

/** The timeline as a file with its caption. */
export async function saved(controller: Controller, format: 'png' | 'svg' | 'csv'): Promise<Blob> {
  const caption = captionOf(controller)
  if (format === 'csv') return new Blob([csvHead(caption), toCsv(controller)], { type: 'text/csv' })
  const width = controller.gutter + controller.width
  const size = { width, height: format === 'svg' ? RULER + controller.rows.height : MINIMAP + RULER + controller.height }
  const whole = captionedHere(format === 'svg' ? toSvg(controller) : drawingOf(toCanvas(controller), size), size, caption)
  return format === 'svg' ? new Blob([whole.text], { type: 'image/svg+xml' }) : pngFromSvg(whole.text, whole.width, whole.height)
}

/** All rows, including those scrolled out, for the visible time range. */
function toSvg(controller: Controller): string {
  const { model, rows, width, gutter } = controller
  const colours = controller.paletteNow()
  const { from, to } = controller.sight.view
  const height = RULER + rows.height
  const scale = width / (to - from)
  const out: string[] = []
  out.push(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${gutter + width} ${height}" width="${gutter + width}" height="${height}" font-family="system-ui, sans-serif" font-size="11">`,
    `<title>${escaped(model.label)}</title>`,
    `<defs><pattern id="bubble" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="${colours.sunken}"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="${colours.hatch}"/></pattern></defs>`,
    `<rect width="100%" height="100%" fill="${colours.surface}"/>`,
  )
  const step = tick(96 / scale)
  for (let at = Math.ceil(Math.max(0, from) / step) * step; at <= Math.min(to, model.duration); at += step) {
    const x = (gutter + (at - from) * scale).toFixed(1)
    out.push(`<text x="${x}" y="14" fill="${colours.muted}">${moment(at, step, to)}</text>`)
  }
  for (const row of rows.rows) {
    const track = row.track
    if (!track) continue
    const y = RULER + row.top
    if (row.first)
      out.push(`<text x="8" y="${y + row.height / 2 + 4}" fill="${colours.text}" font-weight="600">${escaped(track.group)}</text>`)
    out.push(
      `<text x="${gutter - 8}" y="${y + row.height / 2 + 4}" fill="${colours.muted}" text-anchor="end">${escaped(track.name)}</text>`,
    )
    let drawn = -Infinity
    const last = firstStartingAt(track, to)
    for (let at = firstEndingAfter(track, from); at < last; at++) {
      const x0 = Math.max(0, (track.starts[at]! - from) * scale)
      const x1 = Math.min(width, (track.ends[at]! - from) * scale)
      if (x1 - drawn < 0.2) continue
      drawn = x1
      const colour = track.colours[at]!
      const fill = colour === colours.bubble ? 'url(#bubble)' : colours.css[colour]!
      const size = Math.max(0.2, x1 - x0 - (x1 - x0 > 3 ? 0.8 : 0))
      const critical = track.flags[at]! & CRITICAL && controller.critical.value
      out.push(
        `<rect x="${(gutter + x0).toFixed(2)}" y="${y}" width="${size.toFixed(2)}" height="${row.height}" fill="${fill}"><title>${escaped(`${model.names[track.names[at]!] ?? ''}, ${className(model.classes[colour] ?? '')}`)}</title></rect>`,
      )
      if (critical)
        out.push(
          `<rect x="${(gutter + x0).toFixed(2)}" y="${y + row.height - 3}" width="${size.toFixed(2)}" height="3" fill="${colours.accent}"/>`,
        )
      const label = x1 - x0 > 24 ? controller.theRenderer.labels.of(model, track, at, (x1 - x0 - 6) * controller.ratio) : ''
      if (label && colour !== colours.bubble) {
        out.push(
          `<text x="${(gutter + (x0 + x1) / 2).toFixed(1)}" y="${y + row.height / 2 + 4}" text-anchor="middle" fill="${colours.ink[colour]}">${escaped(label)}</text>`,
        )
      }
    }
  }
  out.push('</svg>')
  return out.join('\n')
}

/** All visible spans with exact times. */
function toCsv(controller: Controller): string {
  const { model } = controller
  const { from, to } = controller.sight.view
  const lines = ['group,track,rank,stage,name,class,start_ns,length_ns,micro_batch,chunk,layer,bytes,spans,critical']
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const some = (column: Int32Array | null, at: number) => ((column?.[at] ?? -1) >= 0 ? String(column![at]) : '')
  for (const track of model.tracks) {
    const last = firstStartingAt(track, to)
    for (let at = firstEndingAfter(track, from); at < last; at++) {
      lines.push(
        [
          quoted(track.group),
          quoted(track.name),
          track.rank,
          track.stage,
          quoted(model.names[track.names[at]!] ?? ''),
          model.classes[track.colours[at]!] ?? '',
          track.starts[at],
          track.ends[at]! - track.starts[at]!,
          some(track.microBatch, at),
          some(track.chunk, at),
          some(track.layer, at),
          track.bytes?.[at] ?? '',
          track.counts?.[at] ?? 1,
          track.flags[at]! & CRITICAL ? 'yes' : '',
        ].join(','),
      )
    }
  }
  return `${lines.join('\n')}\n`
}
