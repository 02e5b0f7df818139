// Charts: machines and days, machines and dollars, days and dollars, with the knee, the goal and the chosen size marked.
import { ChartFrame } from '../../charts/frame'
import { count, dollars, percent, seconds } from '../../charts/format'
import { Lines, type Series } from '../../charts/lines/lines'
import { Scatter } from '../../charts/scatter/scatter'
import type { Point } from '../../charts/scatter/model'
import type { Tip } from '../../charts/axes/tooltip'
import type { Row, SizeAnswer } from './answer'
import { commandItem } from '../parts/command'
import { choiceOf, frontier } from './frontier'
import * as texts from '../../words/machines'

export const DAY = 86_400
export const COLOURS = [
  'var(--accent)',
  'var(--class-tensor)',
  'var(--class-optimizer)',
  'var(--class-expert)',
  'var(--class-host)',
  'var(--class-data)',
] as const
const SHAPES = ['circle', 'square', 'triangle', 'diamond'] as const

const plain = (value: number) => String(Number(value.toPrecision(3)))

function tip(row: Row): Tip {
  return {
    title: texts.gpusOf(count(row.devices), row.accelerator),
    lines: [
      { name: 'training', value: seconds(row.bill.calendar) },
      { name: 'rent', value: dollars(row.bill.rent) },
      { name: 'efficiency', value: percent(row.efficiency) },
      ...(row.marginal_efficiency === null ? [] : [{ name: texts.marginalEfficiency, value: percent(row.marginal_efficiency) }]),
      ...(row.dollars_per_day_saved === null ? [] : [{ name: texts.costPerDaySaved, value: dollars(row.dollars_per_day_saved) }]),
    ],
    hint: `${row.plan_summary.split(',')[0] ?? ''}. Click or Enter loads it.`,
  }
}

/** Notes at important points: the size beyond which scaling is inefficient, and the chosen size. */
function notesOf(answer: SizeAnswer): Map<Row, string> {
  const { rows, verdict, goal } = answer.size
  const found = new Map<Row, string>()
  for (const stop of verdict.stops) {
    const row = rows[stop.row]
    if (row && stop.is_reached) found.set(row, texts.largestEfficient2)
  }
  const chosen = verdict.chosen === null ? undefined : rows[verdict.chosen]
  if (chosen) {
    const choice = choiceOf(
      goal,
      rows.every((row) => row.bill.rent !== null),
    )
    found.set(chosen, found.has(chosen) ? texts.largestEfficient(choice) : choice)
  }
  return found
}

function seriesOf(answer: SizeAnswer, value: (row: Row) => number | null, notes: Map<Row, string>): Series[] {
  return answer.size.machines.map((machine, index) => ({
    id: machine.name,
    label: machine.name,
    colour: COLOURS[index % COLOURS.length] ?? COLOURS[0],
    alone: SHAPES[index % SHAPES.length] ?? 'circle',
    values: answer.size.rows
      .filter((row) => row.machine === index)
      .map((row) => ({ x: row.devices, y: value(row), tip: tip(row), note: notes.get(row), hollow: !(row.in_time && row.in_budget) })),
  }))
}

interface Props {
  readonly answer: SizeAnswer
  readonly line: string | undefined
  readonly onPick: (row: Row) => void
}

export function Charts({ answer, line, onPick }: Props) {
  const { rows, goal } = answer.size
  const notes = notesOf(answer)
  const numbers = [...new Set(rows.map((row) => row.devices))].sort((a, b) => a - b)
  const x = { title: texts.gpus, format: count, log: true, ticks: numbers }
  const pick = (series: string, index: number) => {
    const machine = answer.size.machines.findIndex((one) => one.name === series)
    const row = rows.filter((one) => one.machine === machine)[index]
    if (row) onPick(row)
  }
  const edge = frontier(rows)
  const isEdge = new Set(edge)
  const idOf = (row: Row) => `${row.machine} ${row.devices}`
  const csv = () => ({
    columns: ['machine', 'gpus', 'days', 'dollars', 'efficiency', 'on_frontier'],
    rows: rows.map((row) => [row.cluster, row.devices, row.bill.calendar / DAY, row.bill.rent, row.efficiency, isEdge.has(row) ? 1 : 0]),
  })
  const days = seriesOf(answer, (row) => row.bill.calendar / DAY, notes)
  const rents = seriesOf(answer, (row) => row.bill.rent, notes)
  return (
    <>
      <ChartFrame
        title={texts.days2}
        about={`${texts.onePointPerSearchedCount}${goal.deadline === null && goal.budget === null ? '' : texts.hollowIfItMisses}`}
        name="machines-days"
        menu={commandItem(line)}
        rows={csv}
      >
        {(width) => (
          <Lines
            width={width}
            title={texts.daysOfTrainingByNumber}
            series={days}
            x={x}
            y={{ title: texts.days, format: plain, log: true }}
            references={goal.deadline === null ? [] : [{ y: goal.deadline / DAY, label: texts.deadline(seconds(goal.deadline)) }]}
            onPick={pick}
          />
        )}
      </ChartFrame>
      <ChartFrame title={texts.dollars2} about={texts.rentalCostOfAllGpus} name="machines-dollars" rows={csv}>
        {(width) => (
          <Lines
            width={width}
            title={texts.rentByNumberOfGpus}
            series={rents}
            x={x}
            y={{ title: texts.dollars, format: dollars }}
            references={goal.budget === null ? [] : [{ y: goal.budget, label: texts.budget(dollars(goal.budget)) }]}
            fromZero
            onPick={pick}
          />
        )}
      </ChartFrame>
      <ChartFrame title={texts.daysAgainstDollars} about={texts.largePointsOnTheSteps} name="machines-trade" class="trade" rows={csv}>
        {(width) => (
          <Scatter
            width={width}
            height={320}
            title={texts.daysAgainstDollars}
            points={rows.flatMap((row): Point[] =>
              row.bill.rent === null
                ? []
                : [
                    {
                      id: idOf(row),
                      x: row.bill.calendar / DAY,
                      y: row.bill.rent,
                      label: notes.get(row) ? `${count(row.devices)} ${notes.get(row)}` : count(row.devices),
                      weight: notes.has(row) ? 2 : isEdge.has(row) ? 1.5 : 1 / (1 + row.machine),
                      mark: isEdge.has(row) ? 'front' : 'plain',
                      shape: SHAPES[row.machine % SHAPES.length] ?? 'circle',
                      colour: COLOURS[row.machine % COLOURS.length] ?? COLOURS[0],
                      tip: tip(row),
                    },
                  ],
            )}
            front={edge.map(idOf)}
            x={{ title: texts.days, format: plain, log: true }}
            y={{ title: texts.dollars, format: dollars }}
            onPick={(id) => {
              const row = rows.find((one) => idOf(one) === id)
              if (row) onPick(row)
            }}
          />
        )}
      </ChartFrame>
    </>
  )
}
