// Map of the space: step time by TP and PP, with cells in which every layout is out of memory, and the run's own layout outlined.
import { useMemo } from 'preact/hooks'
import { bytes, count, seconds } from '../../charts/format'
import { ChartFrame } from '../../charts/frame'
import { HeatTable } from '../../charts/heatmap/heat-table'
import type { State } from '../parts/long-job'
import { commandItem } from '../parts/command'
import { loadStrategy } from '../parts/load'
import { ProgressLine } from '../parts/progress'
import type { Cell, SearchAnswer } from './answer'
import { useOwn } from './cards'
import { outcomeOf, signOf, spaceOfCells } from './space'
import * as texts from '../../words/search'

interface Props {
  readonly state: State<SearchAnswer>
  readonly onStop: () => void
}

export function Landscape({ state, onStop }: Props) {
  const cells = state.answer?.answer.map
  const own = useOwn()?.answer ?? null
  const { tp, pp, cells: by } = useMemo(() => spaceOfCells(cells ?? []), [cells])
  const values = useMemo(() => by.map((row) => row.map((cell) => (cell?.outcome.is === 'fits' ? cell.outcome.step_time : null))), [by])
  const over = by.flat().filter((cell) => cell?.outcome.is === 'out_of_memory').length
  const place = own && ([pp.indexOf(own.plan.pipeline_parallel), tp.indexOf(own.plan.tensor_parallel)] as const)
  const outlined = place && place[0] >= 0 && place[1] >= 0 ? place : null
  const isOwn = (row: number, column: number) => outlined !== null && outlined[0] === row && outlined[1] === column
  const load = (cell: Cell | null) => {
    if (cell && 'layout' in cell.outcome) loadStrategy(cell.outcome.layout, { cluster: cell.cluster, gpus: String(cell.devices) })
  }
  const about = [
    texts.theFastestLayoutOfEach,
    over > 0
      ? `OOM or ×: out of memory, with the shortfall of the smallest layout (${count(over)} of ${count(tp.length * pp.length)})`
      : '',
    outlined && own ? `${texts.dashedYourLayout} (${seconds(own.step_time)})` : '',
  ]
    .filter(Boolean)
    .join('; ')
  return (
    <>
      <ProgressLine state={state} unit="cells" onStop={onStop} />
      {tp.length * pp.length > 0 && (
        <ChartFrame
          title={texts.stepTimeByTpAnd}
          about={about}
          name="layouts-by-tp-pp"
          menu={commandItem(state.answer?.commandLine)}
          stale={state.running}
          rows={() => ({
            columns: ['tp', 'pp', 'outcome', 'step_time_s', 'lacks_bytes', 'layout', 'cluster', 'gpus'],
            rows: pp.flatMap((pipeline, row) =>
              tp.map((tensor, column) => {
                const cell = by[row]?.[column] ?? null
                const outcome = cell?.outcome
                return [
                  tensor,
                  pipeline,
                  outcome?.is ?? 'indivisible',
                  outcome?.is === 'fits' ? outcome.step_time : null,
                  outcome?.is === 'out_of_memory' ? outcome.lacks : null,
                  outcome && 'layout' in outcome ? outcome.layout : '',
                  cell?.cluster,
                  cell?.devices,
                ]
              }),
            ),
          })}
        >
          {(width) => (
            <HeatTable
              width={width}
              title={texts.stepTimeByTpAnd}
              rows={pp.map((size) => `PP${size}`)}
              columns={tp.map((size) => `TP${size}`)}
              values={values}
              signs={by.map((row) => row.map(signOf))}
              outlined={outlined}
              from="least"
              nothing={texts.noValidLayout}
              action={texts.enterLoadsTheLayoutInto}
              format={seconds}
              tip={(row, column) => {
                const cell = by[row]?.[column] ?? null
                const outcome = cell?.outcome
                return {
                  title: texts.tpPp(tp[column], pp[row]),
                  lines: [
                    { name: outcome?.is === 'fits' ? 'step' : 'layouts', value: outcomeOf(cell) },
                    ...(outcome?.is === 'out_of_memory'
                      ? [{ name: 'smallest', value: texts.stageDeviceHas(outcome.stage, bytes(outcome.device_memory)) }]
                      : []),
                    ...(isOwn(row, column) && own
                      ? [{ name: 'yours', value: texts.perDevice2(seconds(own.step_time), bytes(own.memory.peak)) }]
                      : []),
                  ],
                  hint: outcome && 'layout' in outcome ? `${outcome.layout}. Click or Enter loads it.` : '',
                }
              }}
              onChoose={(row, column) => load(by[row]?.[column] ?? null)}
            />
          )}
        </ChartFrame>
      )}
    </>
  )
}
