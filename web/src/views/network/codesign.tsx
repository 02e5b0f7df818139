// Co-design of network and strategy: every network with its best strategy, step time and dollars, and the Pareto front.
import { useEffect } from 'preact/hooks'
import { identity, type Arguments } from '../../api/ask'
import { ChartFrame } from '../../charts/frame'
import { dollars, percent, power, seconds } from '../../charts/format'
import { front } from '../../charts/scatter/model'
import { Scatter } from '../../charts/scatter/scatter'
import { useKeys } from '../../state/keys'
import { toArguments } from '../../state/run'
import { Empty, Problems, Ticked } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import { Text } from '../parts/controls'
import { loadStrategy } from '../parts/load'
import { LongJob } from '../parts/long-job'
import { Narrow } from '../parts/narrow'
import { spaceArguments } from '../parts/narrowing'
import { ProgressLine } from '../parts/progress'
import { RunBar } from '../parts/run-bar'
import { Several } from '../parts/several'
import { withoutLayout } from '../parts/strategy'
import { runParameters } from '../search/question'
import type { DesignAnswer, DesignRow } from './answer'
import { Swatch } from './fields'
import { KINDS, gigabits, kindOf } from './names'
import { NeedsRun } from './needs-run'
import { parameter, setParameter } from './state'
import { commandItem } from '../parts/command'
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
  return {
    ...toArguments(withoutLayout(run)),
    ...Object.fromEntries(Object.entries(lists).filter(([, value]) => value)),
    ...(parameter('scale-up')
      ? {
          'scale-up-price': parameter('scale-up')
            .split(/[\s,]+/)
            .filter(Boolean),
        }
      : {}),
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
  if (!asked) return <NeedsRun />
  const answer = state.answer?.answer
  const outdated = answer && !state.running && state.of !== identity('network/design', asked)
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
          <Text
            title={texts.domains}
            placeholder={texts.n8To576}
            about={texts.sizesOfScaleUpDomains}
            value={parameter('domains')}
            onChange={(value) => setParameter('domains', value)}
          />
          <Several
            title={texts.topologies}
            placeholder={texts.allTopologies}
            value={parameter('topologies')}
            options={KINDS.filter((one) => one.id !== 'scale-up').map((one) => [one.id, one.title] as const)}
            onChange={(value) => setParameter('topologies', value)}
          />
          <Text
            title={texts.oversubscription}
            placeholder="1,2,4"
            value={parameter('oversubscriptions')}
            onChange={(value) => setParameter('oversubscriptions', value)}
          />
          <Text
            title={texts.nicSpeeds}
            placeholder="200G,400G,800G"
            value={parameter('speeds')}
            onChange={(value) => setParameter('speeds', value)}
          />
          <Text
            title={texts.scaleUpPrices}
            placeholder="64=2500 256=6000"
            about={texts.addedPricePerDeviceOf}
            value={parameter('scale-up')}
            onChange={(value) => setParameter('scale-up', value)}
          />
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
      {state.problems.length > 0 && <Problems problems={state.problems} />}
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
          <Front answer={answer} line={state.answer?.commandLine} />
          <Rows answer={answer} />
        </div>
      )}
    </>
  )
}

function load(answer: DesignAnswer, row: DesignRow): void {
  const layout = answer.classes[row.class]?.layout
  if (layout) loadStrategy(layout)
}

function identify(row: DesignRow): string {
  return `${row.topology} ${row.domain} ${row.oversubscription} ${row.speed}`
}

function lines(answer: DesignAnswer, row: DesignRow): { name: string; value: string }[] {
  return [
    { name: 'step', value: row.step_time === null ? '–' : seconds(row.step_time) },
    { name: 'network', value: texts.aDevice2(dollars(row.dollars), dollars(row.dollars_per_device)) },
    { name: 'power', value: power(row.watts) },
    ...(row.share?.cluster?.dollars_per_million_tokens
      ? [{ name: texts.perMillionTokens, value: `$${row.share.cluster?.dollars_per_million_tokens.toPrecision(3)}` }]
      : []),
    { name: 'strategy', value: answer.classes[row.class]?.layout.split(' --').slice(0, 4).join(' ').replaceAll('--', '') ?? '' },
  ]
}

