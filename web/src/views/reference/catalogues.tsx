// The catalogues: models, accelerators, clusters, example runs; each row with all that is known of it and its source, and the way into the calculator.
import { useEffect, useState } from 'preact/hooks'
import type { Accelerator, ClusterEntry, ModelEntry } from '../../api/answers'
import { useAnswer } from '../../api/live'
import { start } from '../../api/start'
import { amount, bandwidth, bytes, count, dollars, flops, power, seconds } from '../../charts/format'
import { change, go, location, replaceRun } from '../../state/location'
import type { Column } from '../../ui/table'
import { Facts, Listed } from './listed'

interface Model extends ModelEntry {
  readonly hidden_size: number
  readonly vocabulary: number
  readonly max_positions: number
  readonly source: string
  readonly notes: string
}

/** One setting of the run, and the calculator. */
function use(values: Readonly<Record<string, string>>): void {
  go('calculator')
  change(values)
}

export function Models() {
  const live = useAnswer<{ models: readonly Model[] }>('models/list', {})
  const columns: Column<Model>[] = [
    { key: 'name', title: 'Model', value: (row) => `${row.name} ${row.aliases.join(' ')}`, cell: (row) => row.name },
    { key: 'family', title: 'Family', value: (row) => row.family },
    {
      key: 'parameters',
      title: 'Parameters',
      value: (row) => row.parameters.total,
      cell: (row) => amount(row.parameters.total),
      align: 'right',
    },
    {
      key: 'active',
      title: 'Active',
      about: 'of a token',
      value: (row) => row.parameters.active,
      cell: (row) => (row.parameters.active === row.parameters.total ? 'all' : amount(row.parameters.active)),
      align: 'right',
    },
    { key: 'layers', title: 'Layers', value: (row) => row.layers, align: 'right' },
    { key: 'hidden', title: 'Width', value: (row) => row.hidden_size, cell: (row) => count(row.hidden_size), align: 'right' },
    {
      key: 'positions',
      title: 'Positions',
      value: (row) => row.max_positions,
      cell: (row) => (row.max_positions > 0 ? count(row.max_positions) : '–'),
      align: 'right',
    },
  ]
  return (
    <Listed
      title="Models"
      about="Enter opens one; any other config.json works too"
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
              ['active for a token', count(row.parameters.active)],
              ['layers', row.layers],
              ['width', count(row.hidden_size)],
              ['vocabulary', count(row.vocabulary)],
              ['positions', row.max_positions > 0 ? count(row.max_positions) : 'none: not limited by an embedding'],
              ['also called', row.aliases.join(', ') || '–'],
              ['source', row.source],
              ...(row.notes ? [['notes', row.notes] as const] : []),
            ]}
          />
          <button type="button" class="button primary" onClick={() => use({ model: row.name })}>
            Use it in the calculator
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
    { key: 'name', title: 'Accelerator', value: (row) => `${row.name} ${row.id}`, cell: (row) => row.name },
    { key: 'vendor', title: 'Vendor', value: (row) => row.vendor },
    { key: 'year', title: 'Year', value: (row) => row.year, align: 'right' },
    {
      key: 'peak',
      title: '16-bit peak',
      about: 'dense, by the data sheet',
      value: peak,
      cell: (row) => or(peak(row), flops),
      align: 'right',
    },
    {
      key: 'measured',
      title: 'Measured',
      about: 'what large matrix products reach',
      value: (row) => row.measured_matmul,
      cell: (row) => or(row.measured_matmul, flops),
      align: 'right',
    },
    { key: 'memory', title: 'Memory', value: (row) => row.memory, cell: (row) => bytes(row.memory), align: 'right' },
    {
      key: 'bandwidth',
      title: 'Its bandwidth',
      value: (row) => row.memory_bandwidth,
      cell: (row) => bandwidth(row.memory_bandwidth),
      align: 'right',
    },
    {
      key: 'scale-up',
      title: 'Scale-up',
      value: (row) => row.scale_up_bandwidth,
      cell: (row) => or(row.scale_up_bandwidth, bandwidth),
      align: 'right',
    },
    { key: 'power', title: 'Power', value: (row) => row.power, cell: (row) => or(row.power, power), align: 'right' },
    {
      key: 'price',
      title: '$ an hour',
      value: (row) => row.price?.typical ?? null,
      cell: (row) => or(row.price?.typical, dollars),
      align: 'right',
    },
  ]
  return (
    <Listed
      title="Accelerators"
      about="Enter opens one, with sources"
      rows={live.answer?.accelerators ?? null}
      problems={live.problems}
      columns={columns}
      identify={(row) => row.id}
      details={(row) => (
        <>
          <h2>{row.name}</h2>
          <Facts
            of={[
              ['name here', <code>{row.id}</code>],
              ['architecture', `${row.vendor} ${row.architecture}, ${row.year}`],
              ...Object.entries(row.peak).map(([format, value]) => [`peak ${format}`, flops(value)] as const),
              ['measured matrix products', or(row.measured_matmul, flops)],
              ['memory', `${bytes(row.memory)} at ${bandwidth(row.memory_bandwidth)}`],
              [
                'scale-up',
                row.scale_up_bandwidth
                  ? `${row.scale_up_link ?? ''} ${bandwidth(row.scale_up_bandwidth)}, ${row.scale_up_domain} in a domain`
                  : '–',
              ],
              ['network', or(row.network_bandwidth, bandwidth)],
              ['to its host', or(row.host_bandwidth, bandwidth)],
              ['power', or(row.power, power)],
              [
                'price an hour',
                row.price?.typical
                  ? `${dollars(row.price.typical)}${row.price.low && row.price.high ? ` (${dollars(row.price.low)} to ${dollars(row.price.high)})` : ''}: ${row.price.source}`
                  : '–',
              ],
              ['source', row.source],
              ...(row.notes ? [['notes', row.notes] as const] : []),
            ]}
          />
          <button type="button" class="button primary" onClick={() => use({ cluster: row.id })}>
            Use it in the calculator
          </button>
        </>
      )}
    />
  )
}

