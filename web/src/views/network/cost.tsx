// Cost comparison of designs: breakdown, savings, break-even sizes, and the cheapest design by size.
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { count, dollars, percent, power } from '../../charts/format'
import { Lines } from '../../charts/lines/lines'
import { NUMBER } from '../../state/amounts'
import { Amount } from '../../ui/amounts'
import { Loading } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import { AcceleratorField } from '../parts/accelerator'
import type { CostAnswer } from './answer'
import { CostBars } from './cost-bars'
import { DesignProblems } from './design-problems'
import { DesignChoice, DesignFields, Swatch } from './fields'
import { kindOf } from './names'
import { ownCluster, useOwnCluster } from './own-cluster'
import { PriceList, priceList } from './price-list'
import { chosenDesigns, designFlags, parameter, setParameter } from './state'
import * as texts from '../../words/network'

type Priced = CostAnswer['designs'][number]

const switches = (row: Priced) => row.bill.counts.tiers.reduce((sum, tier) => sum + tier.switches, 0)

export function CostDesk() {
  const ready = useOwnCluster()
  const designs = chosenDesigns()
  const accelerator = parameter('accelerator') || ownCluster()?.accelerator.id
  const question = {
    designs,
    ...designFlags(),
    ...(accelerator ? { accelerator } : {}),
    ...(parameter('years') ? { years: parameter('years') } : {}),
    ...priceList(),
  }
  const live = useAnswer<CostAnswer>('network/cost', ready ? question : null)
  const { answer } = live
  return (
    <>
      <section class="panel scope" aria-label={texts.designsAndPrices}>
        <DesignChoice />
        <div class="entries">
          <DesignFields withKind={false} />
          <AcceleratorField
            title={texts.accelerator}
            about={texts.forTheNetworksShareOf}
            auto={ownCluster()?.accelerator.id ?? texts.h100Sxm580gb}
            value={parameter('accelerator')}
            onChange={(value) => setParameter('accelerator', value)}
          />
          <Amount
            title={texts.years2}
            about={texts.yearsOverWhichTheNetwork}
            auto="4"
            unit={NUMBER}
            value={parameter('years')}
            onChange={(value) => setParameter('years', value)}
          />
          <PriceList />
        </div>
      </section>
      <DesignProblems live={live} />
      {!answer && live.problems.length === 0 && <Loading heights={[240, 240]} />}
      {answer && (
        <div class={`columns ${live.stale ? 'stale' : ''}`}>
          <div class="columns two-charts">
            <CostBars answer={answer} line={live.commandLine} />
            <BySize answer={answer} />
          </div>
          <Shares answer={answer} />
          <BreakEven answer={answer} />
          {answer.refused.length > 0 && (
            <ul class="remarks">
              {answer.refused.map((one, index) => (
                <li key={index} class="warn">
                  {one.name}: {one.problem?.message}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </>
  )
}

function Shares({ answer }: { answer: CostAnswer }) {
  const first = answer.designs[0]
  const columns: Column<Priced>[] = [
    {
      key: 'name',
      title: texts.design,
      value: (row) => row.name,
      cell: (row) => (
        <span class="swatched">
          <Swatch id={row.design.kind} /> {kindOf(row.name).title}
        </span>
      ),
    },
    { key: 'switches', title: texts.switches, value: switches, cell: (row) => count(switches(row)), align: 'right' },
    { key: 'total', title: texts.withNics, value: (row) => row.bill.total, cell: (row) => dollars(row.bill.total), align: 'right' },
    {
      key: 'device',
      title: texts.perDevice2,
      value: (row) => row.bill.total / row.bill.devices,
      cell: (row) => dollars(row.bill.total / row.bill.devices),
      align: 'right',
    },
    {
      key: 'saving',
      title: texts.saves,
      about: texts.against(first ? kindOf(first.name).title : texts.theFirst),
      value: (row) => row.saving,
      cell: (row) => (row === first ? <span class="muted">–</span> : percent(row.saving).replace('-', '−')),
      align: 'right',
    },
    {
      key: 'parts',
      title: texts.portsTransceivers,
      about: texts.savingOfPortsAndTransceivers,
      value: (row) => row.saving_ports_and_transceivers,
      cell: (row) => (row === first ? <span class="muted">–</span> : percent(row.saving_ports_and_transceivers).replace('-', '−')),
      align: 'right',
    },
    { key: 'watts', title: texts.power, value: (row) => row.bill.watts, cell: (row) => power(row.bill.watts), align: 'right' },
    {
      key: 'share',
      title: texts.ofCluster,
      about: texts.shareOfTheDollarsOf,
      value: (row) => row.share.of_dollars,
      cell: (row) => percent(row.share.of_dollars),
      align: 'right',
    },
    {
      key: 'year',
      title: texts.perYear,
      about: texts.networkPaidOverTheYears,
      value: (row) => row.share.dollars_per_year,
      cell: (row) => dollars(row.share.dollars_per_year),
      align: 'right',
    },
  ]
  return (
    <section class="panel" aria-label={texts.costs}>
      <div class="panel-head">
        <h2>
          {texts.costs}{' '}
          <span class="about">
            {texts.savingsAgainst} {kindOf(first?.name ?? '').title}
          </span>
        </h2>
      </div>
      <Table caption={texts.costsOfDesigns} columns={columns} rows={answer.designs} identify={(row) => row.name} />
      <p class="table-more remarks">
        {texts.devices3} {answer.cluster.accelerator} {texts.at} {dollars(answer.cluster.device_price)} {texts.eachOver}{' '}
        {answer.cluster.years} {texts.years}
        {answer.cluster.device_price_source})
      </p>
    </section>
  )
}

/** Saving below which a design is not drawn with the others: more than twice the price. */
const FAR = -1

/** Break-even prices, with designs that cost the same in one line. */
function breakEvens(answer: CostAnswer): { ratio: number; transceivers: string; ports: string[] }[] {
  const found: { ratio: number; transceivers: string; ports: string[] }[] = []
  for (const one of answer.break_even_by_port_price) {
    const [ports, transceivers] = [kindOf(one.expensive_ports).title, kindOf(one.expensive_transceivers).title]
    const same = found.find((other) => other.ratio === one.ratio && other.transceivers === transceivers)
    if (same) same.ports.push(ports)
    else found.push({ ratio: one.ratio, transceivers, ports: [ports] })
  }
  return found
}

function BreakEven({ answer }: { answer: CostAnswer }) {
  const rows = answer.saving_by_port_price
  const against = kindOf(answer.names[0] ?? '').title
  if (rows.length === 0 || answer.names.length < 2) return null
  const others = answer.names.slice(1).map((name, index) => ({ name, index }))
  // A design of several times the price would hide the differences of the others.
  const isFar = (index: number) => rows.every((row) => (row.savings[index] ?? 0) < FAR)
  const far = others.filter(({ index }) => isFar(index))
  const near = others.filter(({ index }) => !isFar(index))
  const drawn = near.length > 0 ? near : others
  const factor = (value: number) => (value === 1 ? 'today' : `${Number(value.toPrecision(3))}×`)
  return (
    <ChartFrame
      title={texts.breakEven}
      about={`ports and transceivers, saved against ${against}; catalogue prices, ports scaled`}
      name="network-break-even"
      rows={() => ({ columns: ['port_price_factor', ...answer.names.slice(1)], rows: rows.map((row) => [row.ratio, ...row.savings]) })}
    >
      {(width) => (
        <>
          <Lines
            width={width}
            title={texts.savingByThePriceOf}
            x={{ title: texts.priceOfSwitchPortsOver, format: factor, log: true, ticks: rows.map((row) => row.ratio) }}
            y={{ title: texts.saved, format: (value) => `${Math.round(value * 100)}%`.replace('-', '−') }}
            marks={[{ x: 1, label: texts.today }]}
            series={drawn.map(({ name, index }) => ({
              id: name,
              label: kindOf(name).title,
              colour: kindOf(name).colour,
              dash: kindOf(name).dash,
              values: rows.map((row) => ({
                x: row.ratio,
                y: row.savings[index] ?? null,
                tip: {
                  title: kindOf(name).title,
                  lines: [
                    { name: texts.portPrices, value: factor(row.ratio) },
                    { name: 'saved', value: percent(row.savings[index] ?? 0).replace('-', '−') },
                  ],
                },
              })),
            }))}
          />
          <ul class="remarks">
            {near.length > 0 && far.length > 0 && <li>{texts.notDrawn(far.map(({ name }) => kindOf(name).title).join(', '))}</li>}
            {breakEvens(answer).map((one) => (
              <li key={`${one.ratio} ${one.transceivers}`}>
                {texts.breakEvenAt(`${Number(one.ratio.toPrecision(3))}×`, one.ports.join(', '), one.transceivers, one.ports.length > 1)}
              </li>
            ))}
            {answer.break_even_by_port_price.length === 0 && <li>{texts.theOrderOfTheseDesigns}</li>}
          </ul>
        </>
      )}
    </ChartFrame>
  )
}

function BySize({ answer }: { answer: CostAnswer }) {
  const rows = answer.cheapest_by_devices
  if (rows.length === 0) return null
  return (
    <ChartFrame
      title={texts.bySize}
      about={texts.dollarsOfNetworkForEach}
      name="network-by-size"
      rows={() => ({
        columns: ['devices', 'cheapest', ...answer.names],
        rows: rows.map((row) => [row.devices, row.name, ...row.per_device]),
      })}
    >
      {(width) => (
        <>
          <Lines
            width={width}
            title={texts.dollarsPerDeviceBySize}
            fromZero
            x={{
              title: texts.devices2,
              format: count,
              log: true,
              ticks: rows.map((row) => row.devices),
            }}
            y={{ title: texts.dollarsPerDevice, format: (value) => `$${count(value)}` }}
            series={answer.names.map((name, index) => ({
              id: name,
              label: kindOf(name).title,
              colour: kindOf(name).colour,
              dash: kindOf(name).dash,
              values: rows.map((row) => ({
                x: row.devices,
                y: row.per_device[index] ?? null,
                tip: {
                  title: kindOf(name).title,
                  lines: [
                    { name: 'devices', value: count(row.devices) },
                    { name: texts.perDevice3, value: dollars(row.per_device[index] ?? 0) },
                    { name: texts.cheapestHere, value: kindOf(row.name).title },
                  ],
                },
              })),
            }))}
          />
          <p class="remarks">{cheapest(rows)}</p>
        </>
      )}
    </ChartFrame>
  )
}

/** `Cheapest: rail-only up to 512, dual-plane up to 4,096, ...`. */
function cheapest(rows: CostAnswer['cheapest_by_devices']): string {
  const parts: { name: string; until: number }[] = []
  for (const row of rows) {
    const last = parts[parts.length - 1]
    if (last?.name === kindOf(row.name).title) last.until = row.devices
    else parts.push({ name: kindOf(row.name).title, until: row.devices })
  }
  const [only] = parts
  if (parts.length === 1 && only) return `Cheapest at every size: ${only.name}.`
  return `Cheapest: ${parts.map((part, index) => (index === parts.length - 1 ? `${part.name} beyond` : `${part.name} up to ${count(part.until)}`)).join(', ')}.`
}
