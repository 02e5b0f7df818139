// Start data of `railwright serve`: a run, traces, examples. Fetched once.
import { fetchApi } from './ask'
import type { Arguments } from './ask'
import { report } from './report'

export interface Start {
  readonly railwright: string
  readonly api: number
  readonly run: Arguments | null
  readonly traces: readonly string[]
  readonly folder_of_traces?: string | null
  /** Jobs in the folders at the start; `useJobsOnDisk` has the current ones. */
  readonly jobs?: readonly unknown[]
  readonly examples?: readonly unknown[]
}

const NOTHING: Start = { railwright: report?.railwright ?? '', api: 1, run: null, traces: [] }

let known: Promise<Start> | undefined

/** Start data of the server; empty in a report. */
export function start(): Promise<Start> {
  if (report) return Promise.resolve(NOTHING)
  known ??= early()
  known.catch(() => {
    known = undefined
  })
  return known
}

/** The answer that `first.js` asked for; if it failed, another one. */
async function early(): Promise<Start> {
  const answer = await globalThis.railwrightStart
  globalThis.railwrightStart = undefined
  return answer ?? ((await fetchApi('start')).json() as Promise<Start>)
}

declare global {
  var railwrightStart: Promise<Start | null> | undefined
}
