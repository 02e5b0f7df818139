// Catalogues: models, accelerators, clusters, example runs; each row with its data and source, and a button to open it in the calculator.
import { useEffect, useState } from 'preact/hooks'
import type { Accelerator, ClusterEntry, ModelEntry } from '../../api/answers'
import { useAnswer } from '../../api/live'
import { start } from '../../api/start'
import { amount, bandwidth, bytes, count, dollars, flops, power, seconds } from '../../charts/format'
import { change, go, location, replaceRun } from '../../state/location'
import type { Column } from '../../ui/table'
import { Facts, Listed } from './listed'
import * as texts from '../../words/reference'

interface Model extends ModelEntry {
  readonly hidden_size: number
  readonly vocabulary: number
  readonly max_positions: number
  readonly source: string
  readonly notes: string
}

/** Sets one setting of the run, and opens the calculator. */
function use(values: Readonly<Record<string, string>>): void {
  go('calculator')
  change(values)
}

export function Models() {
  const live = useAnswer<{ models: readonly Model[] }>('models/list', {})
  const columns: Column<Model>[] = [
    { key: 'name', title: texts.model, value: (row) => `${row.name} ${row.aliases.join(' ')}`, cell: (row) => row.name },
    { key: 'family', title: texts.family, value: (row) => row.family },
    {
      key: 'parameters',
      title: texts.parameters,
      value: (row) => row.parameters.total,
      cell: (row) => amount(row.parameters.total),
      align: 'right',
    },
    {
      key: 'active',
      title: texts.active,
      about: texts.ofAToken,
      value: (row) => row.parameters.active,
      cell: (row) => (row.parameters.active === row.parameters.total ? 'all' : amount(row.parameters.active)),
      align: 'right',
    },
    { key: 'layers', title: texts.layers, value: (row) => row.layers, align: 'right' },
    { key: 'hidden', title: texts.width, value: (row) => row.hidden_size, cell: (row) => count(row.hidden_size), align: 'right' },
    {
      key: 'positions',
      title: texts.positions,
      value: (row) => row.max_positions,
      cell: (row) => (row.max_positions > 0 ? count(row.max_positions) : '–'),
      align: 'right',
    },
  ]
  return (
    <Listed
      title={texts.models}
      about={texts.enterOpensOneAnyOther}
      rows={live.answer?.models ?? null}
      problems={live.problems}
      columns={columns}
      identify={(row) => row.name}
      details={(row) => (
        <>
          <h2>{row.name}</h2>
          <Facts
            of={[
              ['parameters', count(row.parameters.total)],
              [texts.activeForAToken, count(row.parameters.active)],
              ['layers', row.layers],
              ['width', count(row.hidden_size)],
              ['vocabulary', count(row.vocabulary)],
              ['positions', row.max_positions > 0 ? count(row.max_positions) : texts.noneNotLimitedByAn],
              [texts.alsoCalled, row.aliases.join(', ') || '–'],
              ['source', row.source],
              ...(row.notes ? [['notes', row.notes] as const] : []),
            ]}
          />
          <button type="button" class="button primary" onClick={() => use({ model: row.name })}>
            {texts.useItInTheCalculator}
          </button>
        </>
      )}
    />
  )
}

const or = (value: number | null | undefined, text: (value: number) => string) => (value == null ? '–' : text(value))

export function Accelerators() {
  const live = useAnswer<{ accelerators: readonly Accelerator[] }>('gpus/list', {})
  const peak = (row: Accelerator) => row.peak.bf16 ?? row.peak.fp16 ?? null
  const columns: Column<Accelerator>[] = [
    { key: 'name', title: texts.accelerator, value: (row) => `${row.name} ${row.id}`, cell: (row) => row.name },
    { key: 'vendor', title: texts.vendor, value: (row) => row.vendor },
    { key: 'year', title: texts.year, value: (row) => row.year, align: 'right' },
    {
      key: 'peak',
      title: texts.n16BitPeak,
      about: texts.denseByTheDataSheet,
      value: peak,
      cell: (row) => or(peak(row), flops),
      align: 'right',
    },
    {
      key: 'measured',
      title: texts.measured,
      about: texts.reachedByLargeGemms,
      value: (row) => row.measured_matmul,
      cell: (row) => or(row.measured_matmul, flops),
      align: 'right',
    },
    { key: 'memory', title: texts.memory, value: (row) => row.memory, cell: (row) => bytes(row.memory), align: 'right' },
    {
      key: 'bandwidth',
      title: texts.itsBandwidth,
      value: (row) => row.memory_bandwidth,
      cell: (row) => bandwidth(row.memory_bandwidth),
      align: 'right',
    },
    {
      key: 'scale-up',
      title: texts.scaleUp,
      value: (row) => row.scale_up_bandwidth,
      cell: (row) => or(row.scale_up_bandwidth, bandwidth),
      align: 'right',
    },
    { key: 'power', title: texts.power, value: (row) => row.power, cell: (row) => or(row.power, power), align: 'right' },
    {
      key: 'price',
      title: texts.perHour,
      value: (row) => row.price?.typical ?? null,
      cell: (row) => or(row.price?.typical, dollars),
      align: 'right',
    },
  ]
  return (
    <Listed
      title={texts.accelerators}
      about={texts.enterOpensOneWithSources}
      rows={live.answer?.accelerators ?? null}
      problems={live.problems}
      columns={columns}
      identify={(row) => row.id}
      details={(row) => (
        <>
          <h2>{row.name}</h2>
          <Facts
            of={[
              [texts.nameHere, <code>{row.id}</code>],
              ['architecture', `${row.vendor} ${row.architecture}, ${row.year}`],
              ...Object.entries(row.peak).map(([format, value]) => [texts.peak(format), flops(value)] as const),
              [texts.measuredMatrixProducts, or(row.measured_matmul, flops)],
              ['memory', texts.at(bytes(row.memory), bandwidth(row.memory_bandwidth))],
              [
                'scale-up',
                row.scale_up_bandwidth
                  ? texts.inADomain(row.scale_up_link ?? '', bandwidth(row.scale_up_bandwidth), row.scale_up_domain)
                  : '–',
              ],
              ['network', or(row.network_bandwidth, bandwidth)],
              [texts.toItsHost, or(row.host_bandwidth, bandwidth)],
              ['power', or(row.power, power)],
              [
                texts.pricePerHour,
                row.price?.typical
                  ? `${dollars(row.price.typical)}${row.price.low && row.price.high ? texts.to2(dollars(row.price.low), dollars(row.price.high)) : ''}: ${row.price.source}`
                  : '–',
              ],
              ['source', row.source],
              ...(row.notes ? [['notes', row.notes] as const] : []),
            ]}
          />
          <button type="button" class="button primary" onClick={() => use({ cluster: row.id })}>
            {texts.useItInTheCalculator}
          </button>
        </>
      )}
    />
  )
}

