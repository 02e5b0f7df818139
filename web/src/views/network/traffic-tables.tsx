// The sums of a step's traffic as tables: by exchange, pairs, domains, rails and links. Each is asked for when it is opened.
import type { Arguments } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { classColour } from '../../charts/colours'
import { count, percent, seconds, volume } from '../../charts/format'
import { Loading, Problems } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import { Segments } from '../parts/controls'
import type { TrafficAnswer } from './answer'
import { ShareBar, Swatched } from './bits'
import { layerName } from './names'
import { said, say } from './state'

const KINDS = [
  ['kind', 'exchanges'],
  ['pair', 'pairs'],
  ['domain', 'domains'],
  ['rail', 'rails'],
  ['link', 'links'],
] as const
type By = (typeof KINDS)[number][0]

const CLASSES: Readonly<Record<string, string>> = {
  same_domain: 'in one domain',
  same_rail: 'on one rail',
  other_rail: 'on different rails',
}

function by(): By {
  const open = said('by')
  return KINDS.some(([id]) => id === open) ? (open as By) : 'kind'
}

export function TrafficTable({ base, kinds }: { base: Arguments; kinds: TrafficAnswer }) {
  const open = by()
  const further = open === 'domain' || open === 'rail' || open === 'link'
  const live = useAnswer<TrafficAnswer>('network/traffic', further ? { ...base, by: open } : null)
  return (
    <section class="panel" aria-label="Traffic in figures">
      <div class="panel-head">
        <h2>By</h2>
        <Segments label="By" value={open} options={KINDS} onChange={(value) => say('by', value === 'kind' ? undefined : value)} />
      </div>
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {open === 'kind' && <Exchanges answer={kinds} />}
      {open === 'pair' && <Pairs answer={kinds} />}
      {further && !live.answer && live.problems.length === 0 && <Loading heights={[160]} />}
      {open === 'domain' && live.answer?.domains && <Domains answer={live.answer} />}
      {open === 'rail' && live.answer?.rails && <Rails answer={live.answer} />}
      {open === 'link' && live.answer?.links && <Links answer={live.answer} />}
    </section>
  )
}

type Row<K extends keyof TrafficAnswer> = NonNullable<TrafficAnswer[K]> extends readonly (infer R)[] ? R : never

function bytesColumn<R>(key: string, title: string, value: (row: R) => number, about?: string): Column<R> {
  return { key, title, about, value, cell: (row) => (value(row) === 0 ? <span class="muted">–</span> : volume(value(row))), align: 'right' }
}

function Exchanges({ answer }: { answer: TrafficAnswer }) {
  const inDomain = (row: Row<'exchanges'>) => (row.sent > 0 ? row.by_class.same_domain / row.sent : 0)
  const columns: Column<Row<'exchanges'>>[] = [
    {
      key: 'for',
      title: 'For',
      value: (row) => `${row.dimension} ${row.kind.replaceAll('_', ' ')} ${row.purpose}`,
      cell: (row) => (
        <Swatched colour={classColour(row.dimension)}>
          <span title={row.phases.join(', ')}>
            {row.dimension} {row.kind.replaceAll('_', ' ')}
            <span class="muted under">{row.purpose}</span>
          </span>
        </Swatched>
      ),
    },
    { key: 'ranks', title: 'Ranks', value: (row) => row.ranks, cell: (row) => count(row.ranks), align: 'right' },
    bytesColumn('bytes', 'One call', (row) => row.bytes, 'Bytes by the convention of nccl-tests'),
    { key: 'count', title: 'Calls', value: (row) => row.count, cell: (row) => count(row.count), align: 'right' },
    bytesColumn('sent', 'Sent', (row) => row.sent),
    { key: 'share', title: 'Share', value: (row) => row.share, cell: (row) => percent(row.share), align: 'right' },
    {
      key: 'inside',
      title: 'Inside',
      about: 'Share that stays in scale-up domains',
      value: inDomain,
      cell: (row) => percent(inDomain(row)),
      align: 'right',
    },
  ]
  return <Table caption="Exchanges of a step" columns={columns} rows={answer.exchanges} identify={(_, index) => index} maxHeight="560px" />
}

