// Beneath the timeline: bubbles of every stage by place or cause, and what the critical path is made of.
// Responsible for: tables of what the answer says. Refuses sums that it does not say.
import type { BubbleRow, RawColumns } from '../../timeline/data'
import { percent, span } from '../../timeline/time'
import { Table, type Column } from '../../ui/table'

/** What the step comes to, in a line; `step` is its own length, `columns` may reach further for what stands beneath it. */
export function Verdict({ columns, step, modelled }: { columns: RawColumns; step: number; modelled: RawColumns | null }) {
  const { bubbles = [] } = columns
  const mean = bubbles.reduce((sum, row) => sum + row.share, 0) / Math.max(1, bubbles.length)
  const most = bubbles.reduce<BubbleRow | null>((worst, row) => (!worst || row.share > worst.share ? row : worst), null)
  return (
    <p class="pipeline-verdict">
      <strong>{columns.label}</strong>
      <span>
        {columns.origin === 'measured' ? 'measured' : 'modelled'} step of <b>{span(step)}</b>
      </span>
      {modelled && (
        <span>
          predicted {span(modelled.duration_ns)} ({modelled.duration_ns >= step ? '+' : '−'}
          {percent(Math.abs(modelled.duration_ns / step - 1))})
        </span>
      )}
      {modelled?.bubbles && bubbles.length > 0 && modelled.bubbles.length !== bubbles.length && (
        <span class="pipeline-differs" role="note">
          the run has {modelled.bubbles.length} stages, the trace {bubbles.length}: they are not the same job
        </span>
      )}
      {bubbles.length > 0 && (
        <span>
          bubbles <b>{percent(mean)}</b> on average{most && most.share > mean * 1.05 ? `, ${percent(most.share)} on stage ${most.stage}` : ''}
        </span>
      )}
      <span>{(columns.spans ?? 0).toLocaleString('en')} spans</span>
    </p>
  )
}

export function Bubbles({ columns }: { columns: RawColumns }) {
  const rows = columns.bubbles ?? []
  if (rows.length === 0) return null
  const names = rows[0]!.parts.map((part) => part.name).filter((name) => rows.some((row) => row.parts.some((part) => part.name === name && part.time_ns > 0)))
  const part = (row: BubbleRow, name: string) => row.parts.find((one) => one.name === name)?.time_ns ?? 0
  const most = Math.max(...rows.map((row) => row.share), 1e-9)
  const table: Column<BubbleRow>[] = [
    { key: 'stage', title: 'Stage', value: (row) => row.stage, align: 'right' },
    { key: 'rank', title: 'Rank', value: (row) => row.rank, align: 'right' },
    ...names.map((name): Column<BubbleRow> => ({ key: name, title: name, value: (row) => part(row, name), cell: (row) => (part(row, name) > 0 ? span(part(row, name)) : '–'), align: 'right' })),
    {
      key: 'share',
      title: 'Of the pipeline',
      value: (row) => row.share,
      align: 'right',
      cell: (row) => (
        <span class="pipeline-share">
          <span class="pipeline-bar" style={{ width: `${(row.share / most) * 60}px` }} />
          {percent(row.share)}
        </span>
      ),
    },
  ]
  return (
    <section class="panel pipeline-panel" aria-label="Bubbles">
      <h2>Bubbles of each stage</h2>
      <Table caption="Bubbles of each stage" columns={table} rows={rows} identify={(row) => row.rank} maxHeight="320px" />
    </section>
  )
}

const CLASS_OF: readonly (readonly [RegExp, string])[] = [
  [/^backward_weight/, 'weight_gradient'],
  [/^backward/, 'backward'],
  [/^exposed (\w+)/, ''],
  [/^idle|^bubble/, 'bubble'],
]

function classOf(name: string): string {
  for (const [pattern, known] of CLASS_OF) {
    const match = pattern.exec(name)
    if (match) return known || match[1]!
  }
  return name
}

export function CriticalParts({ columns }: { columns: RawColumns }) {
  const parts = columns.critical_parts ?? []
  if (parts.length === 0) return null
  const total = parts.reduce((sum, part) => sum + part.time_ns, 0)
  const most = Math.max(...parts.map((part) => part.time_ns), 1)
  return (
    <section class="panel pipeline-panel" aria-label="Critical path">
      <h2>What the critical path is made of</h2>
      <ul class="pipeline-parts">
        {parts.map((part) => (
          <li key={part.name}>
            <span class="pipeline-part-name">{part.name.replaceAll('_', ' ')}</span>
            <span class="pipeline-part-track">
              <span style={{ width: `${(part.time_ns / most) * 100}%`, background: `var(--class-${classOf(part.name)}, var(--class-other))` }} />
            </span>
            <span class="pipeline-part-value">{span(part.time_ns)}</span>
            <span class="pipeline-part-value">{percent(part.time_ns / Math.max(1, total))}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
