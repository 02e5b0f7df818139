// All numbers of machines as a table; a row's layout is loaded by click or Enter.
import { count, dollars, percent, seconds } from '../../charts/format'
import { type Column, Table } from '../../ui/table'
import type { Row, SizeAnswer } from './answer'
import { choiceOf, frontier } from './frontier'

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
    { key: 'gpus', title: 'GPUs', value: (row) => row.devices, cell: (row) => count(row.devices), align: 'right' },
    { key: 'machine', title: 'Machine', value: (row) => row.cluster },
    {
      key: 'days',
      title: 'Training',
      value: (row) => row.bill.calendar,
      cell: (row) => <span class={row.in_time ? '' : 'tone-bad'}>{seconds(row.bill.calendar)}</span>,
      align: 'right',
    },
    {
      key: 'rent',
      title: 'Rent',
      value: (row) => row.bill.rent,
      cell: (row) => <span class={row.in_budget ? '' : 'tone-bad'}>{dollars(row.bill.rent)}</span>,
      align: 'right',
    },
    { key: 'step', title: 'Step', value: (row) => row.step_time, cell: (row) => seconds(row.step_time), align: 'right' },
    { key: 'mfu', title: 'MFU', value: (row) => row.mfu, cell: (row) => percent(row.mfu), align: 'right' },
    {
      key: 'efficiency',
      title: 'Efficiency',
      about: 'Tokens a second and GPU, over those of the fewest',
      value: (row) => row.efficiency,
      cell: (row) => percent(row.efficiency),
      align: 'right',
    },
    {
      key: 'added',
      title: 'Added',
      about: 'The same of the GPUs beyond the next smaller number',
      value: (row) => row.marginal_efficiency,
      cell: (row) => (row.marginal_efficiency === null ? '' : percent(row.marginal_efficiency)),
      align: 'right',
    },
    {
      key: 'day',
      title: '$/day saved',
      about: 'What the added GPUs cost for each day that they save',
      value: (row) => row.dollars_per_day_saved,
      cell: (row) => (row.dollars_per_day_saved === null ? '' : dollars(row.dollars_per_day_saved)),
      align: 'right',
    },
    {
      key: 'frontier',
      title: 'Frontier',
      about: 'No other count is both sooner and cheaper',
      value: (row) => (edge.has(row) ? 'yes' : ''),
    },
    { key: 'plan', title: 'Layout', value: (row) => row.plan_summary, wrap: true },
    {
      key: 'verdict',
      title: 'Verdict',
      value: (row) => (row === chosen ? choice : stops.has(row) ? 'low marginal efficiency' : ''),
      cell: (row) =>
        row === chosen ? (
          <span class="badge good">{choice}</span>
        ) : stops.has(row) ? (
          <span class="badge warn">low marginal efficiency</span>
        ) : (
          ''
        ),
    },
  ]
  return (
    <section class="panel" aria-label="Numbers of machines">
      <div class="panel-head">
        <h2>
          All numbers <span class="about">click or Enter loads a layout into the calculator</span>
        </h2>
      </div>
      <Table
        caption="Numbers of machines in figures"
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
              {count(one.devices)} × {machines[one.machine]?.name}: {one.reason}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
