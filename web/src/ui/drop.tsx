// Files dropped on the window: sent to the local program, detected by content, and opened in their view.
// Detection is in `state/opening`, by the program.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Refusal } from '../api/ask'
import { report } from '../api/report'
import { type Upload, missing, upload } from '../api/uploads'
import { openByContent } from '../state/opening'
import { toast } from '../state/toasts'
import * as texts from '../words/ui'

const over = signal(false)
const busy = signal('')

/** Uploads files and opens them in their view. Also called by the "open a file" button of a view, with the kind that it expects. */
export async function openFiles(files: readonly File[], meant: string | null = null): Promise<void> {
  if (files.length === 0) return
  try {
    const awaited = new Set(missing.value)
    const uploads: Upload[] = []
    for (const file of files) {
      busy.value = texts.reading(file.name)
      uploads.push(await upload(file))
    }
    // A file that the link refers to belongs to the open state, which then has all it needs.
    if (uploads.every((one) => awaited.has(one.path))) return
    busy.value = texts.detectingTheFormat
    await openByContent(uploads, meant)
  } catch (error) {
    const problem = error instanceof Refusal ? error.problems[0] : undefined
    const message = problem?.message ?? String(error)
    const names = files.map((file) => file.name)
    toast(names.some((name) => message.includes(name)) ? message : `${names[0]}: ${message}`, {
      kind: 'refused',
      hint: problem?.hint ?? undefined,
    })
  } finally {
    busy.value = ''
  }
}

export function DropAnywhere() {
  useEffect(() => {
    if (report) return
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      over.value = true
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) over.value = false
    }
    const drop = (event: DragEvent) => {
      over.value = false
      if (!hasFiles(event)) return
      event.preventDefault()
      void openFiles([...(event.dataTransfer?.files ?? [])])
    }
    const listeners = { dragenter: enter, dragover: enter, dragleave: leave, drop } as const
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name, listener as EventListener)
    return () => {
      for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name, listener as EventListener)
    }
  }, [])
  if (!over.value && !busy.value) return null
  return (
    <div class="drop-target" role="status">
      <div>
        <strong>{busy.value || texts.dropIt}</strong>
        {!busy.value && <span class="muted">{texts.aModelsConfigJsonA}</span>}
      </div>
    </div>
  )
}
