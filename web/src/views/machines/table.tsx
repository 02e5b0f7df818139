// All numbers of machines as a table; a click or Enter loads a row's layout.
import { count, dollars, percent, seconds } from '../../charts/format'
import { type Column, Table } from '../../ui/table'
import type { Row, SizeAnswer } from './answer'
import { choiceOf, frontier, hasOneBatch } from './frontier'
import * as texts from '../../words/machines'

export function Sizes({ answer, onPick }: { answer: SizeAnswer; onPick: (row: Row) => void }) {
  const { rows, verdict, impossible, machines, goal } = answer.size
  const chosen = verdict.chosen === null ? undefined : rows[verdict.chosen]
  const edge = new Set(frontier(rows))
  const choice = choiceOf(
    goal,
    rows.every((row) => row.bill.rent !== null),
  )
  const stops = new Set(verdict.stops.filter((stop) => stop.is_reached).map((stop) => rows[stop.row]))
  const columns: Column<Row>[] = [
    { key: 'gpus', title: texts.gpus, value: (row) => row.devices, cell: (row) => count(row.devices), align: 'right' },
    { key: 'machine', title: texts.machine, value: (row) => row.cluster },
    {
      key: 'days',
      title: texts.training,
      value: (row) => row.bill.calendar,
      cell: (row) => <span class={row.in_time ? '' : 'tone-bad'}>{seconds(row.bill.calendar)}</span>,
      align: 'right',
    },
    {
      key: 'rent',
      title: texts.rent,
      value: (row) => row.bill.rent,
      cell: (row) => <span class={row.in_budget ? '' : 'tone-bad'}>{dollars(row.bill.rent)}</span>,
      align: 'right',
    },
    ...(hasOneBatch(rows)
      ? []
      : [
          {
            key: 'batch',
            title: texts.batch,
            about: texts.sequencesPerStep,
            value: (row: Row) => row.plan.global_batch,
            cell: (row: Row) => count(row.plan.global_batch),
            align: 'right' as const,
          },
        ]),
    { key: 'step', title: texts.step, value: (row) => row.step_time, cell: (row) => seconds(row.step_time), align: 'right' },
    { key: 'mfu', title: texts.mfu, value: (row) => row.mfu, cell: (row) => percent(row.mfu), align: 'right' },
    {
      key: 'efficiency',
      title: texts.efficiency,
      about: texts.throughputPerGpuRelativeTo,
      value: (row) => row.efficiency,
      cell: (row) => percent(row.efficiency),
      align: 'right',
    },
    {
      key: 'added',
      title: texts.added,
      about: texts.theSameForTheGpus,
      value: (row) => row.marginal_efficiency,
      cell: (row) => (row.marginal_efficiency === null ? '' : percent(row.marginal_efficiency)),
      align: 'right',
    },
    {
      key: 'day',
      title: texts.daySaved,
      about: texts.costOfTheAddedGpus,
      value: (row) => row.dollars_per_day_saved,
      cell: (row) => (row.dollars_per_day_saved === null ? '' : dollars(row.dollars_per_day_saved)),
      align: 'right',
    },
    {
      key: 'frontier',
      title: texts.frontier,
      about: texts.noOtherCountIsBoth,
      value: (row) => (edge.has(row) ? 'yes' : ''),
    },
    { key: 'plan', title: texts.layout, value: (row) => row.plan_summary, wrap: true },
    {
      key: 'verdict',
      title: texts.verdict,
      value: (row) => (row === chosen ? choice : stops.has(row) ? texts.largestEfficient2 : ''),
      cell: (row) =>
        row === chosen ? (
          <span class="badge good">{choice}</span>
        ) : stops.has(row) ? (
          <span class="badge">{texts.largestEfficient2}</span>
        ) : (
          ''
        ),
    },
  ]
  return (
    <section class="panel" aria-label={texts.numbersOfMachines}>
      <div class="panel-head">
        <h2>
          {texts.allNumbers} <span class="about">{texts.clickOrEnterLoadsA}</span>
        </h2>
      </div>
      <Table
        caption={texts.numbersOfMachinesInFigures}
        columns={columns}
        rows={rows}
        identify={(row) => `${row.machine} ${row.devices}`}
        chosen={chosen ? `${chosen.machine} ${chosen.devices}` : null}
        onChoose={onPick}
      />
      {impossible.length > 0 && (
        <ul class="remarks table-more">
          {impossible.map((one) => (
            <li key={`${one.machine} ${one.devices}`}>
              {texts.gpusOf(count(one.devices), machines[one.machine]?.name ?? '')}: {one.reason}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
