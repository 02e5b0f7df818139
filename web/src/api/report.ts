// Answers inside a report: an HTML file with the answers in `<script id="railwright-report">`.
// Questions that were not asked when the report was saved are rejected with a message.
import { type Answer, type Arguments, type Outcome, Refusal, identity } from './ask'
import * as texts from '../words/state'

interface SavedAnswer {
  readonly command: string
  readonly arguments: Arguments
  readonly outcome?: Outcome
  readonly command_line?: string
  readonly answer: unknown
}

/** Content of the script element; documented in web/README.md. */
export interface Report {
  readonly railwright: string
  readonly title?: string
  /** Notes of the author, shown below the title. */
  readonly notes?: string
  /** Subject in words. */
  readonly source?: string
  /** Time of writing, as ISO 8601. */
  readonly written?: string
  /** URL fragment that the report opens with. */
  readonly fragment: string
  readonly answers: readonly SavedAnswer[]
}

function read(): Report | null {
  const text = typeof document === 'undefined' ? null : document.getElementById('railwright-report')?.textContent?.trim()
  if (!text?.startsWith('{')) return null
  return JSON.parse(text) as Report
}

/** Data of the report; null if a server answers. */
export const report: Report | null = read()

/** Answer of the report for an equal question. A report written by the program (without a time) has one answer of a command, under the
 * names of the run. */
export function answerFromReport<T>(command: string, values: Arguments): Answer<T> {
  const wanted = identity(command, values)
  const ofCommand = (report?.answers ?? []).filter((saved) => saved.command === command)
  const found =
    ofCommand.find((saved) => identity(command, saved.arguments) === wanted) ??
    (ofCommand.length === 1 && report?.written === undefined ? ofCommand[0] : undefined)
  if (!found) {
    throw new Refusal([{ message: texts.thisReportDoesNotContain, hint: texts.startRailwrightServeForOther }], 0, command)
  }
  return { answer: found.answer as T, outcome: found.outcome ?? 'yes', commandLine: found.command_line ?? '', notes: [] }
}
