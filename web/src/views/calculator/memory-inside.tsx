// Memory of one stage: by module, layer or kind (treemap), and over the step.
import type { Memory } from '../../api/answers'
import type { Live } from '../../api/live'
import { StackedArea } from '../../charts/area'
import { kindColour, words } from '../../charts/colours'
import { bytes, seconds } from '../../charts/format'
import { ChartFrame } from '../../charts/frame'
import { Treemap } from '../../charts/treemap'
import { change } from '../../state/location'
import { Segments } from '../../ui/fields'
import { branches } from './branches'
import { kept } from './scenarios'
import * as texts from '../../words/calculator'

const GIB = 2 ** 30
const GROUPINGS = [
  ['module', 'Module'],
  ['layer', 'Layer'],
  ['kind', 'Kind'],
] as const

/** Treemap of a stage. */
export function MemoryInside(props: { live: Live<Memory>; stage: number; letter: string }) {
  const memory = props.live.answer
  const by = kept.value.by ?? 'module'
  const stage = memory?.memory.stages[props.stage]
  return (
    <ChartFrame
      title={texts.memoryOfStage(props.letter, props.stage)}
      about={stage ? `${bytes(stage.device)} ${words(stage.moment)}` : ''}
      name={`memory-stage-${props.stage}`}
      class="inside-chart"
      stale={props.live.stale}
      tools={
        <Segments
          label={texts.groupedBy}
          value={by}
          options={GROUPINGS}
          onChange={(next) => change({ 'c.by': next === 'module' ? undefined : next }, 'replace')}
        />
      }
      rows={() => ({
        columns: ['kind', 'module', 'layer', 'bytes'],
        rows: (stage?.items ?? []).map((item) => [item.kind, item.module, item.layer, item.bytes]),
      })}
    >
      {(width) =>
        stage ? (
          <Treemap
            label={texts.memoryOfStageBy(props.stage, by)}
            branches={branches(stage.items, by)}
            width={width}
            height={300}
            format={bytes}
          />
        ) : (
          <div class="skeleton" style={{ height: '300px' }} />
        )
      }
    </ChartFrame>
  )
}

/** `stage 3, GiB`, or the stages of both scenarios if they differ. */
function stagesOf(stages: readonly (number | undefined)[]): string {
  const [a, b = a] = stages
  if (a === undefined) return ''
  return a === b ? texts.stageGib(a) : texts.stageOfAStageOf(a, b)
}

/** Memory of the stage over the step. */
export function MemoryOverTime(props: { a: Live<Memory>; b: Live<Memory> | null }) {
  const both = [{ letter: props.b ? 'A' : '', live: props.a }, ...(props.b ? [{ letter: 'B', live: props.b }] : [])]
  const most = Math.max(
    ...both.map(({ live }) => Math.max(live.answer?.memory.device_memory ?? 0, live.answer?.over_time.peak?.bytes ?? 0)),
  )
  return (
    <ChartFrame
      title={texts.memoryOverTheStep2}
      about={stagesOf(both.map(({ live }) => live.answer?.stage))}
      name={`memory-over-time-stage-${props.a.answer?.stage ?? 0}`}
      class="time-chart"
      stale={props.a.stale || (props.b?.stale ?? false)}
      rows={() => ({
        columns: ['scenario', 'until_seconds', 'highest_bytes', ...(props.a.answer?.over_time.parts?.map((part) => part.kind) ?? [])],
        rows: both.flatMap(({ letter, live }) => {
          const over = live.answer?.over_time
          return (over?.highest_bytes ?? []).map((value, index, all) => [
            letter || 'A',
            ((index + 1) / all.length) * (over?.duration ?? 0),
            value,
            ...(over?.parts?.map((part) => part.bytes[index]) ?? []),
          ])
        }),
      })}
    >
      {(width) =>
        both.map(({ letter, live }) => (
          <div key={letter} class="over-time">
            {letter && <span class="letter">{letter}</span>}
            {live.answer && live.answer.over_time.highest_bytes.length > 0 ? (
              <Over memory={live.answer} width={width} height={props.b ? 150 : 220} most={most} />
            ) : live.answer ? (
              <p class="muted">{texts.thisStepHasTooMany}</p>
            ) : (
              <div class="skeleton" style={{ height: '150px' }} />
            )}
          </div>
        ))
      }
    </ChartFrame>
  )
}

/** From the bottom: permanent memory first. */
const ORDER = ['parameters', 'gradients', 'optimizer', 'overhead', 'communication', 'workspace', 'other', 'logits', 'activations']

function Over(props: { memory: Memory; width: number; height: number; most: number }) {
  const { over_time: over, memory } = props.memory
  const parts = over.parts?.length
    ? [...over.parts].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    : [{ kind: 'activations', bytes: over.highest_bytes }]
  const layers = parts.map((part) => ({
    key: part.kind,
    title: over.parts?.length ? words(part.kind) : texts.all,
    colour: kindColour(part.kind),
    values: part.bytes,
  }))
  return (
    <StackedArea
      label={texts.memoryOverTheStep}
      layers={layers}
      duration={over.duration}
      width={props.width}
      height={props.height}
      limit={{ value: memory.device_memory, title: texts.deviceHas(bytes(memory.device_memory)) }}
      unit={GIB}
      format={bytes}
      formatTime={seconds}
      most={props.most}
      mark={
        over.peak
          ? {
              at: over.peak.time,
              value: over.peak.bytes,
              title: texts.fullestAt(seconds(over.peak.time), bytes(over.peak.bytes)),
            }
          : null
      }
    />
  )
}
