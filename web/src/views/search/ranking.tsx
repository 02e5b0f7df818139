// The strategies as a table: sorted by any column, filtered by words, a row's strategy loaded by click or Enter.
import { bytes, dollars, percent, probability, relative, seconds } from '../../charts/format'
import { classColour } from '../../charts/colours'
import { type Column, Table } from '../../ui/table'
import { set } from '../parts/controls'
import type { Found, Spent } from './answer'
import { identify } from './plot'
import { PREFIX } from './question'
import * as texts from '../../words/search'

interface Props {
  readonly found: readonly Found[]
  readonly filter: string
  readonly pointed: string | null
  readonly onPoint: (id: string | null) => void
  readonly onPick: (one: Found) => void
}

const COLOURS: Readonly<Record<string, string>> = { compute: 'forward' }

export function spentColour(on: string): string {
  return classColour(COLOURS[on] ?? on)
}

export function Ranking({ found, filter, pointed, onPoint, onPick }: Props) {
  const several = new Set(found.map((one) => `${one.cluster} ${one.ranked.candidate.devices}`)).size > 1
  const columns: Column<Found>[] = [
    { key: 'rank', title: '#', value: (one) => one.ranked.rank, align: 'right' },
    {
      key: 'plan',
      title: texts.strategy,
      value: (one) => `${one.ranked.plan_summary} ${one.layout}`,
      cell: (one) => (
        <span class="plan">
          {one.ranked.plan_summary.split(',')[0]}
          <span class="muted">{one.ranked.plan_summary.split(',').slice(1).join(',')}</span>
        </span>
      ),
      wrap: true,
    },
    ...(several
      ? [
          {
            key: 'where',
            title: texts.on,
            value: (one: Found) => `${one.ranked.candidate.devices} × ${one.cluster}`,
          } satisfies Column<Found>,
        ]
      : []),
    {
      key: 'step',
      title: texts.step,
      value: (one) => one.ranked.candidate.step_time,
      cell: (one) => seconds(one.ranked.candidate.step_time),
      align: 'right',
    },
    {
      key: 'behind',
      title: texts.behind,
      about: texts.timePerTokenOverThe,
      value: (one) => one.ranked.behind,
      cell: (one) =>
        one.ranked.behind === 0 ? (
          texts.recommended
        ) : one.ranked.candidate.tied_with_best ? (
          <span title={texts.withinTheModelErrorOf}>
            {relative(1 + one.ranked.behind, 1)} {texts.tie}
          </span>
        ) : (
          relative(1 + one.ranked.behind, 1)
        ),
      align: 'right',
    },
    {
      key: 'mfu',
      title: texts.mfu,
      about: texts.modelFlopUtilisation,
      value: (one) => one.ranked.mfu,
      cell: (one) => percent(one.ranked.mfu),
      align: 'right',
    },
    {
      key: 'memory',
      title: texts.memory,
      about: texts.memoryOfTheFullestDevice2,
      value: (one) => one.ranked.candidate.memory.device,
      cell: (one) => bytes(one.ranked.candidate.memory.device),
      align: 'right',
    },
    {
      key: 'fits',
      title: texts.fits,
      about: texts.probabilityThatItStaysBelow,
      value: (one) => one.ranked.candidate.probability_of_fitting,
      cell: (one) => probability(one.ranked.candidate.probability_of_fitting),
      align: 'right',
    },
    {
      key: 'cost',
      title: texts.tTokens,
      value: (one) => one.ranked.dollars_per_trillion_tokens,
      cell: (one) => (one.ranked.dollars_per_trillion_tokens ? dollars(one.ranked.dollars_per_trillion_tokens) : '–'),
      align: 'right',
    },
    {
      key: 'spent',
      title: texts.whereTimeGoes,
      about: texts.computeExposedCommunicationByDimension,
      value: (one) => 1 - (one.ranked.spent.find((part) => part.on === 'compute')?.share ?? 0),
      cell: (one) => <SpentBar spent={one.ranked.spent} />,
    },
  ]
  return (
    <section class="panel" aria-label={texts.ranking}>
      <div class="panel-head">
        <h2>
          {texts.ranking} <span class="about">{texts.clickOrEnterLoadsA}</span>
        </h2>
        <input
          class="input"
          type="search"
          data-filter
          aria-label={texts.filterStrategies}
          placeholder={texts.filterPp16Zero1Full}
          value={filter}
          onInput={(event) => set(PREFIX, 'filter', event.currentTarget.value, 'replace')}
        />
      </div>
      <Table
        caption={texts.rankedStrategies}
        columns={columns}
        rows={found}
        identify={identify}
        filter={filter}
        chosen={pointed}
        first={25}
        onChoose={onPick}
        onPoint={(one) => onPoint(one && identify(one))}
      />
    </section>
  )
}

/** Time breakdown as one bar, with a text for screen readers. */
export function SpentBar({ spent, wide = false }: { spent: readonly Spent[]; wide?: boolean }) {
  const shown = spent.filter((part) => part.share >= 0.0005)
  const words = shown.map((part) => `${part.on} ${percent(part.share)}`).join(', ')
  return (
    <span class={wide ? 'spent-bar wide' : 'spent-bar'} role="img" aria-label={words} title={words}>
      {shown.map((part) => (
        <span key={part.on} style={{ width: `${part.share * 100}%`, background: spentColour(part.on) }} />
      ))}
    </span>
  )
}
