// The open view as a document: one HTML file with its answers, or printed.
// Responsible for: inserting answers and notes into the report file of the web UI. Sends no questions.
import { useRef, useState } from 'preact/hooks'
import { start } from '../api/start'
import { withoutHandle } from '../api/uploads'
import type { Report } from '../api/report'
import { inUse } from '../api/used'
import { location, settle } from '../state/location'
import { runText } from '../state/run'
import { toast } from '../state/toasts'
import { views } from '../views/registry'
import { OF_FILES, subject } from '../charts/source'
import { download } from './clipboard'
import { Dialog } from './dialog'
import * as texts from '../words/ui'

/** Text of a report: the web UI as one file with the data inside. */
export function written(page: string, report: Report): string {
  // The data must not contain the end tag of its script element.
  const text = JSON.stringify(report).replaceAll('<', '\\u003c')
  // A pattern, so that this script, which is part of the page, does not match itself.
  return page.replace(/\/\*REPORT\*\//, () => text)
}

async function save(title: string, notes: string): Promise<void> {
  const response = await fetch('./report.html')
  if (!response.ok) throw new Error(texts.theServerAnswered(response.status))
  const { railwright } = await start()
  settle()
  const text = written(await response.text(), {
    railwright,
    title,
    ...(notes ? { notes } : {}),
    written: new Date().toISOString(),
    source: subject(),
    fragment: window.location.hash,
    answers: inUse(),
  })
  download(`railwright-${location.value.view}.html`, text, 'text/html')
}

export function ReportDialog(props: { close: () => void }) {
  const view = views.find((one) => one.id === location.value.view)
  const isOfRun = view && view.prefix !== 'r' && !OF_FILES.includes(view.prefix)
  const model = isOfRun ? withoutHandle(runText.value.model ?? '') : ''
  const named = [view?.title ?? 'Report', model].filter(Boolean).join(': ')
  const title = useRef<HTMLInputElement>(null)
  const notes = useRef<HTMLTextAreaElement>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    setBusy(true)
    save(title.current?.value.trim() || named, notes.current?.value.trim() ?? '').then(
      () => {
        toast(texts.reportSaved)
        props.close()
      },
      (error: unknown) => {
        setBusy(false)
        setProblem(texts.theReportWasNotSaved(error instanceof Error ? error.message : String(error)))
      },
    )
  }
  const print = () => {
    props.close()
    // The dialog must be closed before printing.
    requestAnimationFrame(() => requestAnimationFrame(() => window.print()))
  }
  return (
    <Dialog title={texts.report} close={props.close}>
      <form class="report-dialog" onSubmit={submit}>
        <label>
          {texts.title}
          <input ref={title} class="input" defaultValue={named} />
        </label>
        <label>
          {texts.notes}
          <textarea ref={notes} class="input" rows={4} placeholder={texts.printedBelowTheTitle} />
        </label>
        <p class="muted">{texts.oneHtmlFileWithThe}</p>
        <div class="report-do">
          <button type="submit" class="button primary" disabled={busy}>
            {texts.saveHtml}
          </button>
          <button type="button" class="button" onClick={print}>
            {texts.printOrPdf}
          </button>
        </div>
        {problem && (
          <p class="tone-bad" role="alert">
            {problem}
          </p>
        )}
      </form>
    </Dialog>
  )
}