export function Clusters() {
  const live = useAnswer<{ clusters: readonly ClusterEntry[] }>('clusters/list', {})
  const columns: Column<ClusterEntry>[] = [
    { key: 'name', title: 'Cluster', value: (row) => row.name },
    { key: 'accelerator', title: 'Accelerator', value: (row) => row.accelerator.name },
    { key: 'node', title: 'A node has', value: (row) => row.devices_per_node, align: 'right' },
    { key: 'domain', title: 'A domain', value: (row) => row.scale_up.domain_size, align: 'right' },
    {
      key: 'scale-up',
      title: 'Scale-up',
      value: (row) => row.scale_up.bandwidth,
      cell: (row) => `${row.scale_up.link} ${bandwidth(row.scale_up.bandwidth)}`,
      align: 'right',
    },
    {
      key: 'network',
      title: 'Network',
      value: (row) => row.network.bandwidth,
      cell: (row) => `${row.network.kind} ${bandwidth(row.network.bandwidth)}`,
      align: 'right',
    },
  ]
  return (
    <Listed
      title="Clusters"
      about="Enter opens one; a TOML file works too"
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
              ['a node has', row.devices_per_node],
              [
                'scale-up',
                `${row.scale_up.link}, ${bandwidth(row.scale_up.bandwidth)} a device, domains of ${row.scale_up.domain_size}${row.scale_up.in_network_reduction ? ', reduces in the network' : ''}`,
              ],
              ['network', `${row.network.kind}, ${bandwidth(row.network.bandwidth)} a device, ${seconds(row.network.latency)} latency`],
              ...row.network.tiers.map((tier) => [tier.name, `${count(tier.devices)} devices, ${tier.oversubscription}:1`] as const),
              ['host memory a device', or(row.host?.memory_per_device, bytes)],
              ['host power a device', or(row.host?.power_per_device, power)],
              ['source', row.source],
            ]}
          />
          <button type="button" class="button primary" onClick={() => use({ cluster: row.name })}>
            Use it in the calculator
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
    { key: 'name', title: 'Run', value: (row) => row.name },
    { key: 'about', title: 'What it is', value: (row) => row.about, wrap: true },
  ]
  return (
    <Listed
      title="Examples"
      about="run files to start from; Enter shows one"
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
              {Object.keys(location.value.parameters).includes('model') ? 'Put it in the place of the run' : 'Open it in the calculator'}
            </button>
          </>
        )
      }}
    />
  )
}
