// Tables below the timeline: bubbles of every stage by position or cause, and the critical path by kind.
// Responsible for: tables of the answer's numbers, without further sums.
import type { BubbleRow, RawColumns } from '../../timeline/data'
import { percent, span } from '../../timeline/time'
import { Table, type Column } from '../../ui/table'
import { Explained } from '../../ui/why'
import { BUBBLE_WORDS } from '../parts/bubble'
import * as texts from '../../words/pipeline'

/** Summary of the step in one line; `step` is its own length, `columns` may be longer because of the timeline below it. */
export function Verdict({ columns, step, modelled }: { columns: RawColumns; step: number; modelled: RawColumns | null }) {
  const { bubbles = [] } = columns
  const mean = bubbles.reduce((sum, row) => sum + row.share, 0) / Math.max(1, bubbles.length)
  const [batches, expected] = [microBatches(columns, 'measured'), modelled ? microBatches(modelled) : 0]
  const most = bubbles.reduce<BubbleRow | null>((worst, row) => (!worst || row.share > worst.share ? row : worst), null)
  return (
    <p class="pipeline-verdict">
      <strong>{columns.label}</strong>
      <span>
        {columns.origin === 'measured' ? 'measured' : 'modelled'} {texts.stepOf} <b>{span(step)}</b>
      </span>
      {modelled && (
        <span>
          {texts.predicted} {span(modelled.duration_ns)} ({modelled.duration_ns >= step ? '+' : '−'}
          {percent(Math.abs(modelled.duration_ns / step - 1))})
        </span>
      )}
      {modelled?.bubbles && bubbles.length > 0 && modelled.bubbles.length !== bubbles.length && (
        <span class="pipeline-differs" role="note">
          {texts.theRunHas} {modelled.bubbles.length} {texts.stagesTheTrace} {bubbles.length}
          {texts.theyAreNotTheSame}
        </span>
      )}
      {modelled?.bubbles?.length === bubbles.length && batches > 0 && expected > 0 && batches !== expected && (
        <span class="pipeline-differs" role="note">
          {texts.theRunHas} {expected} {texts.microBatchesTheTrace} {batches}
          {texts.theyAreNotTheSame}
        </span>
      )}
      {bubbles.length > 0 && (
        <span>
          <Explained id="bubble.mean" list={BUBBLE_WORDS}>
            {texts.bubbles2} <b>{percent(mean)}</b> {texts.ofThePipelineMeanOver}
          </Explained>
          {most && most.share > mean * 1.05 ? texts.onStage(percent(most.share), most.stage) : ''}
        </span>
      )}
      <span>
        {(columns.spans ?? 0).toLocaleString('en')} {texts.spans}
      </span>
    </p>
  )
}

/** Number of micro-batches in the pipeline. */
function microBatches({ tracks }: RawColumns, name?: string): number {
  const own = name && tracks.some((track) => track.name === name) ? tracks.filter((track) => track.name === name) : tracks
  return own.reduce((most, track) => (track.micro_batch ?? []).reduce((last, one) => Math.max(last, one + 1), most), 0)
}

/** Places of modelled bubbles within the row of their stage. The first stage fills and drains the pipeline between its own passes. */
const PLACES: Readonly<Record<string, string>> = {
  fill: texts.beforeItsFirstPass,
  steady: texts.betweenItsPasses,
  drain: texts.afterItsLastPass,
}

