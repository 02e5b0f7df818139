// Jobs in the server's folders. Listed when a view needs them, so that new files are found; an older server lists only the folders.
import { useEffect, useState } from 'preact/hooks'
import { fetchApi } from './ask'
import { report } from './report'
import { start } from './start'

export interface JobOnDisk {
  /** Path relative to the folder given at start. */
  readonly name: string
  readonly folder: string
  /** Value of the argument `paths`. */
  readonly paths: readonly string[]
  /** Name of the format, from the reader; empty if not detected. */
  readonly format: string
  readonly ranks: number | null
  readonly files: number | null
  readonly bytes: number | null
}

export interface Found {
  readonly jobs: readonly JobOnDisk[]
  /** True if folders contain more than is listed. */
  readonly more: boolean
  readonly loading: boolean
  readonly folder: string | null
}

/** View that opens a job. */
export function viewOf(job: Pick<JobOnDisk, 'format'>): 'traces' | 'log' | 'hang' | 'snapshot' {
  if (/snapshot/i.test(job.format)) return 'snapshot'
  if (/flight|record|xpu|metrics/i.test(job.format)) return 'hang'
  if (/\blog\b/i.test(job.format)) return 'log'
  return 'traces'
}

async function list(): Promise<Omit<Found, 'loading'>> {
  const given = await start()
  const folder = given.folder_of_traces ?? null
  // A server with a list of jobs can list them again; older ones answer this URL with an error.
  if (given.jobs)
    try {
      const response = await fetchApi('traces')
      const { jobs, more } = (await response.json()) as { jobs: JobOnDisk[]; more: boolean }
      if (Array.isArray(jobs)) return { jobs, more, folder }
    } catch {
      // The folders themselves are shown instead.
    }
  return {
    jobs: given.traces.map((path) => ({ name: path, folder: path, paths: [path], format: '', ranks: null, files: null, bytes: null })),
    more: false,
    folder,
  }
}

/** Jobs on disk; a change of `again` lists them again. */
export function useJobsOnDisk(again: unknown = 0): Found {
  const [found, setFound] = useState<Found>({ jobs: [], more: false, loading: !report, folder: null })
  useEffect(() => {
    if (report) return
    let here = true
    list().then(
      (next) => here && setFound({ ...next, loading: false }),
      () => here && setFound((old) => ({ ...old, loading: false })),
    )
    return () => {
      here = false
    }
  }, [again])
  return found
}
