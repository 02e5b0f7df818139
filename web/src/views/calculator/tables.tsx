// Tables of communication in a step, and of the stages.
import { useState } from 'preact/hooks'
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
  const doubt = props.b && doubtOf(props.a, props.b)
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
                unless={doubt && { ...doubt, mark: '' }}
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
    <div class={`panel titled communication ${two ? 'two' : ''} ${props.stale ? 'stale' : ''}`}>
      <h2>
        {texts.communication}{' '}
        <span class="about">
          {texts.ofOneRankOverThe}
          {doubt?.mark && texts.differencesAre(doubt.mark)}
        </span>
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

/** Stages that follow each other and are alike in all but their memory. */
export type Alike = readonly [Stage, ...Stage[]]

/** Number of stages alike from which one row stands for them. */
const FOLDED = 3

/** Stages in groups of those alike; each is a group of its own if so few are alike that nothing is gained. Pure. */
export function alike(stages: readonly Stage[]): readonly Alike[] {
  const text = (stage: Stage) =>
    [
      stage.layers,
      stage.embedding,
      stage.head,
      stage.critical,
      ...[stage.forward, stage.backward, stage.busy, stage.exposed, stage.bubble].map((time) => format.seconds(time)),
    ].join()
  const groups: [Stage, ...Stage[]][] = []
  for (const stage of stages) {
    const last = groups.at(-1)
    if (last && text(last[0]) === text(stage)) last.push(stage)
    else groups.push([stage])
  }
  return groups.flatMap((group) => (group.length < FOLDED ? group.map((stage): Alike => [stage]) : [group]))
}

const STAGE_COLUMNS: readonly Column<Alike>[] = [
  {
    key: 'stage',
    title: texts.stage2,
    align: 'right',
    value: ([stage]) => stage.stage,
    cell: (group) => (group.length > 1 ? `${group[0].stage}–${group.at(-1)?.stage}` : group[0].stage),
  },
  { key: 'layers', title: texts.layers2, align: 'right', value: ([stage]) => stage.layers },
  {
    key: 'also',
    title: texts.alsoHolds,
    value: ([stage]) => [stage.embedding && 'embedding', stage.head && 'head', stage.critical && 'slowest'].filter(Boolean).join(', '),
  },
  {
    key: 'forward',
    title: texts.forward,
    align: 'right',
    about: texts.oneMicroBatch,
    value: ([stage]) => stage.forward,
    cell: ([stage]) => format.seconds(stage.forward),
  },
  {
    key: 'backward',
    title: texts.backward,
    align: 'right',
    about: texts.oneMicroBatchRecomputeIncluded,
    value: ([stage]) => stage.backward,
    cell: ([stage]) => format.seconds(stage.backward),
  },
  {
    key: 'busy',
    title: texts.busy,
    align: 'right',
    about: texts.overTheStep,
    value: ([stage]) => stage.busy,
    cell: ([stage]) => format.seconds(stage.busy),
  },
  {
    key: 'exposed',
    title: texts.exposed,
    align: 'right',
    about: texts.communicationNotHiddenByCompute,
    value: ([stage]) => stage.exposed,
    cell: ([stage]) => format.seconds(stage.exposed),
  },
  {
    key: 'bubble',
    title: texts.idle,
    align: 'right',
    about: texts.bubbleAndTransfers,
    value: ([stage]) => stage.bubble,
    cell: ([stage]) => format.seconds(stage.bubble),
  },
  { key: 'memory', title: texts.memory, align: 'right', value: (group) => Math.max(...group.map((stage) => stage.memory)), cell: memoryOf },
]

/** Memory of a stage, or from the least to the most of several. */
function memoryOf(group: Alike): string {
  const all = group.map((stage) => stage.memory)
  const [least, most] = [format.bytes(Math.min(...all)), format.bytes(Math.max(...all))]
  return least === most ? least : texts.fromTo(least, most)
}

export function StageTable(props: { estimate: Estimate; letter: string; stale: boolean }) {
  const [isOpen, open] = useState(false)
  const { stages } = props.estimate
  const groups = alike(stages)
  const rows = isOpen ? stages.map((stage): Alike => [stage]) : groups
  return (
    <div class={`panel titled stage-table ${props.stale ? 'stale' : ''}`}>
      <h2>
        {texts.stages2} {props.letter} <span class="about">{texts.passesOfOneMicroBatch}</span>
        {groups.length < stages.length && (
          <button type="button" class="link push" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            {isOpen ? texts.foldEqualStages : texts.showEachStage}
          </button>
        )}
      </h2>
      <Table
        caption={texts.stages(props.letter).trim()}
        columns={STAGE_COLUMNS}
        rows={rows}
        identify={([stage]) => stage.stage}
        maxHeight={rows.length > 32 ? '720px' : undefined}
        rowClass={([stage]) => (stage.critical ? 'current' : '')}
      />
    </div>
  )
}
