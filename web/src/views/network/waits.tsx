// Waits of pipeline stages: compute and idle time of each, by the work that it waits for. Responsible for: kinds of waits, and the list of a
// chosen stage. The program computes the waits.
import { useState } from 'preact/hooks'
import { classColour } from '../../charts/colours'
import { type Group, type Segment, StackedColumns } from '../../charts/columns'
import { percent, seconds, timeUnit } from '../../charts/format'
import { ChartFrame } from '../../charts/frame'
import { Legend } from '../../charts/legend'
import type { MenuItem } from '../../ui/menu'
import type { SimulateAnswer } from './answer'
import * as texts from '../../words/network'

type Stage = SimulateAnswer['waits'][number]
type Wait = Stage['waits'][number]

/** Kinds of work in the order of the bars, with the classes of their colours. */
const KINDS: readonly (readonly [name: string, colour: string])[] = [
  [texts.otherStages, 'bubble'],
  ['pipeline', 'pipeline'],
  ['tensor', 'tensor'],
  ['context', 'context'],
  ['expert', 'expert'],
  ['shard', 'weight_gradient'],
  ['data', 'data'],
  ['optimizer', 'optimizer'],
  ['host', 'host'],
]

/** Kind of a wait: work of another stage, other than its messages, is that of the stage. Pure. */
export function kindOf(stage: number, wait: Pick<Wait, 'waits_for' | 'of_stage'>): string {
  const isOthers = wait.of_stage !== null && wait.of_stage !== stage && wait.waits_for !== 'pipeline'
  return isOthers ? texts.otherStages : wait.waits_for
}

/** Time of each kind of wait of a stage, in the order of the bars. Pure. */
export function sums(stage: Stage): readonly { readonly kind: string; readonly time: number }[] {
  const all = new Map<string, number>()
  for (const wait of stage.waits) {
    const kind = kindOf(stage.stage, wait)
    all.set(kind, (all.get(kind) ?? 0) + wait.time)
  }
  const place = (kind: string) => {
    const at = KINDS.findIndex(([name]) => name === kind)
    return at < 0 ? KINDS.length : at
  }
  return [...all].map(([kind, time]) => ({ kind, time })).sort((a, b) => place(a.kind) - place(b.kind))
}

const colourOf = (kind: string): string => classColour(KINDS.find(([name]) => name === kind)?.[1] ?? kind)

const COMPUTE = classColour('forward')

/** Compute of a stage, and its waits by kind. */
const bars = (stage: Stage): readonly Segment[] => [
  { key: texts.compute, value: stage.compute, colour: COMPUTE },
  ...sums(stage).map(({ kind, time }) => ({ key: kind, value: time, colour: colourOf(kind) })),
]

/** Work that a stage waits for, with its stage. */
const workOf = (wait: Wait): string => (wait.of_stage === null ? wait.waits_for : texts.workOfStage(wait.waits_for, wait.of_stage))

export function Waits({ stages, step, menu }: { stages: readonly Stage[]; step: number; menu: readonly MenuItem[] }) {
  const worst = stages.reduce((most, one, at) => (one.waiting > (stages[most]?.waiting ?? 0) ? at : most), 0)
  const [picked, setPicked] = useState<number | null>(null)
  const chosen = picked !== null && picked < stages.length ? picked : worst
  const stage = stages[chosen]
  if (!stage) return null
  const groups: Group[] = stages.map((one) => ({ label: String(one.stage), bars: [{ series: texts.step, segments: bars(one) }] }))
  const unit = timeUnit(Math.max(...stages.map((one) => one.compute + one.waiting)))
  const present = [...new Set(stages.flatMap((one) => sums(one).map(({ kind }) => kind)))]
  return (
    <ChartFrame
      title={texts.waitsOfStages}
      about={texts.computeOfEachStageAnd(unit.sign)}
      name="simulated-waits"
      menu={menu}
      rows={() => ({
        columns: ['stage', 'waits_for', 'of_stage', 'time_s'],
        rows: stages.flatMap((one) => [
          [one.stage, 'compute', '', one.compute],
          ...one.waits.map((wait) => [one.stage, wait.waits_for, wait.of_stage ?? '', wait.time]),
        ]),
      })}
    >
      {(width) => (
        <>
          <StackedColumns
            label={texts.waitsOfStages}
            groups={groups}
            width={width}
            height={220}
            limits={[]}
            unit={unit.scale}
            format={seconds}
            axisTitle={texts.stageAxis}
            chosen={chosen}
            onChoose={setPicked}
            tip={(group) => <Tipped stage={stages.find((one) => String(one.stage) === group.label)} />}
          />
          <Legend
            items={[{ title: texts.compute, colour: COMPUTE }, ...present.map((kind) => ({ title: kind, colour: colourOf(kind) }))]}
          />
          <p class="network-waits">
            {texts.stageWaits(stage.stage, seconds(stage.waiting), percent(stage.waiting / step))}
            {stage.waits.slice(0, LISTED).map((wait, at) => (
              <span key={`${wait.waits_for} ${wait.of_stage}`}>
                {at > 0 && ', '}
                {workOf(wait)} <b>{seconds(wait.time)}</b>
              </span>
            ))}
            {stage.waits.length > LISTED && texts.andMore(stage.waits.length - LISTED)}
          </p>
        </>
      )}
    </ChartFrame>
  )
}

/** Number of waits of the chosen stage in the sentence; the file has all of them. */
const LISTED = 6

function Tipped({ stage }: { stage: Stage | undefined }) {
  if (!stage) return null
  return (
    <>
      <strong>
        {texts.stageAxis} {stage.stage}
      </strong>
      {bars(stage).map((one) => (
        <div key={one.key} class="swatch-label" style={{ display: 'flex' }}>
          <span class="swatch" style={{ background: one.colour }} />
          <span style={{ flex: 1 }}>{one.key}</span>
          <span style={{ paddingLeft: '12px' }}>{seconds(one.value)}</span>
        </div>
      ))}
    </>
  )
}
