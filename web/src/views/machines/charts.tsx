// Machines against days, dollars, and days against dollars; the knee, the goal and the chosen number are marked.
import { ChartFrame } from '../../charts/frame'
import { count, dollars, percent, seconds } from '../../charts/format'
import { Lines, type Series } from '../../charts/lines/lines'
import { Scatter } from '../../charts/scatter/scatter'
import type { Point } from '../../charts/scatter/model'
import type { Tip } from '../../charts/axes/tooltip'
import type { Row, SizeAnswer } from './answer'
import { commandItem } from '../parts/command'

export const DAY = 86_400
export const COLOURS = [
  'var(--accent)',
  'var(--class-tensor)',
  'var(--class-optimizer)',
  'var(--class-expert)',
  'var(--class-host)',
  'var(--class-data)',
] as const
const DASHES = ['', '6 4', '2 3', '8 3 2 3', '10 4', '4 2'] as const

const plain = (value: number) => String(Number(value.toPrecision(3)))

function tip(row: Row): Tip {
  return {
    title: `${count(row.devices)} × ${row.accelerator}`,
    lines: [
      { name: 'training', value: seconds(row.bill.calendar) },
      { name: 'rent', value: dollars(row.bill.rent) },
      { name: 'efficiency', value: percent(row.efficiency) },
      ...(row.marginal_efficiency === null ? [] : [{ name: 'added GPUs do', value: percent(row.marginal_efficiency) }]),
      ...(row.dollars_per_day_saved === null ? [] : [{ name: 'a day saved costs', value: dollars(row.dollars_per_day_saved) }]),
    ],
    hint: `${row.plan_summary.split(',')[0] ?? ''}. Click or Enter loads it.`,
  }
}

/** Said at points that matter: where scaling stops paying, and what was chosen. */
function notes(answer: SizeAnswer): Map<Row, string> {
  const { rows, verdict } = answer.size
  const found = new Map<Row, string>()
  for (const stop of verdict.stops) {
    const row = rows[stop.row]
    if (row && stop.is_reached) found.set(row, 'low marginal efficiency')
  }
  const chosen = verdict.chosen === null ? undefined : rows[verdict.chosen]
  if (chosen) found.set(chosen, found.has(chosen) ? 'selected, low marginal efficiency' : 'selected')
  return found
}

function seriesOf(answer: SizeAnswer, value: (row: Row) => number, said: Map<Row, string>): Series[] {
  return answer.size.machines.map((machine, index) => ({
    id: machine.name,
    label: machine.name,
    colour: COLOURS[index % COLOURS.length] ?? COLOURS[0],
    dash: DASHES[index % DASHES.length],
    values: answer.size.rows
      .filter((row) => row.machine === index)
      .map((row) => ({ x: row.devices, y: value(row), tip: tip(row), note: said.get(row), hollow: !(row.in_time && row.in_budget) })),
  }))
}

interface Props {
  readonly answer: SizeAnswer
  readonly line: string | undefined
  readonly onPick: (row: Row) => void
}

export function Charts({ answer, line, onPick }: Props) {
  const { rows, goal } = answer.size
  const said = notes(answer)
  const numbers = [...new Set(rows.map((row) => row.devices))].sort((a, b) => a - b)
  const x = { title: 'GPUs', format: count, log: true, ticks: numbers }
  const pick = (series: string, index: number) => {
    const machine = answer.size.machines.findIndex((one) => one.name === series)
    const row = rows.filter((one) => one.machine === machine)[index]
    if (row) onPick(row)
  }
  const csv = () => ({
    columns: ['machine', 'gpus', 'days', 'dollars', 'efficiency'],
    rows: rows.map((row) => [row.cluster, row.devices, row.bill.calendar / DAY, row.bill.rent, row.efficiency]),
  })
  const days = seriesOf(answer, (row) => row.bill.calendar / DAY, said)
  const rents = seriesOf(answer, (row) => row.bill.rent ?? 0, said)
  return (
    <>
      <ChartFrame title="Days" about="hollow points miss the goal" name="machines-days" menu={commandItem(line)} rows={csv}>
        {(width) => (
          <Lines
            width={width}
            title="Days of training by number of GPUs"
            series={days}
            x={x}
            y={{ title: 'days', format: plain, log: true }}
            references={goal.deadline === null ? [] : [{ y: goal.deadline / DAY, label: `deadline: ${seconds(goal.deadline)}` }]}
            onPick={pick}
          />
        )}
      </ChartFrame>
      <ChartFrame title="Dollars" about="rent of all GPUs until the end" name="machines-dollars" rows={csv}>
        {(width) => (
          <Lines
            width={width}
            title="Rent by number of GPUs"
            series={rents}
            x={x}
            y={{ title: 'dollars', format: dollars }}
            references={goal.budget === null ? [] : [{ y: goal.budget, label: `budget: ${dollars(goal.budget)}` }]}
            fromZero
            onPick={pick}
          />
        )}
      </ChartFrame>
      <ChartFrame title="Days against dollars" about="what each day saved costs" name="machines-trade" class="trade" rows={csv}>
        {(width) => (
          <Scatter
            width={width}
            height={320}
            title="Days against dollars"
            points={rows.map(
              (row): Point => ({
                id: `${row.machine} ${row.devices}`,
                x: row.bill.calendar / DAY,
                y: row.bill.rent ?? 0,
                label: said.get(row) ? `${count(row.devices)} ${said.get(row)}` : count(row.devices),
                weight: said.has(row) ? 2 : 1 / (1 + row.machine),
                mark: said.has(row) ? 'front' : 'plain',
                shape: (['circle', 'square', 'triangle', 'diamond', 'cross'] as const)[row.machine % 5],
                colour: COLOURS[row.machine % COLOURS.length],
                tip: tip(row),
              }),
            )}
            x={{ title: 'days', format: plain, log: true }}
            y={{ title: 'dollars', format: dollars }}
            onPick={(id) => {
              const row = rows.find((one) => `${one.machine} ${one.devices}` === id)
              if (row) onPick(row)
            }}
          />
        )}
      </ChartFrame>
    </>
  )
}
