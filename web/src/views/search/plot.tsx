// Strategies as points: step time and memory or cost, with the Pareto front.
import { ChartFrame } from '../../charts/frame'
import { bytes, dollars, percent, probability, seconds } from '../../charts/format'
import { Scatter } from '../../charts/scatter/scatter'
import { type Point, front } from '../../charts/scatter/model'
import { Segments, set } from '../parts/controls'
import { short } from '../parts/strategy'
import type { Found } from './answer'
import { PREFIX, type Scope } from './question'
import { commandItem } from '../parts/command'
import * as texts from '../../words/search'

interface Props {
  readonly found: readonly Found[]
  /** Results of the search for the front, once available. */
  readonly onFront: readonly Found[]
  readonly looking: boolean
  readonly scope: Scope
  readonly line: string | undefined
  readonly pointed: string | null
  readonly stale: boolean
  readonly onPick: (one: Found) => void
}

/** Identifier of a strategy: equal strategies have equal commands. */
export function identify(one: Found): string {
  return one.command
}

export function Plot({ found, onFront, looking, scope, line, pointed, stale, onPick }: Props) {
  const cost = scope.against === 'cost'
  const all = new Map([...found, ...onFront].map((one) => [identify(one), one]))
  const valueX = (one: Found) => (cost ? (one.ranked.dollars_per_trillion_tokens ?? Number.NaN) : one.ranked.candidate.memory.device)
  const placed = [...all.values()]
    .map((one) => ({ one, x: valueX(one), y: one.ranked.candidate.step_time }))
    .filter((at) => Number.isFinite(at.x))
  const edge = front(placed)
  const isEdge = new Set(edge.map((at) => at.one))
  const several = new Set([...all.values()].map((one) => `${one.cluster} ${one.ranked.candidate.devices}`)).size > 1
  const points: Point[] = placed.map(({ one, x, y }) => {
    const { ranked } = one
    const where = several ? `${ranked.candidate.devices} × ${one.cluster} ` : ''
    return {
      id: identify(one),
      x,
      y,
      label: isEdge.has(one) ? `${where}${short(ranked.plan_summary)}` : undefined,
      weight: one === edge[0]?.one ? 2 : one === edge[edge.length - 1]?.one ? 1.5 : 1 / (1 + y),
      mark: isEdge.has(one) ? 'front' : ranked.candidate.tied_with_best ? 'plain' : 'faint',
      shape: isEdge.has(one) ? 'diamond' : 'circle',
      tip: {
        title: `${where}${ranked.plan_summary.split(',')[0] ?? ''}`,
        lines: [
          { name: 'step', value: seconds(y) },
          { name: 'memory', value: texts.ofText2(bytes(ranked.candidate.memory.device), bytes(ranked.candidate.device_memory)) },
          { name: texts.fitsWith, value: probability(ranked.candidate.probability_of_fitting) },
          { name: 'MFU', value: percent(ranked.mfu) },
          ...(ranked.dollars_per_trillion_tokens
            ? [{ name: texts.perTrillionTokens, value: dollars(ranked.dollars_per_trillion_tokens) }]
            : []),
        ],
        hint: `${ranked.plan_summary.split(', ').slice(1).join(', ')}. Click or Enter loads it.`,
      },
    }
  })
  const limits = new Set(found.map((one) => one.ranked.candidate.device_memory))
  const limit = limits.size === 1 ? [...limits][0] : undefined
  const near = limit !== undefined && Math.max(...placed.map((at) => at.x)) > limit * 0.8
  return (
    <ChartFrame
      title={texts.strategies2}
      about={`${texts.pointsDiamonds(points.length)}${looking ? texts.lookingForTheRest : ''}`}
      name="strategies"
      menu={commandItem(line)}
      stale={stale}
      tools={
        <Segments
          label={texts.stepTimeAgainst}
          value={scope.against}
          options={[
            ['memory', texts.againstMemory],
            ['cost', texts.againstCost],
          ]}
          onChange={(value) => set(PREFIX, 'against', value === 'memory' ? undefined : value)}
        />
      }
      rows={() => ({
        columns: ['strategy', 'step_s', 'memory_bytes', 'dollars_per_trillion_tokens', 'on_front'],
        rows: placed.map(({ one, y }) => [
          one.layout,
          y,
          one.ranked.candidate.memory.device,
          one.ranked.dollars_per_trillion_tokens,
          isEdge.has(one) ? 1 : 0,
        ]),
      })}
    >
      {(width) => (
        <Scatter
          width={width}
          title={cost ? texts.stepTimeAgainstCost : texts.stepTimeAgainstMemory}
          points={points}
          x={
            cost
              ? { title: texts.dollarsForATrillionTokens, format: dollars }
              : {
                  title: texts.memoryOfTheFullestDevice,
                  format: (value) => (value / 2 ** 30).toFixed(0),
                  ticks: gib(
                    placed.map((at) => at.x),
                    near ? limit : undefined,
                  ),
                }
          }
          y={{ title: texts.stepTimeS, format: (value) => String(Number(value.toPrecision(4))), log: true }}
          front={edge.map((at) => identify(at.one))}
          limit={!cost && near && limit !== undefined ? { x: limit, label: texts.device(bytes(limit)) } : undefined}
          picked={pointed}
          onPick={(id) => {
            const one = all.get(id)
            if (one) onPick(one)
          }}
          height={width > 900 ? 440 : 380}
          apart={44}
        />
      )}
    </ChartFrame>
  )
}

/** Whole gibibytes as ticks, round in the displayed unit. */
function gib(values: readonly number[], limit: number | undefined): number[] {
  const most = Math.max(...values, limit ?? 0) / 2 ** 30
  const least = Math.min(...values) / 2 ** 30
  const step = [0.5, 1, 2, 5, 10, 20, 50, 100].find((one) => (most - least) / one <= 8) ?? 200
  const ticks: number[] = []
  for (let at = Math.floor(least / step) * step; at <= most + step; at += step) ticks.push(at * 2 ** 30)
  return ticks
}
