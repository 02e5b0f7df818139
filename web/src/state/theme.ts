// Theme: light, dark, or that of the system. Stored by the browser if allowed.
import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'railwright-theme'

function remembered(): Theme {
  try {
    const text = localStorage.getItem(KEY)
    return text === 'light' || text === 'dark' ? text : 'system'
  } catch {
    return 'system'
  }
}

export const theme = signal<Theme>(remembered())

const query = window.matchMedia('(prefers-color-scheme: dark)')
const systemDark = signal(query.matches)
query.addEventListener('change', (event) => (systemDark.value = event.matches))

/** True while printing, which is always light. */
const onPaper = signal(false)
window.addEventListener('beforeprint', () => (onPaper.value = true))
window.addEventListener('afterprint', () => (onPaper.value = false))

/** True if the current theme is dark; canvases redraw when it changes. */
export const dark = signal(false)

effect(() => {
  dark.value = !onPaper.value && (theme.value === 'dark' || (theme.value === 'system' && systemDark.value))
  document.documentElement.dataset.theme = dark.value ? 'dark' : 'light'
})

/** Sets the theme, and stores it if the browser allows. */
export function chooseTheme(next: Theme): void {
  theme.value = next
  try {
    localStorage.setItem(KEY, next)
  } catch {
    // Private windows reject storage; the choice then lasts until the page is closed.
  }
}
