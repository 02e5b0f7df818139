// The networks of a co-design as a table: what decides first, the rest folded. Networks that agree in all figures share a line.
import { dollars, percent, power, seconds } from '../../charts/format'
import { type Column, Table } from '../../ui/table'
import { summaryOf } from '../parts/strategy'
import type { DesignAnswer } from './answer'
import { type Group, groupsOf, nameOf, sorted, stepOf } from './codesign-answer'
import { Swatch } from './fields'
import { gigabits } from './names'
import { parameter, setParameter } from './state'
import * as texts from '../../words/network'

interface Props {
  readonly answer: DesignAnswer
  /** Domain sizes whose extra price is not known. */
  readonly unpriced: readonly number[]
  readonly onLoad: (group: Group) => void
}

export function DesignRows({ answer, unpriced, onLoad }: Props) {
  const columns = columnsOf(answer, unpriced)
  const { first, rest } = sorted(groupsOf(answer))
  const filter = parameter('filter')
  return (
    <section class="panel" aria-label={texts.networks}>
      <div class="panel-head">
        <h2>
          {texts.networks} <span class="about">{texts.clickOrEnterLoadsA}</span>
        </h2>
        <input
          class="input"
          type="search"
          data-filter
          aria-label={texts.filterNetworks}
          placeholder={texts.filterRailOnly64}
          value={filter}
          onInput={(event) => setParameter('filter', event.currentTarget.value, 'replace')}
        />
      </div>
      <Table
        caption={texts.networksWithTheirStrategies}
        columns={columns}
        rows={first}
        identify={identify}
        filter={filter}
        first={30}
        onChoose={onLoad}
      />
      {rest.length > 0 && (
        <details class="rest" open={filter !== ''}>
          <summary>
            {texts.otherNetworks(
              rest.reduce((sum, group) => sum + group.rows.length, 0),
              rest.length,
            )}
          </summary>
          <Table
            caption={texts.networksOffTheFronts}
            columns={columns}
            rows={rest}
            identify={identify}
            filter={filter}
            first={30}
            onChoose={onLoad}
          />
        </details>
      )}
    </section>
  )
}

const identify = ({ rows: [row] }: Group): string => `${row.topology} ${row.domain} ${row.oversubscription} ${row.speed}`

function columnsOf(answer: DesignAnswer, unpriced: readonly number[]): Column<Group>[] {
  const isPriced = ({ rows: [row] }: Group) => !unpriced.includes(row.domain)
  // Without the price of its domain, a network costs at least what is known, and its cost per token is unknown.
  const tokens = (group: Group) => {
    const [row] = group.rows
    return isPriced(group) ? (row.simulated?.dollars ?? row.share.cluster?.dollars_per_million_tokens ?? null) : null
  }
  const mark = (group: Group) =>
    group.isContender
      ? answer.contenders.length > 1
        ? texts.equalCheapest
        : texts.cheapestToken
      : group.isFront
        ? texts.frontOfItsDomain
        : ''
  return [
    {
      key: 'topology',
      title: texts.topologiesOfEqualFigures,
      value: ({ rows }) => rows.map(nameOf).join(', '),
      cell: ({ rows }) => (
        <span class="names">
          {rows.map((row) => (
            <span key={nameOf(row)} class="swatched">
              <Swatch id={row.topology} /> {nameOf(row)}
            </span>
          ))}
        </span>
      ),
      wrap: true,
    },
    { key: 'domain', title: texts.domain, value: ({ rows: [row] }) => row.domain, align: 'right' },
    {
      key: 'speed',
      title: texts.nic,
      value: ({ rows: [row] }) => row.speed,
      cell: ({ rows: [row] }) => gigabits(row.speed),
      align: 'right',
    },
    {
      key: 'step',
      title: texts.step,
      value: ({ rows: [row] }) => stepOf(row),
      cell: ({ rows: [row] }) => {
        const step = stepOf(row)
        return step === null ? '–' : seconds(step)
      },
      align: 'right',
    },
    {
      key: 'dollars',
      title: texts.perDevice2,
      value: ({ rows: [row] }) => row.dollars_per_device,
      cell: (group) => `${isPriced(group) ? '' : '≥ '}${dollars(group.rows[0].dollars_per_device)}`,
      align: 'right',
    },
    {
      key: 'watts',
      title: texts.power,
      value: ({ rows: [row] }) => row.watts,
      cell: ({ rows: [row] }) => (row.watts === null ? texts.unknown : power(row.watts)),
      align: 'right',
    },
    {
      key: 'share',
      title: texts.ofCluster,
      value: ({ rows: [row] }) => row.share.of_dollars,
      cell: (group) =>
        group.rows[0].share.of_dollars === null ? '–' : `${isPriced(group) ? '' : '≥ '}${percent(group.rows[0].share.of_dollars)}`,
      align: 'right',
    },
    {
      key: 'tokens',
      title: texts.mTokens,
      about: texts.dollarsForAMillionTokens,
      value: tokens,
      cell: (group) => {
        const value = tokens(group)
        return value === null ? texts.unknown : `$${value.toPrecision(3)}`
      },
      align: 'right',
    },
    {
      key: 'mark',
      title: texts.mark,
      value: mark,
      cell: (group) => (mark(group) === '' ? '' : <span class={group.isContender ? 'badge good' : 'badge'}>{mark(group)}</span>),
    },
    {
      key: 'layout',
      title: texts.strategy,
      value: ({ rows: [row] }) => answer.classes[row.class]?.layout ?? '',
      cell: ({ rows: [row] }) => summaryOf(answer.classes[row.class]?.layout ?? ''),
      wrap: true,
    },
  ]
}
