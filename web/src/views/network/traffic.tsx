// Traffic between ranks in a step: a heat map of all or one parallel dimension, by ranks or by domains, and tables of the sums.
import { useMemo } from 'preact/hooks'
import type { Arguments } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { classColour } from '../../charts/colours'
import { count, percent, volume } from '../../charts/format'
import { Heatmap } from '../../charts/heatmap/heatmap'
import { dark } from '../../state/theme'
import { Loading, Problems } from '../../ui/states'
import { Choice, Figure, Segments, Switch } from '../parts/controls'
import { ProgramNotes } from '../parts/program-notes'
import { RunBar } from '../parts/run-bar'
import type { TrafficAnswer } from './answer'
import { Swatched } from './bits'
import { DesignFields } from './fields'
import { NeedsRun } from './needs-run'
import { runArguments } from './own-cluster'
import { kind, networkKeys, parameter, setParameter } from './state'
import { TrafficTable } from './traffic-tables'
import { commandItem } from '../parts/command'
import { RunProblems } from '../parts/run-problems'
import * as texts from '../../words/network'

const MOST_CELLS = 256
const CELLS = [
  ['ranks', 'ranks'],
  ['domains', 'domains'],
  ['rails', 'rails'],
] as const

export function TrafficDesk() {
  const run = runArguments()
  if (!run) return <NeedsRun />
  return <Traffic run={run} />
}

function Traffic({ run }: { run: Arguments }) {
  const onNetwork = parameter('on') === 'network'
  const algorithm = parameter('algorithm') || 'ring'
  const allToAll = parameter('all-to-all') || 'direct'
  const of = parameter('of') || 'all'
  const by = CELLS.find(([id]) => id === parameter('cells'))?.[0] ?? 'ranks'
  const base: Arguments = {
    ...run,
    algorithm,
    'all-to-all': allToAll,
    ...(onNetwork ? { topology: kind(), network: networkKeys() } : {}),
  }
  // The placement is part of the sums, which are cheap to compute; the matrix needs it for cells of whole domains.
  const sums = useAnswer<TrafficAnswer>('network/traffic', { ...base, by: 'kind' })
  const place = sums.answer?.place
  const domains = place ? Math.max(1, Math.ceil(place.ranks / place.domain)) : 0
  const side = !place ? 0 : by === 'domains' ? Math.min(domains, 1024) : Math.min(place.ranks, MOST_CELLS)
  const matrix = useAnswer<TrafficAnswer>(
    'network/traffic',
    side === 0 ? null : by === 'rails' ? { ...base, by: 'rail' } : { ...base, by: 'matrix', cells: side },
  )
  const squares = matrix.answer?.squares
  const square = squares?.find((one) => (one.dimension ?? 'all') === of) ?? squares?.[0]
  const perCell = matrix.answer?.per_cell ?? 1
  // While the next answer is pending, the old one has other cells, so nothing is drawn with wrong names.
  const ofRails = matrix.answer?.rails !== undefined
  const cellsFit = matrix.answer !== null && ofRails === (by === 'rails')
  const gridSide = cellsFit ? (ofRails ? (place?.rails ?? 0) : (matrix.answer?.side ?? 0)) : 0
  const grid = useMemo(() => ({ side: gridSide, cells: square?.cells ?? [] }), [gridSide, square])
  return (
    <>
      <section class="panel scope" aria-label={texts.runAndNetwork}>
        <RunBar fields={['model', 'cluster', 'gpus', 'global-batch', 'sequence-length']} />
        <div class="entries">
          <Choice
            title={texts.gathersAndReductions}
            value={algorithm}
            options={[
              ['ring', texts.ringsAlongRails],
              ['hierarchical', 'hierarchical'],
              ['direct', texts.allToAll2],
            ]}
            onChange={(value) => setParameter('algorithm', value === 'ring' ? undefined : value)}
          />
          <Choice
            title={texts.allToAll}
            value={allToAll}
            options={[
              ['direct', 'direct'],
              ['hierarchical', texts.throughDomains],
            ]}
            onChange={(value) => setParameter('all-to-all', value === 'direct' ? undefined : value)}
          />
          <Switch
            title={texts.onANetwork}
            about={texts.domainsRailsAndLinksOf}
            on={onNetwork}
            onChange={(on) => setParameter('on', on ? 'network' : undefined)}
          />
          {onNetwork && <DesignFields only={['radix', 'leaf-oversubscription']} />}
        </div>
      </section>
      <RunProblems problems={sums.problems} kept={sums.answer !== null} />
      {!sums.answer && sums.problems.length === 0 && <Loading heights={[64, 480]} />}
      {sums.answer && place && <ProgramNotes notes={sums.notes} chosen={sums.answer.chosen} />}
      {sums.answer && place && (
        <div class={`columns halves-2 ${sums.stale ? 'stale' : ''}`}>
          <ChartFrame
            title={texts.trafficMatrix}
            about={by === 'rails' ? texts.bytesAStepThatLeave : texts.bytesAStepFromA}
            name="traffic"
            menu={commandItem(matrix.commandLine)}
            stale={matrix.stale}
            tools={
              <Segments
                label={texts.cells}
                value={by}
                options={CELLS}
                onChange={(value) => setParameter('cells', value === 'ranks' ? undefined : value)}
              />
            }
            rows={() =>
              by === 'rails'
                ? { columns: ['from_rail', 'to_rail', 'bytes'], rows: (square?.cells ?? []).map((cell) => [...cell]) }
                : {
                    columns: ['from_first_rank', 'to_first_rank', 'ranks_per_cell', 'mean_bytes'],
                    rows: (square?.cells ?? []).map(([i, j, mean]) => [i * perCell, j * perCell, perCell, mean]),
                  }
            }
          >
            {(width) => (
              <>
                {squares && (
                  <div class="dimension-picks">
                    <Segments
                      label={texts.dimension}
                      value={(square?.dimension ?? 'all') as string}
                      options={squares.map(
                        (one) =>
                          [
                            one.dimension ?? 'all',
                            one.dimension ? (
                              <Swatched key={one.dimension} colour={classColour(one.dimension)}>
                                {one.dimension}
                              </Swatched>
                            ) : (
                              'all'
                            ),
                          ] as const,
                      )}
                      onChange={(value) => setParameter('of', value === 'all' ? undefined : value)}
                    />
                    <span class="muted">
                      {square &&
                        texts.aStep(
                          volume(square.bytes),
                          square.dimension ? texts.ofAll2(percent(square.bytes / (squares[0]?.bytes ?? 1))) : '',
                        )}
                    </span>
                  </div>
                )}
                {matrix.problems.length > 0 && <Problems problems={matrix.problems} />}
                {grid.side > 0 && (
                  <Heatmap
                    width={width}
                    title={texts.trafficFromRankToRank}
                    grid={grid}
                    theme={dark.value}
                    most={Math.min(width, by === 'rails' ? 480 : 760)}
                    rowTitle={texts.sending(by.slice(0, -1))}
                    columnTitle={texts.receiving(by.slice(0, -1))}
                    name={(index) => count(by === 'ranks' ? index * perCell : index)}
                    block={by !== 'ranks' ? 0 : place.domain / perCell >= 2 ? place.domain / perCell : 0}
                    format={volume}
                    tip={(row, column, value) => ({
                      title:
                        by !== 'ranks'
                          ? texts.to2(by.slice(0, -1), row, by.slice(0, -1), column)
                          : texts.to(span(row, perCell, place.ranks), span(column, perCell, place.ranks)),
                      lines: [
                        {
                          name: by !== 'rails' && perCell > 1 ? texts.aRankToARank : 'sends',
                          value: value === undefined ? 'nothing' : volume(value),
                        },
                        ...(by === 'ranks'
                          ? [
                              {
                                name: 'domains',
                                value: texts.to(Math.floor((row * perCell) / place.domain), Math.floor((column * perCell) / place.domain)),
                              },
                            ]
                          : []),
                      ],
                    })}
                  />
                )}
              </>
            )}
          </ChartFrame>
          <div class="columns">
            <Sums answer={sums.answer} />
            <TrafficTable base={base} kinds={sums.answer} />
          </div>
        </div>
      )}
    </>
  )
}

