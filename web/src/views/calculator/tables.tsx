// What is said over the network in a step, and the stages beside each other.
import type { Communication, Estimate, Stage } from '../../api/answers'
import { classColour, words } from '../../charts/colours'
import * as format from '../../charts/format'
import { type Column, Table } from '../../ui/table'
import { Difference, unfitOf } from './headline'

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
      title: 'What',
      value: ({ one }) => one.title,
      cell: ({ one }) => (
        <span class="swatch-label">
          <span class="swatch" style={{ background: classColour(one.dimension) }} />
          {one.title}
        </span>
      ),
    },
    { key: 'operation', title: 'Operation', value: ({ one }) => words(one.operation) },
    {
      key: 'ranks',
      title: 'Ranks',
      align: 'right',
      about: 'Ranks, and the scale-up domains they lie in',
      value: ({ one }) => one.ranks,
      cell: ({ one }) => (one.domains > 1 ? `${one.ranks} over ${one.domains}` : one.ranks),
    },
    { key: 'bytes', title: 'Bytes', align: 'right', value: ({ one }) => one.bytes, cell: ({ one }) => format.volume(one.bytes) },
    { key: 'count', title: 'Times', align: 'right', value: ({ one }) => one.count, cell: ({ one }) => format.count(one.count) },
    {
      key: 'time',
      title: two ? 'Time A' : 'Time',
      align: 'right',
      value: ({ a }) => a?.time,
      cell: ({ a }) => (a ? format.seconds(a.time) : '–'),
    },
    {
      key: 'exposed',
      title: two ? 'Exposed A' : 'Exposed',
      align: 'right',
      about: 'What compute does not hide',
      value: ({ a }) => a?.exposed ?? -1,
      cell: ({ a }) => exposed(a),
    },
    ...(two
      ? [
          {
            key: 'time-b',
            title: 'Time B',
            align: 'right',
            value: ({ b }: Pair) => b?.time,
            cell: ({ b }: Pair) => (b ? format.seconds(b.time) : '–'),
          } as const,
          {
            key: 'exposed-b',
            title: 'Exposed B',
            align: 'right',
            value: ({ b }: Pair) => b?.exposed ?? -1,
            cell: ({ b }: Pair) => exposed(b),
          } as const,
          {
            key: 'difference',
            title: 'Difference',
            align: 'right',
            value: ({ a, b }: Pair) => (b?.time ?? 0) - (a?.time ?? 0),
            cell: ({ a, b }: Pair) => (
              <Difference
                a={a?.time ?? 0}
                b={b?.time ?? 0}
                better="less"
                step={props.a.step_time}
                unless={props.b && unfitOf(props.a, props.b)}
              />
            ),
          } as const,
        ]
      : [
          {
            key: 'bus',
            title: 'Bus',
            align: 'right',
            about: 'Bus bandwidth, as nccl-tests count it',
            value: ({ one }: Pair) => one.bus_bandwidth,
            cell: ({ one }: Pair) => format.bandwidth(one.bus_bandwidth),
          } as const,
          { key: 'algorithm', title: 'Algorithm', value: ({ one }: Pair) => words(one.algorithm) } as const,
          { key: 'source', title: 'Rests on', value: ({ one }: Pair) => one.source } as const,
        ]),
  ]
  return (
    <div class={`panel titled communication ${props.stale ? 'stale' : ''}`}>
      <h2>
        Communication <span class="about">of one rank over the step</span>
      </h2>
      {rows.length === 0 ? (
        <p class="nothing">There is no communication between ranks.</p>
      ) : (
        <Table caption="Communication" columns={columns} rows={rows} identify={({ one }) => `${one.title} ${one.operation} ${one.ranks}`} />
      )}
    </div>
  )
}

function exposed(one: Communication | null): string {
  if (!one) return '–'
  return one.exposed === null ? 'in bubble' : one.exposed === 0 ? 'hidden' : format.seconds(one.exposed)
}

function pairs(a: readonly Communication[], b: readonly Communication[] | undefined): Pair[] {
  const same = (left: Communication, right: Communication) =>
    left.dimension === right.dimension && left.operation === right.operation && left.title === right.title
  const found = a.map((one) => ({ a: one, b: b?.find((other) => same(one, other)) ?? null, one }))
  const added = (b ?? []).filter((other) => !a.some((one) => same(one, other))).map((other) => ({ a: null, b: other, one: other }))
  return [...found, ...added]
}

const STAGE_COLUMNS: readonly Column<Stage>[] = [
  { key: 'stage', title: 'Stage', align: 'right', value: (stage) => stage.stage },
  { key: 'layers', title: 'Layers', align: 'right', value: (stage) => stage.layers },
  {
    key: 'also',
    title: 'Also',
    value: (stage) => [stage.embedding && 'embedding', stage.head && 'head', stage.critical && 'slowest'].filter(Boolean).join(', '),
  },
  {
    key: 'forward',
    title: 'Forward',
    align: 'right',
    about: 'One micro batch',
    value: (stage) => stage.forward,
    cell: (stage) => format.seconds(stage.forward),
  },
  {
    key: 'backward',
    title: 'Backward',
    align: 'right',
    about: 'One micro batch, recompute included',
    value: (stage) => stage.backward,
    cell: (stage) => format.seconds(stage.backward),
  },
  {
    key: 'busy',
    title: 'Busy',
    align: 'right',
    about: 'Over the step',
    value: (stage) => stage.busy,
    cell: (stage) => format.seconds(stage.busy),
  },
  {
    key: 'exposed',
    title: 'Exposed',
    align: 'right',
    about: 'Communication that compute does not hide',
    value: (stage) => stage.exposed,
    cell: (stage) => format.seconds(stage.exposed),
  },
  {
    key: 'bubble',
    title: 'Idle',
    align: 'right',
    about: 'Bubble and transfers',
    value: (stage) => stage.bubble,
    cell: (stage) => format.seconds(stage.bubble),
  },
  { key: 'memory', title: 'Memory', align: 'right', value: (stage) => stage.memory, cell: (stage) => format.bytes(stage.memory) },
]

export function StageTable(props: { estimate: Estimate; letter: string; stale: boolean }) {
  return (
    <div class={`panel titled stage-table ${props.stale ? 'stale' : ''}`}>
      <h2>
        Stages {props.letter} <span class="about">passes of one micro batch, then sums over the step</span>
      </h2>
      <Table
        caption={`Stages ${props.letter}`.trim()}
        columns={STAGE_COLUMNS}
        rows={props.estimate.stages}
        identify={(stage) => stage.stage}
        maxHeight={props.estimate.stages.length > 32 ? '720px' : undefined}
        rowClass={(stage) => (stage.critical ? 'current' : '')}
      />
    </div>
  )
}
