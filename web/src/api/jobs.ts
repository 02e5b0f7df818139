// Long questions: start, progress, stop. A stopped job has its partial result as the answer, with outcome `interrupted`.
import { type Answer, type Arguments, type Outcome, type Problem, Refusal, answered, ask, canonical, fetchApi, lost } from './ask'
import { playground } from './playground/marker'
import { answerFromReport, report } from './report'
import * as texts from '../words/state'

export interface Progress {
  readonly done?: number
  readonly total?: number
  readonly message?: string
  readonly [other: string]: unknown
}

export interface Job<T> {
  /** Resolves with the answer (also after `stop`), rejects with a `Refusal`. */
  readonly done: Promise<Answer<T>>
  /** Stops the job; `done` then has the partial result. */
  stop(): Promise<void>
}

/** Status of a reply that did not come in time. */
const TOO_LONG = 504

/** Starts a command as a job; `onProgress` is called at most ten times per second. */
export function startJob<T>(command: string, values: Arguments, onProgress: (progress: Progress) => void): Job<T> {
  if (report) return { done: Promise.resolve().then(() => answerFromReport<T>(command, values)), stop: async () => {} }
  if (playground) return runHere(command, values, onProgress)
  let identifier: Promise<string>
  const done = new Promise<Answer<T>>((resolve, reject) => {
    identifier = begin(command, values)
    identifier.then((job) => listen(job, command, onProgress, resolve, reject), reject)
  })
  return {
    done,
    stop: async () => {
      const job = await identifier
      await fetchApi(`jobs/${job}`, { method: 'DELETE', keepalive: true })
    },
  }
}

/** Answer of a question; one that takes longer than the server lets a reply wait goes on as a job. */
export function askPatiently<T>(command: string, values: Arguments, signal: AbortSignal): Promise<Answer<T>> {
  return ask<T>(command, values, { signal }).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.status !== TOO_LONG) throw error
    const job = startJob<T>(command, values, () => undefined)
    signal.addEventListener('abort', () => void job.stop().catch(() => undefined))
    return job.done
  })
}

/** The playground has no jobs: the question runs in a worker, and stopping it ends the worker without a partial result. */
function runHere<T>(command: string, values: Arguments, onProgress: (progress: Progress) => void): Job<T> {
  const stop = new AbortController()
  const done = (async () => {
    const { answer, response } = await import('./playground/transport')
    try {
      return await answered<T>(response(await answer({ command, arguments: canonical(values) }, stop.signal, onProgress)))
    } catch (error) {
      if (!stop.signal.aborted) throw error
      const hint = texts.partialResultsNeedTheInstalled
      throw new Refusal([{ message: texts.stoppedBeforeTheAnswer, hint }], 0, command)
    }
  })()
  return { done, stop: async () => stop.abort() }
}

async function begin(command: string, values: Arguments): Promise<string> {
  const response = await fetchApi('jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ command, arguments: canonical(values) }),
  })
  return String(((await response.json()) as { job: string | number }).job)
}

function listen<T>(
  job: string,
  command: string,
  onProgress: (progress: Progress) => void,
  resolve: (answer: Answer<T>) => void,
  reject: (error: unknown) => void,
): void {
  const events = new EventSource(`./api/v1/jobs/${job}/events`)
  const data = (event: Event) => JSON.parse((event as MessageEvent<string>).data) as Record<string, unknown>
  events.addEventListener('progress', (event) => onProgress(data(event) as Progress))
  events.addEventListener('answer', (event) => {
    events.close()
    const body = data(event)
    resolve({
      answer: body.answer as T,
      outcome: (body.outcome as Outcome) ?? 'yes',
      commandLine: (body.command as string) ?? '',
      notes: (body.notes as string[]) ?? [],
    })
  })
  events.addEventListener('problems', (event) => {
    events.close()
    const body = data(event)
    reject(new Refusal((body.problems as Problem[]) ?? [{ message: texts.theJobFailed }], 422, (body.command as string) ?? command))
  })
  let failures = 0
  events.onerror = () => {
    // The browser reconnects automatically, but a stopped server does not return.
    if (events.readyState === EventSource.CLOSED || ++failures > 3) {
      events.close()
      lost.value = true
      reject(new Refusal([{ message: texts.theConnectionToTheProgram, hint: texts.startRailwrightServeAgain }], 0, command))
    }
  }
}
