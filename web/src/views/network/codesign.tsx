// Co-design of network and strategy: every network with its best strategy, step time and dollars, and the Pareto front.
import { useEffect } from 'preact/hooks'
import { identity, type Arguments } from '../../api/ask'
import { COUNT, GIGABITS, RATIO, plain } from '../../state/amounts'
import { useKeys } from '../../state/keys'
import { toArguments } from '../../state/run'
import { pairsText } from '../../state/settings'
import { Amounts } from '../../ui/amounts'
import { Chips } from '../../ui/chips'
import { Empty } from '../../ui/states'
import { loadStrategy } from '../parts/load'
import { LongJob } from '../parts/long-job'
import { Narrow } from '../parts/narrow'
import { spaceArguments } from '../parts/narrowing'
import { ProgressLine } from '../parts/progress'
import { RunBar } from '../parts/run-bar'
import { withoutLayout } from '../parts/strategy'
import { runParameters } from '../search/question'
import type { DesignAnswer, DesignRow } from './answer'
import { Front } from './codesign-front'
import { DesignRows } from './codesign-rows'
import { usedBy } from './codesign-scope'
import { DesignVerdict } from './codesign-verdict'
import { useTopologies } from './design-keys'
import { topologyOptions } from './fields'
import { NeedsRun } from './needs-run'
import { useOwnCluster } from './own-cluster'
import { PRICES, ScaleUpPrices, priceArguments, priced, pricesOf } from './scale-up-prices'
import { PriceList, priceList } from './price-list'
import { parameter, setParameter } from './state'
import { RunProblems } from '../parts/run-problems'
import * as texts from '../../words/network'

const designing = new LongJob<DesignAnswer>('network/design')

function question(): Arguments | null {
  const run = runParameters()
  if (!run.model || !run.cluster) return null
  const lists = {
    domains: parameter('domains'),
    topologies: parameter('topologies'),
    oversubscriptions: parameter('oversubscriptions'),
    speeds: parameter('speeds'),
  }
  const prices = priceArguments(parameter('scale-up'))
  return {
    ...toArguments(withoutLayout(run)),
    ...Object.fromEntries(Object.entries(lists).filter(([, value]) => value)),
    ...(prices.length > 0 ? { 'scale-up-price': prices } : {}),
    ...priceList(),
    ...(spaceArguments(parameter('space')).length > 0 ? { space: spaceArguments(parameter('space')) } : {}),
  }
}

export function CodesignDesk() {
  const asked = question()
  designing.useShown()
  const state = designing.state.value
  const ran = parameter('ran') === '1'
  const start = () => {
    if (!asked) return
    if (!ran) setParameter('ran', '1')
    designing.start(asked, true)
  }
  useEffect(() => {
    if (ran && asked && !state.running && state.of === '') designing.start(asked)
  }, [ran])
  useKeys(
    [
      { keys: 'r', title: texts.searchNetworksAndStrategies, group: 'Network', run: () => (asked ? start() : false) },
      { keys: 'Escape', title: texts.stop, group: 'Network', run: () => (designing.state.value.running ? designing.stop() : false) },
    ],
    [asked && identity('network/design', asked), ran],
  )
  const listed = useTopologies()
  useOwnCluster()
  if (!asked) return <NeedsRun />
  const answer = state.answer?.answer
  const outdated = answer && !state.running && state.of !== identity('network/design', asked)
  // What was searched is known of the question that is shown.
  const rows = outdated ? undefined : answer?.rows
  const unpriced = answer?.unpriced_domains ?? []
  return (
    <>
      <section class="panel scope" aria-label={texts.scope}>
        <RunBar fields={['model', 'cluster', 'gpus', 'global-batch', 'sequence-length']} />
        <form
          class="entries"
          onSubmit={(event) => {
            event.preventDefault()
            start()
          }}
        >
          <Amounts
            title={texts.domains}
            about={texts.sizesOfScaleUpDomains}
            unit={COUNT}
            auto={usedBy(rows, (row) => row.domain, COUNT)}
            value={parameter('domains')}
            onChange={(value) => setParameter('domains', value)}
          />
          <Amounts
            title={texts.oversubscription}
            about={texts.bandwidthBelowALeafOver}
            unit={RATIO}
            auto={usedBy(rows, (row) => row.oversubscription, RATIO)}
            value={parameter('oversubscriptions')}
            onChange={(value) => setParameter('oversubscriptions', value)}
          />
          <Amounts
            title={texts.nicSpeeds}
            about={texts.networkBandwidthOfOneDevice}
            unit={GIGABITS}
            auto={usedBy(rows, (row) => (row.speed * 8) / 1e9, GIGABITS)}
            value={parameter('speeds')}
            onChange={(value) => setParameter('speeds', value)}
          />
          <Chips
            title={texts.topologies}
            value={parameter('topologies')}
            options={topologyOptions(listed)}
            onChange={(value) => setParameter('topologies', value)}
          />
          <ScaleUpPrices value={parameter('scale-up')} unpriced={unpriced} onChange={(value) => setParameter('scale-up', value)} />
          <PriceList />
          <Narrow
            title={texts.narrowStrategiesTo}
            value={parameter('space')}
            onChange={(value) => setParameter('space', value)}
            run={toArguments(withoutLayout(runParameters()))}
          />
          <button type="submit" class="button primary push" disabled={state.running}>
            {state.running ? 'Searching' : 'Search'} <kbd>r</kbd>
          </button>
        </form>
      </section>
      <ProgressLine state={state} unit="networks" onStop={() => designing.stop()} />
      <RunProblems problems={state.problems} />
      {outdated && (
        <div class="outdated" role="status">
          {texts.theScopeHasChangedSince}
          <button type="button" class="button" onClick={start}>
            {texts.searchAgain}
          </button>
        </div>
      )}
      {!answer && !state.running && state.problems.length === 0 && (
        <Empty title={texts.searchNetworksAndStrategiesTogether} text={texts.topologiesDomainSizesOversubscriptionAnd}>
          <button type="button" class="button primary" onClick={start}>
            {texts.search}
          </button>
        </Empty>
      )}
      {answer && (
        <div class={`columns ${state.running || outdated ? 'stale' : ''}`} aria-busy={state.running}>
          <DesignVerdict
            answer={answer}
            unpriced={unpriced}
            onPrice={() => {
              setParameter('scale-up', pairsText([...pricesOf(parameter('scale-up')), ...priced(unpriced)], ' '))
              // The rows are there after the next frame.
              requestAnimationFrame(() =>
                [...document.querySelectorAll<HTMLInputElement>(`#${PRICES} input`)].find((field) => field.value === '')?.focus(),
              )
            }}
            onLoad={(group) => load(answer, group.rows[0])}
          />
          <Front answer={answer} line={state.answer?.commandLine} unpriced={unpriced} onLoad={(row) => load(answer, row)} />
          <DesignRows answer={answer} unpriced={unpriced} onLoad={(group) => load(answer, group.rows[0])} />
        </div>
      )}
    </>
  )
}

/** The strategy of a network into the calculator, on the domain and the NIC speed that it was found on. */
function load(answer: DesignAnswer, row: DesignRow): void {
  const layout = answer.classes[row.class]?.layout
  if (layout) loadStrategy(layout, { 'scale-up-domain': plain(row.domain), 'network-bandwidth': GIGABITS.write((row.speed * 8) / 1e9) })
}
