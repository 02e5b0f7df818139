// Short messages in the corner about actions and rejections. Announced by screen readers; errors stay until closed.
import { signal } from '@preact/signals'

export interface Toast {
  readonly id: number
  readonly kind: 'done' | 'refused'
  readonly text: string
  readonly hint?: string
  readonly action?: { readonly title: string; readonly run: () => void }
}

export const toasts = signal<readonly Toast[]>([])

let next = 1

/** Shows a message; `done` disappears after four seconds. */
export function toast(text: string, options: Partial<Pick<Toast, 'kind' | 'hint' | 'action'>> = {}): void {
  const one: Toast = { id: next++, kind: 'done', text, ...options }
  toasts.value = [...toasts.value.slice(-3), one]
  if (one.kind === 'done') setTimeout(() => dismiss(one.id), 4000 + 60 * (one.hint?.length ?? 0))
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}
