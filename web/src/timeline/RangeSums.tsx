// Below the canvas for a selected range: its spans by name, and a flame graph. Responsible for: the question and its two drawings. The
// program computes the sums of a measured step; a modelled one has all its spans here.
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Arguments } from '../api/ask'
import { useAnswer } from '../api/live'
import type { Name, Node, ProfileRangeAnswer } from '../api/schema/profile_range'
import { csvText } from '../charts/export'
import { ChartFrame } from '../charts/frame'
import { Icicle } from '../charts/icicle'
import { download } from '../ui/clipboard'
import { Problems } from '../ui/states'
import { type Column, Table } from '../ui/table'
import type { Controller, Range } from './controller'
import { className } from './describe'
import { flame } from './flame'
import { type Sums, sumsOf } from './sums'
import { instant, percent, span } from './time'
import * as texts from '../words/timeline'

/** Rows to sum: the selected ones, the visible ones, or all of a kind. */
const KINDS = ['passes', 'device', 'streams', 'threads'] as const
type Choice = 'marked' | 'shown' | (typeof KINDS)[number]

/** Tracks of a choice of rows, except one of a kind, which the program knows by its name. */
function tracksOf(controller: Controller, range: Range, choice: 'marked' | 'shown'): readonly number[] {
  const shown = controller.rows.rows.flatMap((row) => (row.track ? [row.track.index] : []))
  return choice === 'marked' && range.tracks ? range.tracks : shown
}

/** Rows in the form of the command line. */
export function rowsOf(controller: Controller, range: Range, choice: Choice): string {
  if (choice !== 'marked' && choice !== 'shown') return choice
  return tracksOf(controller, range, choice)
    .map((track) => controller.model.tracks[track]?.source ?? -1)
    .filter((source) => source >= 0)
    .join(',')
}

/** Sums of the selected range. Without a question they are those of the spans of the model. */
export function RangeSums({ controller, question }: { controller: Controller; question: Arguments | null }) {
  const range = controller.range.value
  // Visible rows change when groups expand and collapse.
  controller.closed.value
  const chosen = useSignal<Choice | null>(null)
  const rested = useRested(controller.marking.value ? null : range)
  const choice = useComputed<Choice>(() => chosen.value ?? (controller.range.value?.tracks ? 'marked' : 'shown'))
  const rows = rested && question ? rowsOf(controller, rested, choice.value) : ''
  const between = rested && `${Math.floor(rested.from)}..${Math.max(Math.ceil(rested.to), Math.floor(rested.from) + 1)}`
  const live = useAnswer<ProfileRangeAnswer>('profile', between && rows ? { ...question, aggregate: true, between, rows } : null)
  const tracks = rested && !question ? modelledTracks(controller, rested, choice.value) : []
  const modelled = useMemo(
    () => (rested && tracks.length > 0 ? sumsOf(controller.model, rested, tracks) : null),
    [controller.model, rested, tracks.join(',')],
  )
  const { problems, loading, stale } = live
  const answer: Sums | null = question ? live.answer : modelled
  if (!range) return null
  const length = range.to - range.from
  const head = texts.fromUntil(span(length), instant(range.from, length), instant(range.to, length))
  const kinds = KINDS.filter((kind) => controller.model.tracks.some((track) => is(kind, track.name)))
  const isPredicted = question !== null && rows === ''
  return (
    <section class="timeline-sums" aria-label={texts.sumsOfTheMarkedRange} aria-busy={loading} data-testid="range-sums">
      <header>
        <h2>
          {texts.markedRange2} {head}
        </h2>
        <label>
          {texts.rows}{' '}
          <select
            class="select"
            value={choice.value}
            onChange={(event) => {
              chosen.value = event.currentTarget.value as Choice
            }}
          >
            {range.tracks && (
              <option value="marked">
                {texts.marked}
                {range.tracks.length})
              </option>
            )}
            <option value="shown">{texts.allShown}</option>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {kind === 'threads' ? texts.hostThreads : kind}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button" onClick={() => controller.focusRange()}>
          {texts.zoomToIt}
        </button>
        <button type="button" class="button" onClick={() => controller.unmark()} title={texts.escapeDoesTheSame}>
          {texts.removeTheMark}
        </button>
      </header>
      {problems.length > 0 && <Problems problems={problems} />}
      {isPredicted && <p class="muted">{texts.theseRowsArePredictedOnly}</p>}
      {answer && !isPredicted && (
        <div class={stale ? 'stale' : ''}>
          <Names controller={controller} answer={answer} nests={question !== null} />
          <Flame key={answer.title} answer={answer} />
        </div>
      )}
    </section>
  )
}

/** Tracks of a choice in a modelled step. */
const modelledTracks = (controller: Controller, range: Range, choice: Choice): readonly number[] =>
  choice === 'marked' || choice === 'shown'
    ? tracksOf(controller, range, choice)
    : controller.model.tracks.filter((track) => is(choice, track.name)).map((track) => track.index)