function Pairs({ answer }: { answer: TrafficAnswer }) {
  const columns: Column<Row<'pairs'>>[] = [
    { key: 'class', title: 'Pairs', value: (row) => CLASSES[row.class] ?? row.class },
    { key: 'pairs', title: 'Number', value: (row) => row.pairs, cell: (row) => count(row.pairs), align: 'right' },
    { key: 'talking', title: 'Talking', value: (row) => row.talking, cell: (row) => count(row.talking), align: 'right' },
    bytesColumn('bytes', 'Sent', (row) => row.bytes),
    { key: 'share', title: 'Share', value: (row) => row.share, cell: (row) => percent(row.share), align: 'right' },
    bytesColumn('mean', 'Mean of talking', (row) => row.mean),
    bytesColumn('most', 'Most', (row) => row.most),
  ]
  return <Table caption="Pairs of ranks" columns={columns} rows={answer.pairs} identify={(row) => row.class} />
}

function Domains({ answer }: { answer: TrafficAnswer }) {
  const most = Math.max(...(answer.domains ?? []).map((row) => row.inside))
  const columns: Column<Row<'domains'>>[] = [
    { key: 'domain', title: 'Domain', value: (row) => row.domain, align: 'right' },
    bytesColumn('inside', 'Stays inside', (row) => row.inside),
    {
      key: 'bar',
      title: 'Of the most',
      value: (row) => row.inside,
      cell: (row) => <ShareBar share={row.inside / most} colour="var(--class-tensor)" />,
    },
    bytesColumn('sent', 'Leaves', (row) => row.sent),
    bytesColumn('received', 'Arrives', (row) => row.received),
  ]
  return <Table caption="Scale-up domains" columns={columns} rows={answer.domains ?? []} identify={(row) => row.domain} maxHeight="560px" />
}

function Rails({ answer }: { answer: TrafficAnswer }) {
  const most = Math.max(...(answer.rails ?? []).map((row) => row.along))
  const columns: Column<Row<'rails'>>[] = [
    { key: 'rail', title: 'Rail', value: (row) => row.rail, align: 'right' },
    { key: 'devices', title: 'Devices', value: (row) => row.devices, cell: (row) => count(row.devices), align: 'right' },
    bytesColumn('along', 'Along the rail', (row) => row.along),
    {
      key: 'bar',
      title: 'Of the most',
      value: (row) => row.along,
      cell: (row) => <ShareBar share={row.along / most} colour="var(--class-data)" />,
    },
    bytesColumn('sent', 'To other rails', (row) => row.sent),
    bytesColumn('received', 'From other rails', (row) => row.received),
  ]
  return <Table caption="Rails" columns={columns} rows={answer.rails ?? []} identify={(row) => row.rail} />
}

function Links({ answer }: { answer: TrafficAnswer }) {
  const columns: Column<Row<'links'>>[] = [
    { key: 'layer', title: 'Layer', value: (row) => `${layerName(row.layer)} ${row.direction}` },
    { key: 'links', title: 'Links', value: (row) => row.links, cell: (row) => count(row.links), align: 'right' },
    { key: 'used', title: 'Used', value: (row) => row.used, cell: (row) => count(row.used), align: 'right' },
    bytesColumn('mean', 'Mean', (row) => row.mean),
    bytesColumn('most', 'Most', (row) => row.most),
    {
      key: 'busy',
      title: 'Busy',
      about: 'How long the busiest link is at work at its bandwidth: no step is shorter',
      value: (row) => row.busy,
      cell: (row) => seconds(row.busy),
      align: 'right',
    },
    { key: 'busiest', title: 'Busiest', value: (row) => (row.busiest ? `${row.busiest.from} to ${row.busiest.to}` : ''), wrap: true },
  ]
  return <Table caption="Links by layer" columns={columns} rows={answer.links ?? []} identify={(row) => `${row.layer} ${row.direction}`} />
}
