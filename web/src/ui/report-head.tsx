// Head of a report: title, notes, subject, date and version, and the equivalent commands.
// Responsible for: these texts; in print also above a view of the running web UI, but never on its screen.
import { report } from '../api/report'
import { inUse } from '../api/used'
import { sourceText } from '../charts/source'
import { location } from '../state/location'
import { views } from '../views/registry'
import * as texts from '../words/ui'

const day = (text: string) => text.slice(0, 16).replace('T', ' ')

export function ReportHead() {
  const view = views.find((one) => one.id === location.value.view)
  const title = report?.title ?? view?.title ?? ''
  const answers = report?.answers ?? inUse()
  const lines = [...new Set(answers.flatMap((one) => (one.command_line && !isCatalogue(one.command) ? [one.command_line] : [])))]
  return (
    <section class={report ? 'report-head' : 'report-head on-paper'} aria-label={texts.report}>
      <p class="report-title">{title}</p>
      <p class="muted">
        {report?.source ?? sourceText(new Date())}
        {report?.written && (
          <>
            {' '}
            {texts.written} {day(report.written)} {texts.utc}
          </>
        )}
        {report?.railwright && (
          <>
            {' '}
            {texts.railwright} {report.railwright}
          </>
        )}
      </p>
      {report?.notes && <p class="report-notes">{report.notes}</p>}
      {report && lines.length > 0 && (
        <details>
          <summary>{texts.commandsThatPrintTheseResults}</summary>
          {lines.map((line) => (
            <code key={line}>{line}</code>
          ))}
        </details>
      )}
    </section>
  )
}

/** Lists for controls of a view, which a report omits. */
const isCatalogue = (command: string) => /\/list$|^values$|^keys$|^examples$/.test(command)
