// Files dropped anywhere on the page: sent to the local program, told apart by its content, opened where they belong.
// Views may take the files they know first (`onDropped`); what nobody takes is asked of `detect`.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Refusal, ask } from '../api/ask'
import { report } from '../api/report'
import { type Upload, upload } from '../api/uploads'
import { change, go, replaceRun, view } from '../state/location'
import { runText } from '../state/run'
import { toast } from '../state/toasts'

/** Takes files that were uploaded; `false` leaves them to the next. */
export type DropTaker = (uploads: readonly Upload[]) => boolean | Promise<boolean>

const takers: DropTaker[] = []
const over = signal(false)
const busy = signal('')

/** Offers dropped files to a view first; returns how to stop. */
export function onDropped(taker: DropTaker): () => void {
  takers.unshift(taker)
  return () => void takers.splice(takers.indexOf(taker), 1)
}

/** Uploads files and opens them where they belong; also what an "open a file" button calls. */
export async function openFiles(files: readonly File[]): Promise<void> {
  if (files.length === 0) return
  try {
    const uploads: Upload[] = []
    for (const file of files) {
      busy.value = `Reading ${file.name}`
      uploads.push(await upload(file))
    }
    busy.value = 'Looking what it is'
    for (const taker of takers) if (await taker(uploads)) return
    await openByContent(uploads)
  } catch (error) {
    const problem = error instanceof Refusal ? error.problems[0] : undefined
    toast(problem?.message ?? String(error), { kind: 'refused', hint: problem?.hint ?? undefined })
  } finally {
    busy.value = ''
  }
}

const TRACE = /\.(pt\.trace\.json|json\.gz|gz|zst|nsys-rep|sqlite|pb|xplane\.pb|parquet|tar)$/i

async function openByContent(uploads: readonly Upload[]): Promise<void> {
  const first = uploads[0]
  if (!first) return
  if (uploads.length > 1 || TRACE.test(first.name)) return openTraces(uploads)
  if (/\.json$/i.test(first.name) && first.bytes > 512 * 1024) return openTraces(uploads)
  const detected = (await ask<Detected>('detect', { file: first.path })).answer
  const seen = detected.seen[0]
  const { cluster } = runText.value
  if (seen?.format === 'run-file') {
    replaceRun({ run: first.path }, 'calculator')
    toast(`${first.name}: a run file`, { hint: seen.why })
    return
  }
  if (detected.format) {
    // The launch file says the plan too: what the address says would win over it, so only the cluster stays.
    replaceRun({ model: first.path, ...(cluster ? { cluster } : {}) }, 'calculator')
    toast(`${first.name}: ${readable(detected.format)}`, { hint: seen?.why })
    return
  }
  // A config.json is no launch file: whether it is a model, the model reader says.
  await ask('models/show', { name: first.path })
  if (view.value !== 'calculator') go('calculator')
  change({ model: first.path })
  toast(`${first.name} is the model now`)
}

function openTraces(uploads: readonly Upload[]): void {
  go('traces', { 't.files': uploads.map((one) => one.path).join(',') })
}

interface Detected {
  readonly format?: string
  readonly seen: readonly { readonly format: string; readonly why: string }[]
}

function readable(format: string): string {
  return format.replaceAll('-', ' ')
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
        <strong>{busy.value || 'Drop it'}</strong>
        {!busy.value && <span class="muted">config.json, a launch file, a training log, or traces of a job</span>}
      </div>
    </div>
  )
}
