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
  known ??= fetchApi('start').then((response) => response.json() as Promise<Start>)
  known.catch(() => {
    known = undefined
  })
  return known
}
