// Interface to the program: runs a command with its arguments and returns the answer of `--json`.
// Passes answers through unchanged, without computation.
import { signal } from '@preact/signals'
import { playground } from './playground/marker'
import { answerFromReport, report } from './report'
import * as texts from '../words/state'

/** True if the server did not respond to the last request. */
export const lost = signal(false)

/** Value of a flag: `true` is the bare flag, `false` and `undefined` omit it, a list repeats it. */
export type Value = string | number | boolean | readonly (string | number)[] | undefined
export type Arguments = Readonly<Record<string, Value>>

/** Arguments without some of them. */
export const withoutKeys = (values: Arguments, keys: readonly string[]): Arguments =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)))

export const OUTCOMES = ['yes', 'no', 'at-risk', 'cannot-tell', 'invalid', 'interrupted'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface Answer<T> {
  /** Output of the command with `--json`; for other formats see `askText`. */
  readonly answer: T
  readonly outcome: Outcome
  /** Equivalent command line. */
  readonly commandLine: string
  /** Notes of the command, such as ignored lines of a launch file. */
  readonly notes: readonly string[]
}

export interface Place {
  readonly file?: string | null
  readonly line?: number | null
  readonly column?: number | null
  readonly key?: string | null
  /** Argument with the problem, if it is one of the web UI. */
  readonly flag?: string
  readonly origin?: string
}

/** A problem as the command line prints it after `error:`. */
export interface Problem {
  readonly message: string
  readonly place?: Place | string | null
  readonly hint?: string | null
  /** Settings that each remove the problem. */
  readonly remedies?: readonly Remedy[]
}

/** A setting of a run file that removes a problem. */
export interface Remedy {
  readonly key: string
  readonly value: string
}

/** Thrown when the program rejects a question: all problems with hints. */
export class Refusal extends Error {
  readonly problems: readonly Problem[]
  readonly status: number
  readonly command: string
  constructor(problems: readonly Problem[], status: number, command = '') {
    super(problems.map((problem) => problem.message).join('; ') || texts.theProgramRefused)
    this.name = 'Refusal'
    this.problems = problems
    this.status = status
    this.command = command
  }
}

interface Options {
  readonly signal?: AbortSignal
}

/** Arguments without omitted ones, with sorted keys, so that equal questions are equal texts. */
export function canonical(values: Arguments): Record<string, unknown> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== false && value !== '')
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Identity of a question, for caches and comparisons. */
export function identity(command: string, values: Arguments): string {
  return `${command} ${JSON.stringify(canonical(values))}`
}

/** Runs a command. Throws `Refusal` (the problems) or an `AbortError` (cancelled). */
export async function ask<T>(command: string, values: Arguments = {}, options: Options = {}): Promise<Answer<T>> {
  if (report) return answerFromReport<T>(command, values)
  return answered<T>(await post(command, values, 'json', options))
}

/** Runs a command and returns its output as text: `csv`, `md`, `svg`, `html`, `table`. */
export async function askText(command: string, values: Arguments, format: string, options: Options = {}): Promise<Answer<string>> {
  if (report) return answerFromReport<string>(`${command}:${format}`, values)
  const response = await post(command, values, format, options)
  return { answer: await response.text(), ...envelope(response) }
}

/** Fetches an API URL, relative to the current one, because only the server has the token. */
export async function fetchApi(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response
  try {
    response = playground ? await (await import('./playground/transport')).respond(path, init) : await fetch(`./api/v1/${path}`, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    lost.value = true
    throw new Refusal([{ message: texts.theProgramDoesNotAnswer, hint: texts.startRailwrightServeAgain }], 0)
  }
  lost.value = false
  if (!response.ok) throw await refusal(response)
  return response
}

/** Answer in a response; throws if the question was rejected. */
export async function answered<T>(response: Response): Promise<Answer<T>> {
  if (!response.ok) throw await refusal(response)
  return { answer: (await response.json()) as T, ...envelope(response) }
}

function post(command: string, values: Arguments, format: string, options: Options): Promise<Response> {
  return fetchApi(command, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: canonical(values), format }),
    signal: options.signal ?? null,
  })
}

function envelope(response: Response): Omit<Answer<unknown>, 'answer'> {
  const outcome = response.headers.get('railwright-outcome')
  return {
    outcome: OUTCOMES.find((known) => known === outcome) ?? 'yes',
    commandLine: header(response, 'railwright-command'),
    notes: notes(header(response, 'railwright-notes')),
  }
}

/** Decodes a percent-encoded header; an invalid encoding is returned unchanged. */
function header(response: Response, name: string): string {
  const text = response.headers.get(name) ?? ''
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function notes(text: string): readonly string[] {
  try {
    const list: unknown = text ? JSON.parse(text) : []
    return Array.isArray(list) ? list.map(String) : []
  } catch {
    return [text]
  }
}

async function refusal(response: Response): Promise<Refusal> {
  const text = await response.text().catch(() => '')
  try {
    const body = JSON.parse(text) as { problems?: Problem[]; command?: string }
    if (Array.isArray(body.problems)) return new Refusal(body.problems, response.status, body.command)
  } catch {
    // Not JSON: shown unchanged.
  }
  return new Refusal([{ message: text.trim() || texts.theServerAnswered(response.status) }], response.status)
}