export function Clusters() {
  const live = useAnswer<{ clusters: readonly ClusterEntry[] }>('clusters/list', {})
  const columns: Column<ClusterEntry>[] = [
    { key: 'name', title: texts.cluster, value: (row) => row.name },
    { key: 'accelerator', title: texts.accelerator, value: (row) => row.accelerator.name },
    { key: 'node', title: texts.perNode, value: (row) => row.devices_per_node, align: 'right' },
    { key: 'domain', title: texts.domain, value: (row) => row.scale_up.domain_size, align: 'right' },
    {
      key: 'scale-up',
      title: texts.scaleUp,
      value: (row) => row.scale_up.bandwidth,
      cell: (row) => `${row.scale_up.link} ${bandwidth(row.scale_up.bandwidth)}`,
      align: 'right',
    },
    {
      key: 'network',
      title: texts.network,
      value: (row) => row.network.bandwidth,
      cell: (row) => `${row.network.kind} ${bandwidth(row.network.bandwidth)}`,
      align: 'right',
    },
  ]
  return (
    <Listed
      title={texts.clusters}
      about={texts.enterOpensOneAToml}
      rows={live.answer?.clusters ?? null}
      problems={live.problems}
      columns={columns}
      identify={(row) => row.name}
      details={(row) => (
        <>
          <h2>{row.name}</h2>
          <Facts
            of={[
              ['accelerator', row.accelerator.name],
              [texts.perNode2, row.devices_per_node],
              [
                'scale-up',
                texts.aDeviceDomainsOf(
                  row.scale_up.link,
                  bandwidth(row.scale_up.bandwidth),
                  row.scale_up.domain_size,
                  row.scale_up.in_network_reduction ? texts.reducesInTheNetwork : '',
                ),
              ],
              ['network', texts.aDeviceLatency(row.network.kind, bandwidth(row.network.bandwidth), seconds(row.network.latency))],
              ...row.network.tiers.map((tier) => [tier.name, texts.devices1(count(tier.devices), tier.oversubscription)] as const),
              [texts.hostMemoryPerDevice, or(row.host?.memory_per_device, bytes)],
              [texts.hostPowerPerDevice, or(row.host?.power_per_device, power)],
              ['source', row.source],
            ]}
          />
          <button type="button" class="button primary" onClick={() => use({ cluster: row.name })}>
            {texts.useItInTheCalculator}
          </button>
        </>
      )}
    />
  )
}

interface Example {
  readonly name: string
  readonly about: string
  readonly run: Readonly<Record<string, unknown>>
}

export function Examples() {
  const [rows, setRows] = useState<readonly Example[] | null>(null)
  useEffect(() => {
    start().then(
      (given) => setRows((given.examples ?? []) as readonly Example[]),
      () => setRows([]),
    )
  }, [])
  const columns: Column<Example>[] = [
    { key: 'name', title: texts.run, value: (row) => row.name },
    { key: 'about', title: texts.description, value: (row) => row.about, wrap: true },
  ]
  return (
    <Listed
      title={texts.examples}
      about={texts.runFilesToStartFrom}
      rows={rows}
      problems={[]}
      columns={columns}
      identify={(row) => row.name}
      details={(row) => {
        const values = Object.entries(row.run)
          .filter(([, value]) => value !== null && value !== false)
          .map(([key, value]) => [key, String(value)] as const)
        return (
          <>
            <h2>{row.name}</h2>
            <p class="muted">{row.about}</p>
            <Facts of={values.map(([key, value]) => [key.replaceAll('-', ' '), value] as const)} />
            <button type="button" class="button primary" onClick={() => replaceRun(Object.fromEntries(values), 'calculator')}>
              {Object.keys(location.value.parameters).includes('model') ? texts.replaceTheRunWithIt : texts.openItInTheCalculator}
            </button>
          </>
        )
      }}
    />
  )
}
