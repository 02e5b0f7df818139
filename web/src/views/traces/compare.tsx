// These traces compared with others, or with the prediction of a run file.
// Responsible for: tables of the differences from `compare`, judged only by time.
import type { CompareAnswer, Difference } from '../../api/schema/compare'
import { useJobsOnDisk, viewOf } from '../../api/jobs-on-disk'
import { useAnswer } from '../../api/live'
import { playground } from '../../api/playground/marker'
import { withoutHandle } from '../../api/uploads'
import { change, own } from '../../state/location'
import { percent, span } from '../../timeline/time'
import { Combobox, type Option } from '../../ui/combobox'
import { FileButton } from '../../ui/file-button'
import { Empty, Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import { JobsBelow } from '../parts/open'
import type { TabProps } from '.'
import { runText } from '../../state/run'
import { besideOf, calculatorsRun, canBeWritten, isCalculators, readingOf } from './job'
import { words } from './types'
import * as texts from '../../words/traces'

export function Compare({ paths, job }: TabProps) {
  const { other } = own('t')
  const { jobs } = useJobsOnDisk()
  const others = jobs
    .filter((job) => viewOf(job) === 'traces')
    .flatMap((job) => (job.paths.length === 1 && job.paths[0] !== paths[0] ? [{ path: job.paths[0]!, name: job.name }] : []))
  const against = (path: string | undefined) => change({ 't.other': path || undefined })
  const { answer, problems, loading } = useAnswer<Extract<CompareAnswer, { labels: unknown }>>(
    'compare',
    other ? { first: other, second: paths[0]!, ...readingOf(job), ...(isCalculators(other) ? besideOf(job) : {}) } : null,
  )
  return (
    <div class="traces-query">
      <div class="traces-path">
        <div class="traces-against">
          <span>{texts.against}</span>
          <Combobox
            label={texts.against}
            value={other ?? ''}
            placeholder={texts.otherTracesOrARun}
            options={optionsOf(others, other)}
            free={(path) => ({ value: path.trim(), title: path.trim(), note: texts.asTyped })}
            onChoose={against}
          />
        </div>
        {!playground && <FileButton title={texts.chooseAFile} onPath={against} />}
        {canBeWritten(runText.value) && (
          <button
            type="button"
            class="button"
            title={texts.compareTheseTracesWithThe}
            onClick={() => void calculatorsRun().then((path) => change({ 't.other': path, 't.run': '1' }))}
          >
            {texts.theCalculatorsRun}
          </button>
        )}
      </div>
      {!other && <Nothing others={others} against={against} />}
      {paths.length > 1 && (
        <p class="muted">
          {texts.theFirstOf} {paths.length} {texts.pathsIsComparedOpenThe}
        </p>
      )}
      {problems.length > 0 && <Problems problems={problems} />}
      {problems.length > 0 && other && <JobsBelow paths={[other]} open={(job) => against(job.paths[0])} />}
      {loading && !answer && <Loading heights={[60, 300]} />}
      {answer && (
        <>
          {answer.step_time_ns && (
            <p class="traces-verdict">
              {texts.aStepTakes} <b>{span(answer.step_time_ns.second)}</b> {texts.insteadOf} {span(answer.step_time_ns.first)}
              {answer.step_time_ns.relative !== null &&
                ` (${answer.step_time_ns.change >= 0 ? '+' : '−'}${percent(Math.abs(answer.step_time_ns.relative))})`}
              .
            </p>
          )}
          <div class="traces-grid">
            <Differences title={texts.whereAStepGoes} rows={answer.labels} />
            <Differences title={texts.familiesOfOperators} rows={answer.families} />
          </div>
        </>
      )}
    </div>
  )
}

interface Named {
  readonly path: string
  readonly name: string
}

/** Jobs of the served folder by their names, after what is compared with, if it is none of them. Pure. */
function optionsOf(others: readonly Named[], other: string | undefined): readonly Option[] {
  const listed = others.map(({ path, name }) => ({ value: path, title: name, words: path }))
  return other === undefined || others.some(({ path }) => path === other)
    ? listed
    : [{ value: other, title: withoutHandle(other) }, ...listed]
}

/** Number of listed jobs, the others are in the list of the field. */
const LISTED = 6

/** Before a choice: what a comparison shows, and the other jobs of the served folder. */
function Nothing({ others, against }: { others: readonly Named[]; against: (path: string) => void }) {
  return (
    <Empty title={texts.compareWithWhat} text={texts.aComparisonShowsWhichParts}>
      {others.slice(0, LISTED).map(({ path, name }) => (
        <button key={path} type="button" class="button" title={path} onClick={() => against(path)}>
          {name}
        </button>
      ))}
    </Empty>
  )
}

/** Change relative to the other traces. A part that almost vanished is not said to be gone. */
function relativeText({ second, relative }: Difference): string {
  if (relative === null) return 'new'
  if (second === 0) return 'gone'
  const sign = relative < 0 ? '−' : relative > 0 ? '+' : ''
  return `${sign}${percent(relative < 0 ? Math.min(0.999, -relative) : relative)}`
}

function Differences({ title, rows }: { title: string; rows: readonly Difference[] | undefined }) {
  if (!rows || rows.length === 0) return null
  const most = Math.max(...rows.map((row) => Math.abs(row.change)), 1)
  const sign = (value: number) => (value < 0 ? '−' : value > 0 ? '+' : '')
  return (
    <section class="panel traces-panel traces-wide traces-half" aria-label={title}>
      <h2>{title}</h2>
      <Table<Difference>
        caption={texts.partByPart(title)}
        rows={rows}
        identify={(row) => row.name}
        first={20}
        columns={[
          { key: 'name', title: texts.part, value: (row) => words(row.name), wrap: true },
          { key: 'first', title: texts.other, value: (row) => row.first, cell: (row) => span(row.first), align: 'right' },
          { key: 'second', title: texts.these, value: (row) => row.second, cell: (row) => span(row.second), align: 'right' },
          {
            key: 'change',
            title: texts.change,
            value: (row) => row.change,
            cell: (row) => `${sign(row.change)}${span(Math.abs(row.change))}`,
            align: 'right',
          },
          {
            key: 'bar',
            title: <span class="hidden-visually">{texts.changeAsABar}</span>,
            value: (row) => row.change,
            cell: (row) => (
              <span class="traces-difference" aria-hidden="true">
                <span
                  style={{
                    width: `${(Math.abs(row.change) / most) * 50}%`,
                    [row.change < 0 ? 'right' : 'left']: '50%',
                    background: row.change < 0 ? 'var(--good)' : 'var(--bad)',
                  }}
                />
              </span>
            ),
          },
          {
            key: 'relative',
            title: texts.ofIt,
            value: (row) => row.relative,
            cell: (row) => relativeText(row),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}
