// Cost comparison of designs: breakdown, savings, and the cheapest design by size.
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
import { BreakEven } from './break-even'
import { CostBars } from './cost-bars'
import { DesignProblems } from './design-problems'
import { DesignChoice, DesignFields, Swatch } from './fields'
import { gigabits, kindOf } from './names'
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
      {first && <SharedCables design={first} />}
    </section>
  )
}

/** Price of the transceivers where links share a cable: two speeds may cost more than twice one. */
function SharedCables({ design: { design, bill } }: { design: Priced }) {
  const links = design.links_per_cable
  const line = bill.lines.find((one) => one.item === 'transceiver')
  if (links <= 1 || !line) return null
  const { speed, price } = line
  return (
    <p class="table-more remarks">
      {texts.linksShareACable(links, gigabits(speed ?? 0), dollars(price.dollars), dollars(price.dollars / links))}
    </p>
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
