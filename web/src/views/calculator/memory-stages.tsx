// Memory of every stage by kind, relative to device memory. Selecting a stage selects it in the other panels too.
import type { Estimate, StageMemory } from '../../api/answers'
import { KINDS, kindColour, words } from '../../charts/colours'
import { type Group, StackedColumns } from '../../charts/columns'
import { bytes } from '../../charts/format'
import { ChartFrame } from '../../charts/frame'
import { Legend } from '../../charts/legend'
import { change } from '../../state/location'
import { kept } from './scenarios'
import * as texts from '../../words/calculator'

const GIB = 2 ** 30

/** Stage of the memory panels: the selected one, else the one with the least free memory. */
export function chosenStage(estimate: Estimate): number {
  const chosen = Number(kept.value.stage)
  return kept.value.stage !== undefined && chosen < estimate.memory.stages.length ? chosen : estimate.memory.worst
}

export function MemoryStages(props: { a: Estimate; b: Estimate | null; stale: boolean }) {
  const both = [{ letter: 'A', estimate: props.a }, ...(props.b ? [{ letter: 'B', estimate: props.b }] : [])]
  const count = Math.max(...both.map(({ estimate }) => estimate.memory.stages.length))
  const groups: Group[] = Array.from({ length: count }, (_, stage) => ({
    label: String(stage),
    bars: both.flatMap(({ letter, estimate }) => {
      const at = estimate.memory.stages[stage]
      return at ? [{ series: props.b ? letter : 'needs', segments: segments(at) }] : []
    }),
  }))
  const present = KINDS.filter((kind) =>
    both.some(({ estimate }) => estimate.memory.stages.some((stage) => stage.kinds.some((one) => one.kind === kind && one.bytes > 0))),
  )
  const limits = [
    ...new Map(
      both.map(({ letter, estimate }) => [
        estimate.memory.device_memory,
        props.b && props.b.memory.device_memory !== props.a.memory.device_memory ? letter : '',
      ]),
    ).entries(),
  ].map(([value, letter]) => ({ value, title: texts.deviceHas2(letter ? `${letter}: ` : '', bytes(value)) }))
  const chosen = chosenStage(props.a)
  return (
    <ChartFrame
      title={texts.memoryByStage}
      about={props.b ? texts.aLeftBRightGib : texts.ofOneRankAtIts}
      name="memory-by-stage"
      class="stages-chart"
      stale={props.stale}
      rows={() => ({
        columns: ['scenario', 'stage', 'kind', 'bytes'],
        rows: both.flatMap(({ letter, estimate }) =>
          estimate.memory.stages.flatMap((stage) => stage.kinds.map((one) => [letter, stage.stage, one.kind, Math.round(one.bytes)])),
        ),
      })}
    >
      {(width) => (
        <>
          <StackedColumns
            label={texts.memoryOfEachStageBy}
            groups={groups}
            width={width}
            height={270}
            limits={limits}
            unit={GIB}
            format={bytes}
            axisTitle="stage"
            chosen={chosen}
            onChoose={(stage) => change({ 'c.stage': String(stage) }, 'replace')}
            tip={(group) => <StageTip stage={Number(group.label)} both={both} />}
          />
          <Legend items={present.map((kind) => ({ title: words(kind), colour: kindColour(kind) }))} />
        </>
      )}
    </ChartFrame>
  )
}

function StageTip(props: { stage: number; both: readonly { letter: string; estimate: Estimate }[] }) {
  return (
    <>
      {props.both.map(({ letter, estimate }) => {
        const stage = estimate.memory.stages[props.stage]
        if (!stage) return null
        return (
          <div key={letter}>
            <strong>
              {props.both.length > 1 ? `${letter}: ` : ''}
              {texts.stage} {props.stage}
            </strong>{' '}
            · {bytes(stage.device)}
            {texts.peak} {words(stage.moment)}
            {[...segments(stage)]
              .reverse()
              .filter((one) => one.value > 0)
              .map((one) => (
                <div key={one.key} class="swatch-label" style={{ display: 'flex' }}>
                  <span class="swatch" style={{ background: one.colour }} />
                  <span style={{ flex: 1 }}>{words(one.key)}</span>
                  <span style={{ paddingLeft: '12px' }}>{bytes(one.value)}</span>
                </div>
              ))}
          </div>
        )
      })}
    </>
  )
}

function segments(stage: StageMemory) {
  return [...stage.kinds]
    .sort((a, b) => rank(a.kind) - rank(b.kind))
    .map((one) => ({ key: one.kind, value: one.bytes, colour: kindColour(one.kind) }))
}

function rank(kind: string): number {
  const at = (KINDS as readonly string[]).indexOf(kind)
  return at < 0 ? KINDS.length : at
}