function Front({ answer, line }: { answer: DesignAnswer; line: string | undefined }) {
  const placed = answer.rows.flatMap((row) => (row.step_time === null ? [] : [{ row, x: row.dollars_per_device, y: row.step_time }]))
  const edge = front(placed)
  const isEdge = new Set(edge.map((at) => at.row))
  const kinds = [...new Set(placed.map((at) => at.row.topology))]
  return (
    <ChartFrame
      title={texts.stepTimeAgainstDollars}
      about={texts.networksEachWithTheBest(placed.length)}
      name="network-front"
      menu={commandItem(line)}
      rows={() => ({
        columns: ['topology', 'domain', 'oversubscription', 'speed_bytes_s', 'dollars_per_device', 'step_s', 'on_front'],
        rows: placed.map(({ row }) => [
          row.topology,
          row.domain,
          row.oversubscription,
          row.speed,
          row.dollars_per_device,
          row.step_time,
          isEdge.has(row) ? 1 : 0,
        ]),
      })}
    >
      {(width) => (
        <>
          <Scatter
            width={width}
            height={width > 900 ? 460 : 400}
            title={texts.stepTimeAgainstDollars}
            points={placed.map(({ row, x, y }) => ({
              id: identify(row),
              x,
              y,
              label: isEdge.has(row) ? `${row.domain} × ${gigabits(row.speed).replace(' Gbit/s', 'G')}` : undefined,
              weight: isEdge.has(row) ? 1 : 0,
              mark: isEdge.has(row) ? 'front' : 'faint',
              shape: kindOf(row.topology).shape,
              colour: kindOf(row.topology).colour,
              tip: {
                title: `${row.topology}, domains of ${row.domain}, ${gigabits(row.speed)}${row.oversubscription > 1 ? `, ${row.oversubscription}:1` : ''}`,
                lines: lines(answer, row),
                hint: 'Click or Enter loads the strategy',
              },
            }))}
            x={{
              title: texts.networkDollarsPerDevice,
              format: (value) => (value >= 1e4 ? `$${Number((value / 1e3).toPrecision(3))}k` : `$${Number(value.toPrecision(3))}`),
              log: true,
            }}
            y={{ title: texts.stepTimeS, format: (value) => String(Number(value.toPrecision(4))) }}
            front={edge.map((at) => identify(at.row))}
            onPick={(id) => {
              const found = placed.find((at) => identify(at.row) === id)
              if (found) load(answer, found.row)
            }}
          />
          <ul class="chart-keys">
            {kinds.map((id) => (
              <li key={id}>
                <Swatch id={id} /> {kindOf(id).title}
              </li>
            ))}
            <li class="muted">{texts.labelsDomainNicSpeedOf}</li>
          </ul>
          <ul class="remarks">
            {answer.warnings.map((warning) => (
              <li key={warning.id} class="warn">
                <Ticked text={warning.message} />
              </li>
            ))}
            {!answer.complete && <li class="warn">{texts.stoppedEarlyResultsSoFar}</li>}
          </ul>
        </>
      )}
    </ChartFrame>
  )
}

function Rows({ answer }: { answer: DesignAnswer }) {
  const columns: Column<DesignRow>[] = [
    {
      key: 'topology',
      title: texts.topology,
      value: (row) => row.topology,
      cell: (row) => (
        <span class="swatched">
          <Swatch id={row.topology} /> {row.topology}
        </span>
      ),
    },
    { key: 'domain', title: texts.domain, value: (row) => row.domain, align: 'right' },
    {
      key: 'over',
      title: texts.oversub,
      about: texts.bandwidthBelowALeafOver,
      value: (row) => row.oversubscription,
      cell: (row) => `${row.oversubscription}:1`,
      align: 'right',
    },
    { key: 'speed', title: texts.nic, value: (row) => row.speed, cell: (row) => gigabits(row.speed), align: 'right' },
    {
      key: 'step',
      title: texts.step,
      value: (row) => row.step_time,
      cell: (row) => (row.step_time === null ? '–' : seconds(row.step_time)),
      align: 'right',
    },
    {
      key: 'dollars',
      title: texts.perDevice2,
      value: (row) => row.dollars_per_device,
      cell: (row) => dollars(row.dollars_per_device),
      align: 'right',
    },
    { key: 'watts', title: texts.power, value: (row) => row.watts, cell: (row) => power(row.watts), align: 'right' },
    {
      key: 'share',
      title: texts.ofCluster,
      value: (row) => row.share?.of_dollars,
      cell: (row) => (row.share ? percent(row.share.of_dollars) : '–'),
      align: 'right',
    },
    {
      key: 'tokens',
      title: texts.mTokens,
      value: (row) => row.share?.cluster?.dollars_per_million_tokens,
      cell: (row) =>
        row.share?.cluster?.dollars_per_million_tokens ? `$${row.share.cluster?.dollars_per_million_tokens.toFixed(3)}` : '–',
      align: 'right',
    },
    {
      key: 'mark',
      title: texts.mark,
      value: (row) => (row.cheapest_token ? texts.cheapestToken : row.on_front ? texts.frontOfItsDomain : ''),
      cell: (row) =>
        row.cheapest_token ? (
          <span class="badge good">{texts.cheapestToken}</span>
        ) : row.on_front ? (
          <span class="badge">{texts.frontOfItsDomain}</span>
        ) : (
          ''
        ),
    },
    {
      key: 'layout',
      title: texts.strategy,
      value: (row) => answer.classes[row.class]?.layout ?? '',
      cell: (row) => <code>{answer.classes[row.class]?.layout.replaceAll('--', '')}</code>,
      wrap: true,
    },
  ]
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
          value={parameter('filter')}
          onInput={(event) => setParameter('filter', event.currentTarget.value, 'replace')}
        />
      </div>
      <Table
        caption={texts.networksWithTheirStrategies}
        columns={columns}
        rows={answer.rows}
        identify={identify}
        sorting={{ key: 'step', down: false }}
        filter={parameter('filter')}
        first={30}
        onChoose={(row) => load(answer, row)}
      />
    </section>
  )
}
