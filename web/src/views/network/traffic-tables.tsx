// Tables of a step's traffic: by collective, pairs, domains, rails and links. Each is fetched when opened.
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
import { parameter, setParameter } from './state'
import * as texts from '../../words/network'

const KINDS = [
  ['kind', 'operation'],
  ['pair', 'pair'],
  ['domain', 'domain'],
  ['rail', 'rail'],
  ['link', 'link'],
] as const
type By = (typeof KINDS)[number][0]

const CLASSES: Readonly<Record<string, string>> = {
  same_domain: texts.inOneDomain,
  same_rail: texts.onOneRail,
  other_rail: texts.onDifferentRails,
}

function by(): By {
  const open = parameter('by')
  return KINDS.some(([id]) => id === open) ? (open as By) : 'kind'
}

export function TrafficTable({ base, kinds }: { base: Arguments; kinds: TrafficAnswer }) {
  const open = by()
  const further = open === 'domain' || open === 'rail' || open === 'link'
  const live = useAnswer<TrafficAnswer>('network/traffic', further ? { ...base, by: open } : null)
  return (
    <section class="panel" aria-label={texts.trafficInFigures}>
      <div class="panel-head">
        <h2>{texts.by}</h2>
        <Segments
          label={texts.by}
          value={open}
          options={KINDS}
          onChange={(value) => setParameter('by', value === 'kind' ? undefined : value)}
        />
      </div>
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {open === 'kind' && <Exchanges answer={kinds} />}
      {open === 'pair' && <Pairs answer={kinds} />}
      {further && !live.answer && live.problems.length === 0 && <Loading heights={[160]} />}
      <div class={live.stale ? 'stale' : ''}>
        {open === 'domain' && live.answer?.domains && <Domains answer={live.answer} />}
        {open === 'rail' && live.answer?.rails && <Rails answer={live.answer} />}
        {open === 'link' && live.answer?.links && <Links answer={live.answer} />}
      </div>
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
      title: texts.forText,
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
    { key: 'ranks', title: texts.ranks, value: (row) => row.ranks, cell: (row) => count(row.ranks), align: 'right' },
    bytesColumn('bytes', texts.oneCall, (row) => row.bytes, texts.bytesByTheConventionOf),
    { key: 'count', title: texts.calls, value: (row) => row.count, cell: (row) => count(row.count), align: 'right' },
    bytesColumn('sent', 'Sent', (row) => row.sent),
    { key: 'share', title: texts.share, value: (row) => row.share, cell: (row) => percent(row.share), align: 'right' },
    {
      key: 'inside',
      title: texts.inside,
      about: texts.shareThatStaysInScale,
      value: inDomain,
      cell: (row) => percent(inDomain(row)),
      align: 'right',
    },
  ]
  return (
    <Table caption={texts.exchangesOfAStep} columns={columns} rows={answer.exchanges} identify={(_, index) => index} maxHeight="560px" />
  )
}

function Pairs({ answer }: { answer: TrafficAnswer }) {
  const columns: Column<Row<'pairs'>>[] = [
    { key: 'class', title: texts.pairs, value: (row) => CLASSES[row.class] ?? row.class },
    { key: 'pairs', title: texts.number, value: (row) => row.pairs, cell: (row) => count(row.pairs), align: 'right' },
    { key: 'talking', title: texts.communicating, value: (row) => row.talking, cell: (row) => count(row.talking), align: 'right' },
    bytesColumn('bytes', 'Sent', (row) => row.bytes),
    { key: 'share', title: texts.share, value: (row) => row.share, cell: (row) => percent(row.share), align: 'right' },
    bytesColumn('mean', texts.meanOfCommunicating, (row) => row.mean),
    bytesColumn('most', 'Most', (row) => row.most),
  ]
  return <Table caption={texts.pairsOfRanks} columns={columns} rows={answer.pairs} identify={(row) => row.class} />
}

function Domains({ answer }: { answer: TrafficAnswer }) {
  const most = Math.max(...(answer.domains ?? []).map((row) => row.inside))
  const columns: Column<Row<'domains'>>[] = [
    { key: 'domain', title: texts.domain, value: (row) => row.domain, align: 'right' },
    bytesColumn('inside', texts.staysInside, (row) => row.inside),
    {
      key: 'bar',
      title: texts.ofTheMost,
      value: (row) => row.inside,
      cell: (row) => <ShareBar share={row.inside / most} colour="var(--class-tensor)" />,
    },
    bytesColumn('sent', 'Leaves', (row) => row.sent),
    bytesColumn('received', 'Arrives', (row) => row.received),
  ]
  return (
    <Table caption={texts.scaleUpDomains} columns={columns} rows={answer.domains ?? []} identify={(row) => row.domain} maxHeight="560px" />
  )
}

function Rails({ answer }: { answer: TrafficAnswer }) {
  const most = Math.max(...(answer.rails ?? []).map((row) => row.along))
  const columns: Column<Row<'rails'>>[] = [
    { key: 'rail', title: texts.rail, value: (row) => row.rail, align: 'right' },
    { key: 'devices', title: texts.devices4, value: (row) => row.devices, cell: (row) => count(row.devices), align: 'right' },
    bytesColumn('along', texts.alongTheRail, (row) => row.along),
    {
      key: 'bar',
      title: texts.ofTheMost,
      value: (row) => row.along,
      cell: (row) => <ShareBar share={row.along / most} colour="var(--class-data)" />,
    },
    bytesColumn('sent', texts.toOtherRails, (row) => row.sent),
    bytesColumn('received', texts.fromOtherRails, (row) => row.received),
  ]
  return <Table caption={texts.rails} columns={columns} rows={answer.rails ?? []} identify={(row) => row.rail} />
}

function Links({ answer }: { answer: TrafficAnswer }) {
  const columns: Column<Row<'links'>>[] = [
    { key: 'layer', title: texts.layer, value: (row) => `${layerName(row.layer)} ${row.direction}` },
    { key: 'links', title: texts.links, value: (row) => row.links, cell: (row) => count(row.links), align: 'right' },
    { key: 'used', title: texts.used, value: (row) => row.used, cell: (row) => count(row.used), align: 'right' },
    bytesColumn('mean', 'Mean', (row) => row.mean),
    bytesColumn('most', 'Most', (row) => row.most),
    {
      key: 'busy',
      title: texts.busy,
      about: texts.busyTimeOfTheBusiest,
      value: (row) => row.busy,
      cell: (row) => seconds(row.busy),
      align: 'right',
    },
    { key: 'busiest', title: texts.busiest2, value: (row) => (row.busiest ? texts.to(row.busiest.from, row.busiest.to) : ''), wrap: true },
  ]
  return (
    <Table caption={texts.linksByLayer} columns={columns} rows={answer.links ?? []} identify={(row) => `${row.layer} ${row.direction}`} />
  )
}
