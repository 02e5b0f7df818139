// Opening files of a job: jobs in the server's folders, selected or dropped files, or a typed path. Responsible for: `PREFIX.path` and
// `PREFIX.files` of the URL. The program reads the files.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type JobOnDisk, useJobsOnDisk, viewOf } from '../../api/jobs-on-disk'
import { playground } from '../../api/playground/marker'
import { withoutHandle } from '../../api/uploads'
import { volume } from '../../charts/format'
import { change, go, openAfresh, own } from '../../state/location'
import { copy } from '../../ui/clipboard'
import { openFiles } from '../../ui/drop'
import { type Column, Table } from '../../ui/table'
import { about, openExample } from './examples'
import './open.css'
import * as texts from '../../words/parts'

/** Open files of a view. Paths are one per line, because they may contain commas; handles of uploads have none. */
export function pathsIn(prefix: string): string[] {
  const { path, files } = own(prefix)
  return files ? files.split(',') : (path ?? '').split('\n').filter(Boolean)
}

const PREFIX = { traces: 't', log: 'l', hang: 'h', snapshot: 'y' } as const
type Home = keyof typeof PREFIX

/** Opens paths in a view. */
export function openPaths(home: Home, paths: readonly string[]): void {
  if (paths.length > 0) openAfresh(home, { [`${PREFIX[home]}.path`]: paths.join('\n') })
}

/** Opens a job in its view: pipeline timers have passes and no kernels. */
function openJob(job: JobOnDisk): void {
  if (/pipeline/i.test(job.format)) go('pipeline', { 'p.trace': job.paths.join('\n'), 'p.step': '' })
  else openPaths(viewOf(job), job.paths)
}

/** Relative paths are below the server's folder. */
function whole(text: string, folder: string | null): string[] {
  const below = (path: string) => (folder && !/^(\/|upload:|[A-Za-z]:)/.test(path) ? `${folder.replace(/\/+$/, '')}/${path}` : path)
  return text
    .split(/\n/)
    .map((line) => line.trim())
    .filter(Boolean)
    .map(below)
}

interface Props {
  readonly home: Home
  readonly title: string
  readonly text: ComponentChildren
  readonly placeholder: string
}

/** True once files were open: who closes them wants others. */
let openedAlone = false

export function Open({ home, title, text, placeholder }: Props) {
  const files = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [filter, setFilter] = useState('')
  const { jobs, more, loading, folder } = useJobsOnDisk()
  // With detected formats, jobs of this view come first, others below.
  const known = jobs.some((job) => job.format !== '')
  const own = known ? jobs.filter((job) => viewOf(job) === home) : jobs
  const others = known ? jobs.filter((job) => viewOf(job) !== home) : []
  // One job was served, and this is its view: there is nothing to choose. Once, so that Back leads here.
  const single = !loading && !more && jobs.length === 1 ? own[0] : undefined
  useEffect(() => {
    if (!single || !known || openedAlone) return
    openedAlone = true
    openJob(single)
  }, [single, known])
  return (
    <div class={`open-files${own.length > 0 ? ' with-jobs' : ''}`} aria-busy={loading}>
      <div class="open-head">
        <h2>{title}</h2>
        <p class="muted">{text}</p>
        <div class="open-ways">
          <button type="button" class={own.length > 0 ? 'button' : 'button primary'} onClick={() => files.current?.click()}>
            {texts.chooseFiles}
          </button>
          <input
            ref={files}
            type="file"
            multiple
            hidden
            onChange={(event) => void openFiles([...(event.currentTarget.files ?? [])], home)}
          />
          <button type="button" class="button" title={about(home)} onClick={() => void openExample(home)}>
            {texts.openAnExample}
          </button>
          {!playground && (
            <form
              onSubmit={(event) => {
                event.preventDefault()
                openPaths(home, whole(typed, folder ?? jobs[0]?.folder ?? null))
              }}
            >
              <input
                class="input"
                aria-label={texts.path}
                placeholder={placeholder}
                value={typed}
                onInput={(event) => setTyped(event.currentTarget.value)}
              />
              <button type="submit" class="button" disabled={typed.trim() === ''}>
                {texts.open}
              </button>
            </form>
          )}
        </div>
        {playground && (
          <p class="muted">
            {texts.filesAreReadInThis} <code>{texts.railwrightServeFolder}</code>.
          </p>
        )}
      </div>
      {own.length > 0 && (
        <Jobs
          title={home === 'traces' ? texts.jobs : home === 'log' ? texts.logs : home === 'snapshot' ? texts.snapshots : texts.dumps}
          jobs={own}
          filter={filter}
          onFilter={jobs.length >= FILTER_FROM ? setFilter : undefined}
          more={more}
          open={known ? openJob : (job) => openPaths(home, job.paths)}
        />
      )}
      {others.length > 0 && (
        <Jobs
          title={texts.otherFiles}
          jobs={others}
          filter={filter}
          onFilter={own.length === 0 && others.length >= FILTER_FROM ? setFilter : undefined}
          more={false}
          open={openJob}
        />
      )}
    </div>
  )
}

