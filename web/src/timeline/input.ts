// Mouse, wheel, touch and keys, as in Perfetto: WASD and wheel, drag to pan, shift-drag (or drag on the ruler) to select a range.
// Responsible for: converting events to calls of the controller. Ignores keys during text input, and keys of the surrounding UI.
import { MINIMAP, RULER, type Controller } from './controller'
import { spanAt } from './data'
import { rowAt, topOf } from './layout'

type Area = 'minimap' | 'ruler' | 'names' | 'tracks'

interface Drag {
  readonly area: Area
  readonly x: number
  readonly y: number
  readonly time: number
  readonly from: number
  readonly to: number
  readonly top: number
  readonly marking: boolean
  moved: boolean
}

const TIMES_OUT = 1000

/** Registers the listeners until the returned function is called. `find` opens the search. */
export function listen(controller: Controller, host: HTMLElement, find: () => void): () => void {
  const abort = new AbortController()
  const { signal } = abort
  let drag: Drag | null = null
  const fingers = new Map<number, { x: number; y: number }>()
  let pinch: { distance: number; from: number; to: number; middle: number } | null = null
  /** Time of a key that starts a sequence of the UI (`g s`); the next key is then not for the timeline. */
  let sequence = -Infinity

  const place = (event: PointerEvent | WheelEvent | MouseEvent): { x: number; y: number; area: Area } => {
    const box = host.getBoundingClientRect()
    const x = event.clientX - box.left - controller.gutter
    const y = event.clientY - box.top
    const area: Area = y < MINIMAP ? 'minimap' : y < MINIMAP + RULER ? 'ruler' : x < 0 ? 'names' : 'tracks'
    return { x, y: y - MINIMAP - RULER, area }
  }

  const at = (x: number, y: number) => {
    const place = rowAt(controller.rows, y, controller.sight.view.top)
    const row = controller.rows.rows[place]
    const top = row ? y - topOf(controller.rows, place, controller.sight.view.top) : -1
    if (!row?.track || top < 0 || top > row.height) return null
    const slack = (controller.sight.span / controller.width) * 3
    const span = spanAt(row.track, controller.timeAt(x), slack)
    return span === null ? null : { track: row.track.index, span }
  }

  host.addEventListener(
    'wheel',
    (event) => {
      const { x } = place(event)
      const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 200 : 1
      const dx = event.deltaX * unit
      const dy = event.deltaY * unit
      const zooms = event.ctrlKey || event.metaKey || event.altKey
      const pans = (event.shiftKey && dx === 0) || Math.abs(dx) > Math.abs(dy)
      // If all rows fit, or the end is reached, the wheel scrolls the page.
      if (!zooms && !pans && !controller.canScroll(dy)) return
      event.preventDefault()
      if (zooms) {
        // A pinch on a touch pad is a wheel event with Ctrl and small steps.
        const fine = Math.abs(dy) < 30 ? 0.01 : 0.003
        controller.sight.zoom(Math.exp(dy * fine), controller.timeAt(x))
      } else if (event.shiftKey && dx === 0) {
        controller.sight.pan((dy / controller.width) * 0.9)
      } else if (Math.abs(dx) > Math.abs(dy)) {
        controller.sight.pan(dx / controller.width)
      } else controller.scroll(dy)
      controller.touch()
    },
    { passive: false, signal },
  )

  host.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return
      const { x, y, area } = place(event)
      fingers.set(event.pointerId, { x, y })
      host.setPointerCapture(event.pointerId)
      host.focus({ preventScroll: true })
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()]
        const { from, to } = controller.sight.view
        pinch = { distance: Math.max(8, Math.abs(a!.x - b!.x)), from, to, middle: controller.timeAt((a!.x + b!.x) / 2) }
        drag = null
        return
      }
      const { from, to, top } = controller.sight.view
      const marking = area === 'ruler' || (area === 'tracks' && event.shiftKey)
      drag = { area, x, y, time: controller.timeAt(x), from, to, top, marking, moved: false }
      if (area === 'minimap') center(x)
    },
    { signal },
  )

  const center = (x: number) => {
    const middle = (x / controller.width) * controller.model.duration
    const half = controller.sight.span / 2
    controller.sight.show(middle - half, middle + half)
    controller.touch()
  }

  host.addEventListener(
    'pointermove',
    (event) => {
      const { x, y, area } = place(event)
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, { x, y })
      if (pinch && fingers.size === 2) {
        const [a, b] = [...fingers.values()]
        const scale = pinch.distance / Math.max(8, Math.abs(a!.x - b!.x))
        const span = (pinch.to - pinch.from) * scale
        const share = (a!.x + b!.x) / 2 / controller.width
        controller.sight.show(pinch.middle - share * span, pinch.middle + (1 - share) * span)
        controller.touch()
        return
      }
      controller.cursor = area === 'tracks' || area === 'ruler' ? controller.timeAt(x) : null
      if (!drag) {
        const found = area === 'tracks' ? at(x, y) : null
        controller.hover.value = found && { place: found, x: x + controller.gutter, y: y + MINIMAP + RULER }
        host.style.cursor = area === 'names' || found ? 'pointer' : area === 'ruler' ? 'col-resize' : 'default'
        controller.draw('overlay')
        return
      }
      if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return
      drag.moved = true
      controller.hover.value = null
      if (drag.area === 'minimap') center(x)
      else if (drag.marking) {
        const now = controller.timeAt(x)
        controller.marking.value = true
        const tracks = drag.area === 'tracks' ? controller.tracksBetween(drag.y, y) : []
        controller.range.value = {
          from: Math.max(0, Math.min(drag.time, now)),
          to: Math.min(controller.model.duration, Math.max(drag.time, now)),
          ...(tracks.length > 0 ? { tracks } : {}),
        }
        controller.draw('overlay')
      } else {
        const by = ((drag.x - x) / controller.width) * (drag.to - drag.from)
        controller.sight.show(drag.from + by, drag.to + by)
        controller.scroll(drag.top + drag.y - y - controller.sight.view.top)
        host.style.cursor = 'grabbing'
        controller.touch()
      }
    },
    { signal },
  )

  const up = (event: PointerEvent) => {
    fingers.delete(event.pointerId)
    if (fingers.size < 2) pinch = null
    const last = drag
    drag = null
    controller.marking.value = false
    if (!last || last.moved || event.type === 'pointercancel') return
    const { x, y, area } = place(event)
    if (area === 'names') {
      const row = controller.rows.rows[rowAt(controller.rows, y, controller.sight.view.top)]
      // The mark of a pinned row unpins it; Shift-click on a name pins its row.
      if (row?.track && (event.shiftKey || controller.pins.value.includes(row.track.index))) controller.pin(row.track.index)
      else if (row) controller.toggle(controller.model.groups[row.group]!.name)
    } else if (area === 'tracks') {
      const found = at(x, y)
      if (!found) controller.range.value = null
      controller.select(found)
    } else if (area === 'ruler') {
      controller.range.value = null
      controller.draw('overlay')
    }
  }
  host.addEventListener('pointerup', up, { signal })
  host.addEventListener('pointercancel', up, { signal })
  host.addEventListener(
    'pointerleave',
    () => {
      controller.cursor = null
      controller.hover.value = null
      controller.draw('overlay')
    },
    { signal },
  )
  host.addEventListener('dblclick', (event) => place(event).area === 'tracks' && controller.focusSelection(), { signal })

  const HELD: Record<string, readonly ['pan' | 'zoom', number]> = { w: ['zoom', 1], s: ['zoom', -1], a: ['pan', -1], d: ['pan', 1] }

  /** Handles a key of the timeline. True if it was one. `focused`: the timeline has the focus, so arrows and Enter are its own. */
  const strike = (event: KeyboardEvent, focused: boolean): boolean => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    const held = HELD[key]
    if (held) {
      if (!event.repeat) controller.hold(held[0], held[1] * (event.shiftKey ? 3 : 1))
      return true
    }
    if (focused) {
      const arrows: Record<string, 'left' | 'right' | 'up' | 'down'> = {
        ArrowLeft: 'left',
        ArrowRight: 'right',
        ArrowUp: 'up',
        ArrowDown: 'down',
      }
      const arrow = arrows[key]
      if (arrow) return (controller.step(arrow), true)
      const { view } = controller.sight
      switch (key) {
        case 'Enter':
          return (controller.focusSelection(), true)
        case ' ': {
          const selected = controller.selection.value
          if (selected) controller.toggle(controller.track(selected).group)
          return true
        }
        case 'Home':
          return (controller.fly(0, controller.sight.span), true)
        case 'End':
          return (controller.fly(controller.model.duration - controller.sight.span, controller.model.duration), true)
        case 'PageDown':
          return (controller.scroll(controller.height * 0.8), true)
        case 'PageUp':
          return (controller.scroll(-controller.height * 0.8), true)
        case '+':
        case '=':
          return (controller.fly(...around(view.from, view.to, 0.5)), true)
        case '-':
          return (controller.fly(...around(view.from, view.to, 2)), true)
      }
    }
    switch (event.key) {
      case 'f':
        return (controller.focusSelection(), true)
      case 'p':
        return (controller.pinSelected(), true)
      case 'b':
        return (controller.lightSelected(), true)
      case 'm':
        return (controller.markRange(), true)
      case '/':
        return (find(), true)
      case '0':
        return (controller.fly(0, controller.model.duration), true)
      case 'n':
        if (controller.found.value.places.length === 0) return false
        return (controller.nextFound(1), true)
      case 'N':
        return (controller.nextFound(-1), true)
      case '.':
      case ']':
        return (controller.nextCritical(1), true)
      case ',':
      case '[':
        return (controller.nextCritical(-1), true)
      case 'c':
        controller.onlyCritical.value = !controller.onlyCritical.value
        return (controller.draw(), true)
      case 'e':
        return (controller.toggleAll(), true)
      case 'Escape': {
        const had =
          controller.selection.value ??
          controller.range.value ??
          (controller.found.value.text || (controller.lit.value >= 0 ? 'lit' : null))
        if (had === null) return false
        if (controller.lit.value >= 0) controller.light(-1)
        if (controller.found.value.text) controller.find('')
        controller.range.value = null
        controller.select(null)
        return true
      }
    }
    return false
  }

  const around = (from: number, to: number, factor: number): [number, number] => {
    const middle = controller.focus()
    return [middle - (middle - from) * factor, middle + (to - middle) * factor]
  }

  // Handled before the UI's own keys, unless one of its sequences (`g t`) has started.
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const target = event.target as HTMLElement | null
      if (target && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))) return
      if (target?.closest('[role="dialog"],[role="menu"],dialog')) return
      const now = performance.now()
      if (event.key === 'g') {
        sequence = now
        return
      }
      if (now - sequence < TIMES_OUT) {
        sequence = -Infinity
        return
      }
      const focused = target === host
      if (strike(event, focused)) {
        event.preventDefault()
        event.stopImmediatePropagation()
      }
    },
    { signal, capture: true },
  )
  const release = (event: KeyboardEvent) => {
    const held = HELD[event.key.toLowerCase()]
    if (held) controller.hold(held[0], 0)
  }
  window.addEventListener('keyup', release, { signal, capture: true })
  window.addEventListener('blur', () => (controller.hold('pan', 0), controller.hold('zoom', 0)), { signal })
  return () => abort.abort()
}
