// Tables of communication in a step, and of the stages.
import type { Communication, Estimate, Stage } from '../../api/answers'
import { classColour, words } from '../../charts/colours'
import * as format from '../../charts/format'
import { type Column, Table } from '../../ui/table'
import { Difference, doubtOf } from './headline'
import * as texts from '../../words/calculator'

interface Pair {
  readonly a: Communication | null
  readonly b: Communication | null
  readonly one: Communication
}

export function CommunicationTable(props: { a: Estimate; b: Estimate | null; stale: boolean }) {
  const rows = pairs(props.a.communication, props.b?.communication)
  const two = props.b !== null
  const columns: Column<Pair>[] = [
    {
      key: 'what',
      title: texts.what,
      value: ({ one }) => one.title,
      cell: ({ one }) => (
        <span class="swatch-label">
          <span class="swatch" style={{ background: classColour(one.dimension) }} />
          {one.title}
        </span>
      ),
    },
    { key: 'operation', title: texts.operation, value: ({ one }) => words(one.operation) },
    {
      key: 'ranks',
      title: texts.ranks,
      align: 'right',
      about: texts.ranksAndTheScaleUp,
      value: ({ one }) => one.ranks,
      cell: (pair) => ofBoth(pair, two, (one) => (one.domains > 1 ? texts.over2(one.ranks, one.domains) : String(one.ranks))),
    },
    {
      key: 'bytes',
      title: texts.bytes,
      align: 'right',
      value: ({ one }) => one.bytes,
      cell: (pair) => ofBoth(pair, two, (one) => format.volume(one.bytes)),
    },
    {
      key: 'count',
      title: texts.times,
      align: 'right',
      value: ({ one }) => one.count,
      cell: (pair) => ofBoth(pair, two, (one) => format.count(one.count)),
    },
    {
      key: 'time',
      title: two ? texts.timeA : texts.time,
      align: 'right',
      value: ({ a }) => a?.time,
      cell: ({ a }) => (a ? format.seconds(a.time) : '–'),
    },
    {
      key: 'exposed',
      title: two ? texts.exposedA : texts.exposed,
      align: 'right',
      about: texts.notHiddenByCompute,
      value: ({ a }) => a?.exposed ?? -1,
      cell: ({ a }) => exposed(a),
    },
    ...(two
      ? [
          {
            key: 'time-b',
            title: texts.timeB,
            align: 'right',
            value: ({ b }: Pair) => b?.time,
            cell: ({ b }: Pair) => (b ? format.seconds(b.time) : '–'),
          } as const,
          {
            key: 'exposed-b',
            title: texts.exposedB,
            align: 'right',
            value: ({ b }: Pair) => b?.exposed ?? -1,
            cell: ({ b }: Pair) => exposed(b),
          } as const,
          {
            key: 'difference',
            title: texts.difference,
            align: 'right',
            value: ({ a, b }: Pair) => (b?.time ?? 0) - (a?.time ?? 0),
            cell: ({ a, b }: Pair) => (
              <Difference
                a={a?.time ?? 0}
                b={b?.time ?? 0}
                better="less"
                step={props.a.step_time}
                unless={props.b && doubtOf(props.a, props.b)}
              />
            ),
          } as const,
        ]
      : [
          {
            key: 'bus',
            title: texts.bus,
            align: 'right',
            about: texts.busBandwidthAsDefinedBy,
            value: ({ one }: Pair) => one.bus_bandwidth,
            cell: ({ one }: Pair) => format.bandwidth(one.bus_bandwidth),
          } as const,
          { key: 'algorithm', title: texts.algorithm, value: ({ one }: Pair) => words(one.algorithm) } as const,
          { key: 'source', title: texts.evidence, value: ({ one }: Pair) => one.source } as const,
        ]),
  ]
  return (
    <div class={`panel titled communication ${props.stale ? 'stale' : ''}`}>
      <h2>
        {texts.communication} <span class="about">{texts.ofOneRankOverThe}</span>
      </h2>
      {rows.length === 0 ? (
        <p class="nothing">{texts.thereIsNoCommunicationBetween}</p>
      ) : (
        <Table
          caption={texts.communication}
          columns={columns}
          rows={rows}
          identify={({ one }) => `${one.title} ${one.operation} ${one.ranks}`}
        />
      )}
    </div>
  )
}

