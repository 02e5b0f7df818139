// Copies text and downloads files, with a message.
import { toast } from '../state/toasts'
import * as texts from '../words/ui'

/** Copies a text, with a message; uses a selection if the clipboard is not allowed. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(texts.copied(what))
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    toast(done ? texts.copied(what) : texts.theBrowserDidNotAllow, { kind: done ? 'done' : 'refused' })
  }
}

/** Downloads a file. */
export function download(name: string, content: Blob | string, type = 'text/plain'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
