// Time by module or by line of Python: compute, transfers, waits and idle time. Responsible for: the question of either kind, and its
// table. The rows of `profile --by` add up to the step.
import type { OriginRow, ProfileAnswer } from '../../api/schema/profile'
import { useAnswer } from '../../api/live'
import { change, own } from '../../state/location'
import { percent, span } from '../../timeline/time'
import { Segments } from '../../ui/fields'
import { Empty, Loading, Problems } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import type { TabProps } from '.'
import * as texts from '../../words/traces'

const KINDS = [
  ['module', 'Modules'],
  ['source', texts.sourceLines],
] as const

/** Parts of a row with their class, which determines the colour. */
const PARTS = [
  ['compute_ns', 'Compute', 'backward', texts.computeTime],
  ['transfer_ns', 'Transfer', 'tensor', texts.exposedTransfers],
  ['wait_ns', 'Waiting', 'waiting', texts.exposedWaitsForOtherRanks],
  ['undivided_ns', texts.transferOrWaiting, 'communication', texts.exposedCommunicationWithRanksThat],
  ['copy_ns', 'Copies', 'copy', texts.exposedCopies],
  ['idle_ns', 'Idle', 'host', texts.deviceIdleWhileTheHost],
] as const

export function Origins({ paths, job }: TabProps) {
  const by = own('t').by === 'source' ? 'source' : 'module'
  const { answer, problems, stale } = useAnswer<ProfileAnswer>('profile', { paths, ...job, by, top: 60 })
  const origins = answer && 'origins' in answer ? answer.origins : null
  return (
    <div class="traces-grid">
      <div class="traces-choices traces-wide">
        <Segments
          label={texts.timeBy}
          value={by}
          options={KINDS}
          onChange={(kind) => change({ 't.by': kind === 'module' ? undefined : kind })}
        />
        {origins && (
          <span class="muted">
            {percent(origins.covered_share)} {texts.ofTheStepHasA} {by === 'module' ? 'module' : texts.sourceLine2}
            {origins.annotations && texts.annotationsStandForModules}
          </span>
        )}
      </div>
      {problems.length > 0 && <Problems problems={problems} />}
      {!origins && problems.length === 0 && <Loading heights={[320]} label={texts.readingTheTraces} />}
      {origins && origins.places === 0 && (
        <div class="traces-wide">
          <Empty
            title={by === 'module' ? texts.noModulesWereRecorded : texts.noSourceLinesWereRecorded}
            text={
              <>
                {texts.recordTheTraceWith} <code>{by === 'module' ? 'with_modules=True' : 'with_stack=True'}</code>
                {texts.orAnnotateTheCodeWith} <code>{texts.recordFunction}</code>.
              </>
            }
          />
        </div>
      )}
      {origins && (
        <section
          class={`panel traces-panel traces-wide ${stale ? 'stale' : ''}`}
          aria-label={by === 'module' ? texts.modules : texts.sourceLines}
        >
          <h2>
            {by === 'module' ? 'Modules' : texts.sourceLines} <span class="muted">{texts.meanOverRanksAndSteps}</span>
          </h2>
          <Table
            caption={texts.timeByPlace}
            rows={origins.rows}
            columns={columnsOf(origins.rows, by)}
            identify={(_, at) => at}
            sorting={{ key: 'time', down: true }}
            maxHeight="640px"
          />
        </section>
      )}
    </div>
  )
}

function columnsOf(rows: readonly OriginRow[], by: 'module' | 'source'): Column<OriginRow>[] {
  const longest = Math.max(1, ...rows.map((row) => row.mean_ns))
  const parts = PARTS.filter(([key]) => rows.some((row) => row[key] > 0))
  return [
    {
      key: 'place',
      title: by === 'module' ? texts.module : texts.sourceLine,
      value: nameOf,
      cell: (row) => (row.place === null ? <span class="muted">{nameOf(row)}</span> : <code class="traces-place">{row.place}</code>),
      wrap: true,
    },
    { key: 'bar', title: texts.split, value: (row) => row.mean_ns, cell: (row) => <Split row={row} longest={longest} /> },
    { key: 'time', title: texts.perStep2, value: (row) => row.mean_ns, cell: (row) => span(row.mean_ns), align: 'right' },
    { key: 'share', title: texts.share, value: (row) => row.share_of_step, cell: (row) => percent(row.share_of_step), align: 'right' },
    ...parts.map(
      ([key, title, , about]): Column<OriginRow> => ({
        key,
        title,
        about,
        value: (row) => row[key],
        cell: (row) => (row[key] > 0 ? span(row[key]) : '–'),
        align: 'right',
      }),
    ),
    {
      key: 'kernels',
      title: texts.kernels,
      value: (row) => row.kernels,
      cell: (row) => Number(row.kernels.toPrecision(3)).toLocaleString('en'),
      align: 'right',
    },
    ...(rows.some((row) => row.instances > 1)
      ? [{ key: 'instances', title: texts.instances, value: (row: OriginRow) => row.instances, align: 'right' as const }]
      : []),
  ]
}

/** Location, or the phase of a row without one. */
export function nameOf(row: Pick<OriginRow, 'place' | 'phase'>): string {
  return row.place ?? (row.phase && row.phase !== 'other' ? texts.notRecorded2(row.phase.replaceAll('_', ' ')) : texts.notRecorded)
}

function Split({ row, longest }: { row: OriginRow; longest: number }) {
  const parts = PARTS.filter(([key]) => row[key] > 0)
  return (
    <span class="traces-split wide" role="img" aria-label={parts.map(([key, title]) => `${title} ${span(row[key])}`).join(', ')}>
      {parts.map(([key, , colour]) => (
        <span key={key} style={{ width: `${(100 * row[key]) / longest}%`, background: `var(--class-${colour})` }} />
      ))}
    </span>
  )
}
