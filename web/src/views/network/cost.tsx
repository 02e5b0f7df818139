// Bills of several designs side by side: where the dollars go, what is saved, where two designs cost the same, who is cheapest at which size.
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { count, dollars, percent, power } from '../../charts/format'
import { Lines } from '../../charts/lines/lines'
import { Loading, Problems } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import { Text } from '../parts/controls'
import type { CostAnswer } from './answer'
import { CostBars } from './cost-bars'
import { DesignChoice, DesignFields, Swatch } from './fields'
import { kindOf } from './names'
import { ownCluster, useOwnCluster } from './own-cluster'
import { chosenDesigns, designFlags, said, say } from './state'

type Priced = CostAnswer['designs'][number]

const switches = (row: Priced) => row.bill.counts.tiers.reduce((sum, tier) => sum + tier.switches, 0)

export function CostDesk() {
  const ready = useOwnCluster()
  const designs = chosenDesigns()
  const accelerator = said('accelerator') || ownCluster()?.accelerator.id
  const question = {
    designs,
    ...designFlags(),
    ...(accelerator ? { accelerator } : {}),
    ...(said('years') ? { years: said('years') } : {}),
  }
  const live = useAnswer<CostAnswer>('network/cost', ready ? question : null)
  const { answer } = live
  return (
    <>
      <section class="panel scope" aria-label="Designs and prices">
        <DesignChoice />
        <div class="entries">
          <DesignFields withKind={false} />
          <Text
            title="Accelerator"
            placeholder={ownCluster()?.accelerator.id ?? 'h100-sxm5-80gb'}
            about="For the network's share of the cluster"
            value={said('accelerator')}
            onChange={(value) => say('accelerator', value)}
          />
          <Text
            title="Years"
            placeholder="4"
            about="Years over which the network is paid"
            value={said('years')}
            onChange={(value) => say('years', value)}
          />
        </div>
      </section>
      {live.problems.length > 0 && <Problems problems={live.problems} />}
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
      title: 'Design',
      value: (row) => row.name,
      cell: (row) => (
        <span class="swatched">
          <Swatch id={row.design.kind} /> {row.name}
        </span>
      ),
    },
    { key: 'switches', title: 'Switches', value: switches, cell: (row) => count(switches(row)), align: 'right' },
    { key: 'total', title: 'With NICs', value: (row) => row.bill.total, cell: (row) => dollars(row.bill.total), align: 'right' },
    {
      key: 'device',
      title: 'A device',
      value: (row) => row.bill.total / row.bill.devices,
      cell: (row) => dollars(row.bill.total / row.bill.devices),
      align: 'right',
    },
    {
      key: 'saving',
      title: 'Saves',
      about: `Against ${first?.name ?? 'the first'}`,
      value: (row) => row.saving,
      cell: (row) => (row === first ? <span class="muted">–</span> : percent(row.saving).replace('-', '−')),
      align: 'right',
    },
    {
      key: 'parts',
      title: 'Ports, transceivers',
      about: `Saving of ports and transceivers alone, as in the chart at today’s prices`,
      value: (row) => row.saving_ports_and_transceivers,
      cell: (row) => (row === first ? <span class="muted">–</span> : percent(row.saving_ports_and_transceivers).replace('-', '−')),
      align: 'right',
    },
    { key: 'watts', title: 'Power', value: (row) => row.bill.watts, cell: (row) => power(row.bill.watts), align: 'right' },
    {
      key: 'share',
      title: 'Of cluster',
      about: 'Share of the dollars of network and devices together',
      value: (row) => row.share.of_dollars,
      cell: (row) => percent(row.share.of_dollars),
      align: 'right',
    },
    {
      key: 'year',
      title: 'A year',
      about: 'Network paid over the years, with its electricity',
      value: (row) => row.share.dollars_per_year,
      cell: (row) => dollars(row.share.dollars_per_year),
      align: 'right',
    },
  ]
  return (
    <section class="panel" aria-label="Costs">
      <div class="panel-head">
        <h2>
          Costs <span class="about">savings against {first?.name}</span>
        </h2>
      </div>
      <Table caption="Costs of designs" columns={columns} rows={answer.designs} identify={(row) => row.name} />
      <p class="table-more remarks">
        Devices: {answer.cluster.accelerator} at {dollars(answer.cluster.device_price)} each, over {answer.cluster.years} years (
        {answer.cluster.device_price_source})
      </p>
    </section>
  )
}

