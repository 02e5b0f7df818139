// The rail-only paper: every claim next to the reproduced result, and its sweeps over domain sizes (K) and batches.
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { count, digits, percent, seconds } from '../../charts/format'
import { Lines } from '../../charts/lines/lines'
import { Loading, Problems } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import type { PaperAnswer, Target } from './answer'
import { gigabits } from './names'
import { parameter, setParameter } from './state'
import { bandwidth } from '../../charts/format'
import { NumberHead, TablePanel } from '../parts/table-panel'
import { withUnit } from './unit'
import * as texts from '../../words/network'

const WORKLOADS = ['var(--accent)', 'var(--class-tensor)'] as const
const SIZES = ['', '7 3', '2 3'] as const

export function PaperDesk() {
  const live = useAnswer<PaperAnswer>('network/rail-only', {})
  const { answer } = live
  if (live.problems.length > 0) return <Problems problems={live.problems} />
  if (!answer) return <Loading heights={[320, 320]} />
  return (
    <div class="columns">
      <div class="columns halves-2">
        <DomainSweep answer={answer} />
        <BatchSweep answer={answer} />
      </div>
      <Targets answer={answer} />
      <div class="columns halves-2">
        <Costs answer={answer} />
        <Forwarding answer={answer} />
      </div>
    </div>
  )
}

/** `GPT3, 32M tokens` to `GPT3`. */
function short(workload: string): string {
  return workload.split(',')[0] ?? workload
}

function DomainSweep({ answer }: { answer: PaperAnswer }) {
  const rows = answer.domain_sweep
  const workloads = [...new Set(rows.map((row) => row.workload))]
  const sizes = [...new Set(rows.map((row) => row.devices))]
  const size = sizes.includes(Number(parameter('devices'))) ? Number(parameter('devices')) : (sizes[1] ?? sizes[0] ?? 0)
  const shown = rows.filter((row) => row.devices === size)
  return (
    <ChartFrame
      title={texts.sizeOfTheDomainK}
      about={texts.iterationTimeOnRailOnly}
      name="domain-sweep"
      tools={
        <label class="check">
          <span class="muted">{texts.gpus}</span>
          <select class="select" value={String(size)} onChange={(event) => setParameter('devices', event.currentTarget.value)}>
            {sizes.map((one) => (
              <option key={one} value={String(one)}>
                {count(one)}
              </option>
            ))}
          </select>
        </label>
      }
      rows={() => ({
        columns: ['workload', 'devices', 'domain', 'seconds', 'ideal_s'],
        rows: rows.flatMap((row) => row.domains.map((domain, n) => [row.workload, row.devices, domain, row.times[n], row.ideal])),
      })}
    >
      {(width) => (
        <Lines
          width={width}
          title={texts.iterationTimeByDomainSize}
          fromZero
          x={{ title: texts.gpusInOneScaleUp, format: count, log: true, ticks: shown[0]?.domains ?? [] }}
          y={{ title: texts.iterationTimeS, format: (value) => String(Number(value.toPrecision(3))) }}
          series={shown.flatMap((row) => {
            const colour = WORKLOADS[workloads.indexOf(row.workload) % WORKLOADS.length] ?? WORKLOADS[0]
            return [
              {
                id: row.workload,
                label: row.workload,
                colour,
                values: row.domains.map((domain, n) => {
                  const time = row.times[n] ?? null
                  return {
                    x: domain,
                    y: time,
                    tip: {
                      title: texts.onGpus(row.workload, count(row.devices)),
                      lines: [
                        { name: 'domain', value: count(domain) },
                        { name: 'iteration', value: time === null ? '–' : seconds(time) },
                        { name: texts.overTheIdeal, value: time === null ? '–' : `+${percent(time / row.ideal - 1)}` },
                      ],
                    },
                  }
                }),
              },
              {
                id: `${row.workload} ideal`,
                label: texts.ideal2(short(row.workload)),
                colour,
                dash: '4 4',
                values: [row.domains[0] ?? 1, row.domains[row.domains.length - 1] ?? 1].map((domain) => ({
                  x: domain,
                  y: row.ideal,
                  tip: { title: `${row.workload}, ideal`, lines: [{ name: 'iteration', value: seconds(row.ideal) }] },
                })),
              },
            ]
          })}
        />
      )}
    </ChartFrame>
  )
}

function BatchSweep({ answer }: { answer: PaperAnswer }) {
  const domains = answer.domain_sweep[0]?.domains ?? []
  return (
    <ChartFrame
      title={texts.sizeOfTheBatch}
      about={texts.palmOnRailOnlyPerformance}
      name="batch-sweep"
      rows={() => ({
        columns: ['sequences', ...domains.map((domain) => `domain_${domain}`)],
        rows: answer.batch_sweep.map((row) => [row.sequences, ...row.relative]),
      })}
    >
      {(width) => (
        <Lines
          width={width}
          title={texts.relativePerformanceByDomainSize}
          fromZero
          x={{ title: texts.gpusInOneScaleUp, format: count, log: true, ticks: domains }}
          y={{ title: texts.ofTheIdeal2, format: (value) => `${Math.round(value * 100)}%` }}
          references={[{ y: 1, label: texts.ideal }]}
          series={answer.batch_sweep.map((row, index) => ({
            id: String(row.sequences),
            label: texts.sequences(count(row.sequences)),
            colour: ['var(--class-weight_gradient)', 'var(--class-forward)', 'var(--class-backward)'][index % 3] ?? 'var(--accent)',
            dash: SIZES[2 - (index % 3)],
            values: row.relative.map((relative, n) => ({
              x: domains[n] ?? n,
              y: relative,
              tip: {
                title: texts.sequences(count(row.sequences)),
                lines: [
                  { name: 'domain', value: count(domains[n] ?? 0) },
                  { name: texts.ofTheIdeal, value: relative === null ? '–' : percent(relative) },
                ],
              },
            })),
          }))}
        />
      )}
    </ChartFrame>
  )
}

