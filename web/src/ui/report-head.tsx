// What stands above a report: title, notes, what it is of, when and by which version it was made, and the commands that print the same.
// Responsible for: these words; on paper also above a view of the running page. Refuses to be seen on the screen of a running page.
import { report } from '../api/report'
import { inUse } from '../api/used'
import { subject } from '../charts/source'
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
        {report?.source ?? subject()}
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

/** Lists that a view needs for its controls; nobody reads them in a report. */
const isCatalogue = (command: string) => /\/list$|^values$|^keys$|^examples$/.test(command)