function BreakEven({ answer }: { answer: CostAnswer }) {
  const rows = answer.saving_by_port_price
  const against = answer.names[0] ?? ''
  if (rows.length === 0 || answer.names.length < 2) return null
  const factor = (value: number) => (value === 1 ? 'today' : `${Number(value.toPrecision(3))}×`)
  return (
    <ChartFrame
      title="Break-even"
      about={`ports and transceivers, saved against ${against}; catalogue prices, ports scaled`}
      name="network-break-even"
      rows={() => ({ columns: ['port_price_factor', ...answer.names.slice(1)], rows: rows.map((row) => [row.ratio, ...row.savings]) })}
    >
      {(width) => (
        <>
          <Lines
            width={width}
            title="Saving by the price of switch ports"
            x={{ title: 'price of switch ports over the catalogue’s', format: factor, log: true, ticks: rows.map((row) => row.ratio) }}
            y={{ title: 'saved (%)', format: (value) => `${Math.round(value * 100)}%`.replace('-', '−') }}
            marks={[{ x: 1, label: 'today' }]}
            series={answer.names.slice(1).map((name, index) => ({
              id: name,
              label: name,
              colour: kindOf(name).colour,
              dash: kindOf(name).dash,
              values: rows.map((row) => ({
                x: row.ratio,
                y: row.savings[index] ?? null,
                tip: {
                  title: name,
                  lines: [
                    { name: 'port prices', value: factor(row.ratio) },
                    { name: 'saved', value: percent(row.savings[index] ?? 0).replace('-', '−') },
                  ],
                },
              })),
            }))}
          />
          <ul class="remarks">
            {answer.break_even_by_port_price.map((one) => (
              <li key={`${one.expensive_ports} ${one.expensive_transceivers}`}>
                With ports at {Number(one.ratio.toPrecision(3))} of today’s prices, {one.expensive_ports} and {one.expensive_transceivers}{' '}
                cost the same. More expensive ports favour {one.expensive_ports}.
              </li>
            ))}
            {answer.break_even_by_port_price.length === 0 && <li>No two of these designs trade places at any price of ports.</li>}
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
      title="By size"
      about="dollars of network for each device, NICs included"
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
            title="Dollars a device by size"
            fromZero
            x={{
              title: 'devices',
              format: (value) => (value >= 1024 ? `${value / 1024}k` : String(value)),
              log: true,
              ticks: rows.map((row) => row.devices),
            }}
            y={{ title: 'dollars a device', format: (value) => `$${count(value)}` }}
            series={answer.names.map((name, index) => ({
              id: name,
              label: name,
              colour: kindOf(name).colour,
              dash: kindOf(name).dash,
              values: rows.map((row) => ({
                x: row.devices,
                y: row.per_device[index] ?? null,
                tip: {
                  title: name,
                  lines: [
                    { name: 'devices', value: count(row.devices) },
                    { name: 'a device', value: dollars(row.per_device[index] ?? 0) },
                    { name: 'cheapest here', value: row.name },
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
    if (last?.name === row.name) last.until = row.devices
    else parts.push({ name: row.name, until: row.devices })
  }
  return `Cheapest: ${parts.map((part, index) => (index === parts.length - 1 ? `${part.name} beyond` : `${part.name} up to ${count(part.until)}`)).join(', ')}.`
}