function span(cell: number, perCell: number, ranks: number): string {
  const first = cell * perCell
  const last = Math.min(ranks, first + perCell) - 1
  return first === last ? texts.rank(first) : texts.ranksTo(first, last)
}

function Sums({ answer }: { answer: TrafficAnswer }) {
  const { place } = answer
  return (
    <section class="panel" aria-label={texts.sums}>
      <div class="panel-head">
        <h2>
          {texts.sums} <span class="about">{answer.title}</span>
        </h2>
      </div>
      <div class="panel-body">
        <dl class="figures">
          <Figure title={texts.sentPerStep} note={texts.byEachRank(volume(answer.sent_per_rank))}>
            {volume(answer.sent)}
          </Figure>
          <Figure title={texts.staysInDomains} note={texts.domainsOf2(count(Math.ceil(place.ranks / place.domain)), place.domain)}>
            {percent(answer.inside_share)}
          </Figure>
          <Figure title={texts.silentPairs} note={texts.exchangeNoBytes}>{`${(answer.silent_share * 100).toFixed(2)}%`}</Figure>
        </dl>
        <ul class="dimension-bars" aria-label={texts.bytesByDimension}>
          {answer.dimensions.map((one) => (
            <li key={one.dimension}>
              <span>{one.dimension}</span>
              <span class="bar" aria-hidden="true">
                <span style={{ width: `${Math.max(one.share * 100, 0.3)}%`, background: classColour(one.dimension) }} />
              </span>
              <span class="right">{volume(one.bytes)}</span>
              <span class="right muted">{percent(one.share)}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
