// The key map: active key bindings, and the list shown by `?`. Sequences (`g c`) wait one second for their second key. Inactive while the
// user types text, except for Escape.
import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export interface KeyBinding {
  /** Names of `KeyboardEvent.key`, sequences with spaces: `g c`, `?`, `/`, `Escape`, `Shift+ArrowLeft`. */
  readonly keys: string
  readonly title: string
  /** Heading in the overlay. */
  readonly group: string
  /** Action; returns `false` to pass the key on. */
  readonly run: (event: KeyboardEvent) => void | boolean
  /** Not shown in the overlay. */
  readonly hidden?: boolean
}

const bindings = signal<readonly KeyBinding[]>([])

/** All active bindings, in order of registration. */
export const keyMap = computed(() => bindings.value.filter((binding) => !binding.hidden))

/** Registers bindings until the returned function is called; later ones take precedence. */
export function bind(added: readonly KeyBinding[]): () => void {
  bindings.value = [...bindings.value, ...added]
  return () => {
    bindings.value = bindings.value.filter((binding) => !added.includes(binding))
  }
}

/** Keys that are active while the component is mounted. `dependencies` as for `useEffect`. */
export function useKeys(added: readonly KeyBinding[], dependencies: readonly unknown[] = []): void {
  useEffect(() => bind(added), dependencies as unknown[])
}

let typed = ''
let typedAt = 0

function name(event: KeyboardEvent): string {
  const shifted = event.shiftKey && event.key.length > 1
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${shifted ? 'Shift+' : ''}${event.key}`
}

function typing(event: KeyboardEvent): boolean {
  const target = event.target
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'range'].includes(target.type)
}

function listen(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return
  const key = name(event)
  if (typing(event) && key !== 'Escape' && !key.startsWith('Ctrl+')) return
  const now = performance.now()
  const sequence = typed && now - typedAt < 1000 ? `${typed} ${key}` : key
  typed = ''
  for (const wanted of sequence === key ? [key] : [sequence, key]) {
    const found = bindings.value.filter((binding) => binding.keys === wanted).reverse()
    for (const binding of found) {
      if (binding.run(event) !== false) {
        event.preventDefault()
        return
      }
    }
    if (bindings.value.some((binding) => binding.keys.startsWith(`${wanted} `))) {
      typed = wanted
      typedAt = now
      event.preventDefault()
      return
    }
  }
}

window.addEventListener('keydown', listen)