const STATUS: Readonly<Record<Target['status'], readonly [string, string]>> = {
  reproduced: ['good', 'reproduced'],
  by_construction: ['', texts.byConstruction],
  variant: ['warn', texts.inAVariant],
  not_reproduced: ['bad', texts.notReproduced],
  not_attempted: ['', texts.notAttempted],
}

function Targets({ answer }: { answer: PaperAnswer }) {
  const number = (value: number | null, unit: string) => (value === null ? '–' : withUnit(Number(value.toPrecision(3)), unit))
  const error = (row: Target) => {
    if (row.error === null || row.here === null) return '–'
    if (row.unit === '%' && Math.abs(row.error) < 0.005) return '0.00 points'
    if (row.unit === '%') return texts.points(row.error > 0 ? '+' : '−', digits(Math.abs(row.error), 2))
    return `${row.error > 0 ? '+' : row.error < 0 ? '−' : ''}${digits(Math.abs(row.error) * 100, 2)}%`
  }
  const columns: Column<Target>[] = [
    { key: 'claim', title: texts.claim, value: (row) => row.claim, wrap: true },
    {
      key: 'paper',
      title: texts.paper,
      value: (row) => row.paper,
      cell: (row) => `${row.kind === 'above' ? '> ' : row.kind === 'below' ? '< ' : ''}${number(row.paper, row.unit)}`,
      align: 'right',
    },
    { key: 'here', title: texts.here, value: (row) => row.here, cell: (row) => number(row.here, row.unit), align: 'right' },
    {
      key: 'variants',
      title: texts.inVariants,
      about: texts.withModelParallelGroupsOf,
      value: (row) => row.variants?.[0],
      cell: (row) => (row.variants && row.status !== 'reproduced' ? row.variants.map((one) => number(one, row.unit)).join(', ') : ''),
      align: 'right',
    },
    {
      key: 'error',
      title: texts.error,
      about: texts.pointsWhereTheClaimIs,
      value: (row) => row.error,
      cell: error,
      align: 'right',
    },
    {
      key: 'status',
      title: texts.status,
      value: (row) => STATUS[row.status][1],
      cell: (row) => <span class={`badge ${STATUS[row.status][0]}`}>{STATUS[row.status][1]}</span>,
    },
    { key: 'why', title: texts.remark, value: (row) => row.reason, wrap: true },
  ]
  const reproduced = answer.targets.filter((row) => row.status === 'reproduced').length
  return (
    <section class="panel" aria-label={texts.targets}>
      <div class="panel-head">
        <h2>
          {texts.paperHereErrorStatus}{' '}
          <span class="about">
            {reproduced} {texts.ofText} {answer.targets.length} {texts.claimsReproduced}
          </span>
        </h2>
        <input
          class="input"
          type="search"
          data-filter
          aria-label={texts.filterClaims}
          placeholder={texts.filterFigure7}
          value={parameter('filter')}
          onInput={(event) => setParameter('filter', event.currentTarget.value, 'replace')}
        />
      </div>
      <Table
        caption={texts.claimsOfThePaper}
        columns={columns}
        rows={answer.targets}
        identify={(row) => row.id}
        filter={parameter('filter')}
      />
    </section>
  )
}

function Costs({ answer }: { answer: PaperAnswer }) {
  return (
    <TablePanel
      title={texts.savings}
      heading={texts.savingsAgainstAClos}
      remark={texts.byTheRatioOfThe}
      label={texts.savingsBySizeAndRadixTable}
      caption={texts.savingsBySizeAndRadix}
    >
      <thead>
        <tr>
          <NumberHead>{texts.gpus}</NumberHead>
          <NumberHead>{texts.radix}</NumberHead>
          <NumberHead>{texts.switchesClos}</NumberHead>
          <NumberHead>{texts.railOnly}</NumberHead>
          {answer.price_ratios.map((ratio) => (
            <th key={ratio} scope="col" class="right">
              {Number(ratio.toPrecision(3))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {answer.costs.map((row) => (
          <tr key={`${row.devices} ${row.radix}`}>
            <th scope="row" class="right">
              {count(row.devices)}
            </th>
            <td class="right">{row.radix}</td>
            <td class="right">{count(row.clos.switches)}</td>
            <td class="right">{count(row.rail_only.switches)}</td>
            {row.savings.map((saving, n) => (
              <td key={n} class="right">
                {saving === null ? '–' : percent(saving)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </TablePanel>
  )
}

function Forwarding({ answer }: { answer: PaperAnswer }) {
  return (
    <TablePanel
      title={texts.forwarding}
      heading={texts.allToAllThroughDomains}
      remark={texts.costOfForwardingBetweenRails}
      label={texts.overheadOfForwardingTable}
      caption={texts.overheadOfForwarding}
    >
      <thead>
        <tr>
          <NumberHead>{texts.domain}</NumberHead>
          <NumberHead>{texts.network}</NumberHead>
          <NumberHead>{texts.scaleUp}</NumberHead>
          <NumberHead>{texts.overhead}</NumberHead>
        </tr>
      </thead>
      <tbody>
        {answer.forwarding.map((row, n) => (
          <tr key={n}>
            <th scope="row" class="right">
              {row.domain}
            </th>
            <td class="right">{gigabits(row.network)}</td>
            <td class="right">{bandwidth(row.scale_up)}</td>
            <td class="right">{percent(row.overhead)}</td>
          </tr>
        ))}
      </tbody>
    </TablePanel>
  )
}