/** A value of both scenarios: once if they agree, else `A → B`; a dash where the collective is absent. */
export function ofBoth({ a, b, one }: Pair, two: boolean, text: (one: Communication) => string): string {
  if (!two) return text(one)
  const [ofA, ofB] = [a ? text(a) : '–', b ? text(b) : '–']
  return ofA === ofB ? ofA : `${ofA} → ${ofB}`
}

function exposed(one: Communication | null): string {
  if (!one) return '–'
  return one.exposed === null ? texts.inBubble : one.exposed === 0 ? 'hidden' : format.seconds(one.exposed)
}

function pairs(a: readonly Communication[], b: readonly Communication[] | undefined): Pair[] {
  const same = (left: Communication, right: Communication) =>
    left.dimension === right.dimension && left.operation === right.operation && left.title === right.title
  const found = a.map((one) => ({ a: one, b: b?.find((other) => same(one, other)) ?? null, one }))
  const added = (b ?? []).filter((other) => !a.some((one) => same(one, other))).map((other) => ({ a: null, b: other, one: other }))
  return [...found, ...added]
}

const STAGE_COLUMNS: readonly Column<Stage>[] = [
  { key: 'stage', title: texts.stage2, align: 'right', value: (stage) => stage.stage },
  { key: 'layers', title: texts.layers2, align: 'right', value: (stage) => stage.layers },
  {
    key: 'also',
    title: texts.alsoHolds,
    value: (stage) => [stage.embedding && 'embedding', stage.head && 'head', stage.critical && 'slowest'].filter(Boolean).join(', '),
  },
  {
    key: 'forward',
    title: texts.forward,
    align: 'right',
    about: texts.oneMicroBatch,
    value: (stage) => stage.forward,
    cell: (stage) => format.seconds(stage.forward),
  },
  {
    key: 'backward',
    title: texts.backward,
    align: 'right',
    about: texts.oneMicroBatchRecomputeIncluded,
    value: (stage) => stage.backward,
    cell: (stage) => format.seconds(stage.backward),
  },
  {
    key: 'busy',
    title: texts.busy,
    align: 'right',
    about: texts.overTheStep,
    value: (stage) => stage.busy,
    cell: (stage) => format.seconds(stage.busy),
  },
  {
    key: 'exposed',
    title: texts.exposed,
    align: 'right',
    about: texts.communicationNotHiddenByCompute,
    value: (stage) => stage.exposed,
    cell: (stage) => format.seconds(stage.exposed),
  },
  {
    key: 'bubble',
    title: texts.idle,
    align: 'right',
    about: texts.bubbleAndTransfers,
    value: (stage) => stage.bubble,
    cell: (stage) => format.seconds(stage.bubble),
  },
  { key: 'memory', title: texts.memory, align: 'right', value: (stage) => stage.memory, cell: (stage) => format.bytes(stage.memory) },
]

export function StageTable(props: { estimate: Estimate; letter: string; stale: boolean }) {
  return (
    <div class={`panel titled stage-table ${props.stale ? 'stale' : ''}`}>
      <h2>
        {texts.stages2} {props.letter} <span class="about">{texts.passesOfOneMicroBatch}</span>
      </h2>
      <Table
        caption={texts.stages(props.letter).trim()}
        columns={STAGE_COLUMNS}
        rows={props.estimate.stages}
        identify={(stage) => stage.stage}
        maxHeight={props.estimate.stages.length > 32 ? '720px' : undefined}
        rowClass={(stage) => (stage.critical ? 'current' : '')}
      />
    </div>
  )
}