const is = (kind: (typeof KINDS)[number], name: string) =>
  kind === 'passes' || kind === 'device'
    ? name === kind
    : kind === 'threads'
      ? name.startsWith('thread ')
      : /^(stream|operators|communication)/.test(name)

/** Value after it has been unchanged for a moment, because held keys select many ranges. */
function useRested(value: Range | null): Range | null {
  const [rested, set] = useState(value)
  useEffect(() => {
    if (value === null) return
    const timer = setTimeout(() => set(value), 120)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}

const COLUMNS: readonly Column<Name>[] = [
  { key: 'name', title: texts.name, value: (row) => row.name, wrap: true },
  { key: 'class', title: texts.classText, value: (row) => className(row.class) },
  { key: 'count', title: texts.count, value: (row) => row.count, align: 'right', cell: (row) => row.count.toLocaleString('en') },
  {
    key: 'total',
    title: texts.total,
    value: (row) => row.total_ns,
    align: 'right',
    cell: (row) => span(row.total_ns),
    about: texts.timeWithinTheRange,
  },
  {
    key: 'self',
    title: texts.self,
    value: (row) => row.self_ns,
    align: 'right',
    cell: (row) => span(row.self_ns),
    about: texts.withoutRowsBelow,
  },
  { key: 'mean', title: texts.mean, value: (row) => row.mean_ns, align: 'right', cell: (row) => span(row.mean_ns) },
  { key: 'longest', title: texts.longest, value: (row) => row.longest_ns, align: 'right', cell: (row) => span(row.longest_ns) },
  {
    key: 'share',
    title: texts.share,
    value: (row) => row.share,
    align: 'right',
    cell: (row) => percent(row.share),
    about: texts.ofTheRangeOnAll,
  },
]

/** The table of names. Where spans do not nest, their own time is all of it. */
function Names({ controller, answer, nests }: { controller: Controller; answer: Sums; nests: boolean }) {
  const save = () =>
    download(
      'range.csv',
      csvText({
        columns: ['name', 'class', 'count', 'total_ns', 'self_ns', 'mean_ns', 'longest_ns', 'share'],
        rows: answer.names.map((row) => [
          row.name,
          row.class,
          row.count,
          row.total_ns,
          row.self_ns,
          row.mean_ns,
          row.longest_ns,
          row.share,
        ]),
      }),
      'text/csv',
    )
  return (
    <>
      <p class="muted">
        {answer.count.toLocaleString('en')} {answer.count === 1 ? texts.spanOn : texts.spansOn} {answer.rows.toLocaleString('en')}{' '}
        {answer.rows === 1 ? 'row' : 'rows'} {texts.ofText} {answer.ranks.toLocaleString('en')} {answer.ranks === 1 ? 'rank' : 'ranks'}
        {answer.more_names > 0 && texts.moreNamesAreNotListed(answer.more_names.toLocaleString('en'))}
        {answer.covered > 0 && texts.spansNestDeeperThanThe(answer.covered.toLocaleString('en'))}
        {texts.aRowFindsItsSpans}{' '}
        <button type="button" class="button quiet" onClick={save}>
          {texts.saveAsCsv}
        </button>
      </p>
      <Table<Name>
        caption={texts.spansOfTheMarkedRange}
        rows={answer.names}
        columns={nests ? COLUMNS : COLUMNS.filter((column) => column.key !== 'self')}
        identify={(row) => `${row.class} ${row.name}`}
        sorting={{ key: 'total', down: true }}
        onChoose={(row) => controller.find(row.name)}
        first={50}
        maxHeight="320px"
      />
    </>
  )
}

function Flame({ answer }: { answer: Sums }) {
  const [zoom, setZoom] = useState('')
  const { tree, classes } = flame(answer.tree)
  const colour = (id: string) => {
    const known = classes.get(id)
    return known ? `var(--class-${known})` : 'var(--class-other)'
  }
  const rows = (node: Node, path: readonly string[]): (string | number)[][] => [
    [[...path, node.name].join(' > '), node.count, node.total_ns, node.share],
    ...node.children.flatMap((child) => rows(child, [...path, node.name])),
  ]
  return (
    <ChartFrame
      title={texts.flameGraph}
      about={texts.rowsThenClassesAndNames}
      name="range-flame"
      rows={() => ({ columns: ['path', 'count', 'total_ns', 'share'], rows: rows(answer.tree, []) })}
    >
      {(width) => (
        <Icicle
          trees={[{ label: '', root: tree }]}
          width={width}
          zoom={zoom}
          onZoom={setZoom}
          whole={texts.theMarkedRange}
          colour={colour}
        />
      )}
    </ChartFrame>
  )
}
