// Keyboard focus after its element is gone: the heading of a newly opened view; after Back, the row or button that was left. Responsible
// for: recording the focused element of a history entry, and finding it again when it is drawn. Never takes the focus from an element that
// has it.
import { effect } from '@preact/signals'
import { location, onLeave } from '../state/location'

/** Description of a focused element, to find it in a redrawn page. */
interface Mark {
  readonly id?: string
  /** Row of a table, by the caption of the table and the key of the row. */
  readonly table?: string
  readonly row?: string
  readonly label?: string
}

/** Milliseconds to wait for lists that are fetched again. */
const PATIENCE = 4000

const caption = (row: Element) => row.closest('table')?.querySelector('caption')?.textContent ?? ''
const labelOf = (element: Element) => element.getAttribute('aria-label') ?? element.textContent?.trim() ?? ''

function markOf(element: Element | null): Mark | null {
  if (!(element instanceof HTMLElement) || element === document.body) return null
  if (element.dataset.row !== undefined) return { table: caption(element), row: element.dataset.row }
  if (element.id) return { id: element.id }
  return { label: labelOf(element) }
}

function find(mark: Mark): HTMLElement | null {
  if (mark.id) return document.getElementById(mark.id)
  if (mark.row !== undefined) {
    const rows = document.querySelectorAll<HTMLElement>('#main tr[data-row]')
    return [...rows].find((row) => row.dataset.row === mark.row && caption(row) === mark.table) ?? null
  }
  const all = document.querySelectorAll<HTMLElement>('#main button, #main a[href], #main input, #main select, #main [tabindex]')
  return mark.label ? ([...all].find((one) => labelOf(one) === mark.label) ?? null) : null
}

/** True if nothing has the focus. */
const lost = () => document.activeElement === null || document.activeElement === document.body

/** Focuses the title of the view: the list of opened files if present, else its heading. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('#main [data-heading]') ?? document.querySelector<HTMLElement>('#main h1')
  heading?.focus({ preventScroll: true })
}

let waiting: ReturnType<typeof setTimeout> | undefined

/** Waits for a mark while the view is drawn; the heading has the focus until then. */
function settle(mark: Mark | null): void {
  clearTimeout(waiting)
  const until = performance.now() + PATIENCE
  let held: Element | null = null
  const look = () => {
    // The user has moved the focus.
    if (!lost() && document.activeElement !== held) return
    const found = mark && find(mark)
    if (found) return found.focus()
    if (lost()) {
      focusHeading()
      held = document.activeElement
    }
    if (mark && performance.now() < until) waiting = setTimeout(look, 60)
  }
  waiting = setTimeout(look, 60)
}

/** Starts to follow the URL. */
export function keepFocus(): void {
  let moved = false
  let back: Mark | null = null
  onLeave((how) => {
    const mark = markOf(document.activeElement)
    moved = mark !== null
    back = null
    // Stores the focused element in the history entry that is left.
    if (how === 'push' && mark) window.history.replaceState({ ...(window.history.state as object | null), focus: mark }, '')
  })
  window.addEventListener('popstate', (event) => {
    const state = event.state as { focus?: Mark } | null
    moved = !lost() || state?.focus !== undefined
    back = state?.focus ?? null
  })
  let first = true
  effect(() => {
    void location.value
    if (!first && moved) settle(back)
    first = false
    back = null
  })
}