/** Name without the format, which is shown next to it; a job that is the given folder itself has the folder's name. */
function nameOf(job: JobOnDisk): string {
  const name = job.name.replace(`: ${job.format}`, '')
  return name === '.' || name === '' || name === job.format ? (job.folder.split('/').filter(Boolean).at(-1) ?? job.folder) : name
}

/** A path for a heading: the end of one that is long, the name of an upload. Pure. */
export function shortened(path: string): string {
  const parts = withoutHandle(path).split('/')
  return parts.length > SHOWN + 2 ? `…/${parts.slice(-SHOWN).join('/')}` : withoutHandle(path)
}

/** Number of names that a long path in a heading keeps. */
const SHOWN = 2

/** A path with possible line breaks after its separators. */
function breakable(name: string): ComponentChildren {
  return name.split(/(?<=[/_-])/).flatMap((part, at) => (at === 0 ? [part] : [<wbr key={at} />, part]))
}

interface JobsProps {
  readonly title: string
  readonly jobs: readonly JobOnDisk[]
  readonly filter: string
  readonly onFilter?: ((text: string) => void) | undefined
  readonly more: boolean
  readonly open: (job: JobOnDisk) => void
}

const FILTER_FROM = 9

function Jobs({ title, jobs, filter, onFilter, more, open }: JobsProps) {
  const recognized = jobs.some((job) => job.format !== '')
  const columns: Column<JobOnDisk>[] = [
    {
      key: 'name',
      title: texts.job,
      value: (job) => job.name,
      wrap: true,
      cell: (job) => <span title={job.folder}>{breakable(nameOf(job))}</span>,
    },
    ...(recognized
      ? ([
          { key: 'format', title: texts.what, value: (job) => job.format },
          ...(jobs.some((job) => job.ranks !== null)
            ? ([
                {
                  key: 'ranks',
                  title: texts.ranks,
                  value: (job) => job.ranks,
                  cell: (job) => job.ranks?.toLocaleString('en') ?? '–',
                  align: 'right',
                },
              ] satisfies Column<JobOnDisk>[])
            : []),
          {
            key: 'files',
            title: texts.files2,
            value: (job) => job.files,
            cell: (job) => job.files?.toLocaleString('en') ?? '–',
            align: 'right',
          },
          {
            key: 'bytes',
            title: texts.size,
            value: (job) => job.bytes,
            cell: (job) => (job.bytes === null ? '–' : volume(job.bytes)),
            align: 'right',
          },
        ] satisfies Column<JobOnDisk>[])
      : []),
  ]
  return (
    <section class="panel open-jobs" aria-label={title}>
      <header>
        <h2>
          {title}{' '}
          <span class="muted">
            {jobs.length.toLocaleString('en')}
            {more ? texts.andMoreThanAreListed : ''}
            {texts.enterOpensOne}
          </span>
        </h2>
        {onFilter && (
          <input
            class="input"
            type="search"
            data-filter
            aria-label={texts.filterJobs}
            placeholder={texts.filter}
            value={filter}
            onInput={(event) => onFilter(event.currentTarget.value)}
          />
        )}
      </header>
      <Table
        caption={texts.oneARow(title)}
        columns={columns}
        rows={jobs}
        identify={(job) => `${job.format} ${job.paths.join(' ')}`}
        filter={filter}
        onChoose={open}
        maxHeight="60vh"
      />
    </section>
  )
}

/** Jobs below a folder that could not be opened, to choose one; `open` for views that do more than open it. */
export function JobsBelow({ paths, open = openJob }: { paths: readonly string[]; open?: (job: JobOnDisk) => void }) {
  const { jobs } = useJobsOnDisk()
  const [filter, setFilter] = useState('')
  const inside = (job: JobOnDisk) =>
    paths.some((path) => job.folder === path.replace(/\/+$/, '') || job.folder.startsWith(`${path.replace(/\/+$/, '')}/`))
  const found = jobs.filter((job) => job.format !== '' && inside(job) && job.paths.join() !== paths.join())
  if (found.length === 0) return null
  return (
    <Jobs
      title={texts.jobsInIt}
      jobs={found}
      filter={filter}
      onFilter={found.length >= FILTER_FROM ? setFilter : undefined}
      more={false}
      open={open}
    />
  )
}

/** Open files, with their actions. */
export function Opened({
  home,
  paths,
  commandLine,
  children,
}: {
  home: Home
  paths: readonly string[]
  commandLine: string
  children?: ComponentChildren
}) {
  const short = paths.map(shortened)
  const prefix = PREFIX[home]
  useEffect(() => {
    openedAlone = true
  }, [])
  // The whole state of this view refers to the files that were open.
  const close = () => change(Object.fromEntries(Object.keys(own(prefix)).map((key) => [`${prefix}.${key}`, undefined])))
  return (
    <div class="opened">
      <strong data-heading tabIndex={-1} title={paths.join('\n')}>
        {short.length === 1 ? breakable(short[0] ?? '') : texts.files(short.length, short[0] ?? '')}
      </strong>
      {children}
      <button type="button" class="button quiet" onClick={close}>
        {texts.openOthers}
      </button>
      {commandLine && (
        <button type="button" class="button quiet" title={commandLine} onClick={() => void copy(commandLine, texts.theCommand)}>
          {texts.copyAsCommand}
        </button>
      )}
    </div>
  )
}
