// What `railwright serve` was given at start: a run, traces, examples. Asked once.
import { fetchApi } from './ask'
import type { Arguments } from './ask'
import { report } from './report'

export interface Start {
  readonly railwright: string
  readonly api: number
  readonly run: Arguments | null
  readonly traces: readonly string[]
  readonly folder_of_traces?: string | null
  /** What lies in the folders; `useJobsOnDisk` lists it afresh. */
  readonly jobs?: readonly unknown[]
  readonly examples?: readonly unknown[]
}

const NOTHING: Start = { railwright: report?.railwright ?? '', api: 1, run: null, traces: [] }

let known: Promise<Start> | undefined

/** What the server was started with; empty in a report. */
export function start(): Promise<Start> {
  if (report) return Promise.resolve(NOTHING)
  known ??= fetchApi('start').then((response) => response.json() as Promise<Start>)
  known.catch(() => {
    known = undefined
  })
  return known
}