export function Bubbles({ columns }: { columns: RawColumns }) {
  const rows = columns.bubbles ?? []
  if (rows.length === 0) return null
  const names = rows[0]!.parts
    .map((part) => part.name)
    .filter((name) => rows.some((row) => row.parts.some((part) => part.name === name && part.time_ns > 0)))
  const part = (row: BubbleRow, name: string) => row.parts.find((one) => one.name === name)?.time_ns ?? 0
  const most = Math.max(...rows.map((row) => row.share), 1e-9)
  const table: Column<BubbleRow>[] = [
    { key: 'stage', title: texts.stage, value: (row) => row.stage, align: 'right' },
    { key: 'rank', title: texts.rank, value: (row) => row.rank, align: 'right' },
    {
      key: 'share',
      title: texts.ofThePipeline,
      about: texts.allBubblesOfTheStage,
      value: (row) => row.share,
      align: 'right',
      cell: (row) => (
        <span class="pipeline-share">
          <span class="pipeline-bar" style={{ width: `${(row.share / most) * 60}px` }} />
          {percent(row.share)}
        </span>
      ),
    },
    ...names.map(
      (name): Column<BubbleRow> => ({
        key: name,
        title: PLACES[name] ?? name,
        value: (row) => part(row, name),
        cell: (row) => (part(row, name) > 0 ? span(part(row, name)) : '–'),
        align: 'right',
      }),
    ),
    ...(rows.some((row) => row.waits?.length)
      ? [
          {
            key: 'waits',
            title: texts.longestWaits,
            about: texts.passesOfOtherStagesThat,
            value: (row: BubbleRow) => row.waits?.[0]?.time_ns ?? 0,
            wrap: true,
            cell: (row: BubbleRow) => waitsText(row),
          },
          {
            key: 'cause',
            title: texts.noCause,
            about: texts.bubblesWithoutARecordedCause,
            value: (row: BubbleRow) => row.no_cause_ns ?? 0,
            cell: (row: BubbleRow) => (row.no_cause_ns ? span(row.no_cause_ns) : '–'),
            align: 'right' as const,
          },
        ]
      : []),
  ]
  return (
    <section class="panel pipeline-panel" aria-label={texts.bubbles}>
      <h2>{texts.bubblesOfEachStage}</h2>
      <Table caption={texts.bubblesOfEachStage} columns={table} rows={rows} identify={(row) => row.rank} maxHeight="420px" />
    </section>
  )
}

/** Maximum number of waits in a cell. */
const MOST_WAITS = 2

/** Longest waits of a rank: `backward 3 of stage 1 (12 ms)`. */
function waitsText({ waits = [] }: BubbleRow): string {
  return waits
    .slice(0, MOST_WAITS)
    .map((wait) => texts.waitOf(`${wait.name}${wait.micro_batch === null ? '' : ` ${wait.micro_batch}`}`, wait.stage, span(wait.time_ns)))
    .join(', ')
}

const CLASS_OF: readonly (readonly [RegExp, string])[] = [
  [/^backward_weight/, 'weight_gradient'],
  [/^backward/, 'backward'],
  [/^exposed (\w+)/, ''],
  [/^idle|^bubble|^waiting/, 'bubble'],
  [/^compute|^matrix/, 'forward'],
  [/^host/, 'host'],
  [/^copy|^copies/, 'copy'],
  [/^communication/, 'tensor'],
]

/** Class of a part; measured ones start with the rank: `rank 2: waiting`. */
function classOf(whole: string): string {
  const name = whole.replace(/^(rank|stage) \d+(, not shown)?: /, '')
  for (const [pattern, known] of CLASS_OF) {
    const match = pattern.exec(name)
    if (match) return known || match[1]!
  }
  return name
}

const MOST_PARTS = 14

export function CriticalParts({ columns }: { columns: RawColumns }) {
  const all = columns.critical_parts ?? []
  if (all.length === 0) return null
  // With many ranks only the longest parts; the rest is one part.
  const longest = all.length > MOST_PARTS ? [...all].sort((a, b) => b.time_ns - a.time_ns).slice(0, MOST_PARTS - 1) : all
  const rest = all.length - longest.length
  const whole = all.reduce((sum, part) => sum + part.time_ns, 0)
  const parts =
    rest > 0
      ? [...longest, { name: texts.shorterParts(rest), time_ns: whole - longest.reduce((sum, part) => sum + part.time_ns, 0) }]
      : longest
  const total = parts.reduce((sum, part) => sum + part.time_ns, 0)
  const most = Math.max(...parts.map((part) => part.time_ns), 1)
  return (
    <section class="panel pipeline-panel" aria-label={texts.criticalPath}>
      <h2>{texts.criticalPathByPart}</h2>
      <ul class="pipeline-parts">
        {parts.map((part) => (
          <li key={part.name}>
            <span class="pipeline-part-name">{part.name.replaceAll('_', ' ')}</span>
            <span class="pipeline-part-track">
              <span
                style={{ width: `${(part.time_ns / most) * 100}%`, background: `var(--class-${classOf(part.name)}, var(--class-other))` }}
              />
            </span>
            <span class="pipeline-part-value">{span(part.time_ns)}</span>
            <span class="pipeline-part-value">{percent(part.time_ns / Math.max(1, total))}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
