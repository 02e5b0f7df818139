// All ranks of the job as cells: cause, waiting, running, or without a dump. Each colour has a sign.
import { ChartFrame } from '../../charts/frame'
import type { Verdict } from './types'
import * as texts from '../../words/hang'

const KINDS = [
  ['root', '!', texts.originOfTheHang],
  ['waits', '…', 'waits'],
  ['fine', '', texts.inNoStuckCollective],
  ['damaged', '~', texts.inNoStuckCollectiveAccording],
  ['absent', '×', texts.noDump],
] as const

type Kind = (typeof KINDS)[number][0]

const FILL: Readonly<Record<Kind, string>> = {
  root: 'var(--bad)',
  waits: 'var(--warn-soft)',
  fine: 'var(--good-soft)',
  damaged: 'var(--surface)',
  absent: 'var(--surface)',
}
const INK: Readonly<Record<Kind, string>> = {
  root: 'var(--surface)',
  waits: 'var(--warn)',
  fine: 'var(--good)',
  damaged: 'var(--warn)',
  absent: 'var(--muted)',
}
const MOST = 16_384

export function RankGrid({ hang }: { hang: Verdict }) {
  const roots = new Set(hang.roots.flatMap((root) => root.ranks))
  const waiting = new Set(hang.stuck.flatMap((one) => one.waiting))
  const absent = new Set(hang.without_dump)
  const damaged = new Set(hang.damaged.map((one) => one.rank))
  const all = Array.from({ length: Math.min(hang.world_size, MOST) }, (_, rank) => rank)
  const kind = (rank: number): Kind =>
    roots.has(rank) ? 'root' : absent.has(rank) ? 'absent' : waiting.has(rank) ? 'waits' : damaged.has(rank) ? 'damaged' : 'fine'
  const counts = new Map<Kind, number>()
  for (const rank of all) counts.set(kind(rank), (counts.get(kind(rank)) ?? 0) + 1)
  return (
    <ChartFrame
      title={texts.ranks2}
      about={texts.dumpsOfRanks(
        hang.ranks.length.toLocaleString('en'),
        hang.world_size_listed ? '' : texts.atLeast,
        hang.world_size.toLocaleString('en'),
      )}
      name="hang-ranks"
      rows={() => ({ columns: ['rank', 'state'], rows: all.map((rank) => [rank, kind(rank)]) })}
    >
      {(width) => {
        const cell = all.length <= 64 ? 34 : all.length <= 512 ? 24 : all.length <= 2048 ? 14 : 8
        const columns = Math.max(1, Math.floor(width / cell))
        const rows = Math.ceil(all.length / columns)
        return (
          <>
            <svg
              width={width}
              height={rows * cell + 2}
              role="img"
              aria-label={KINDS.map(([name, , title]) => `${title}: ${counts.get(name) ?? 0}`).join('; ')}
              font-size={cell >= 24 ? 11 : 9}
            >
              {all.map((rank, at) => {
                const own = kind(rank)
                const [x, y] = [(at % columns) * cell + 1, Math.floor(at / columns) * cell + 1]
                return (
                  <g key={rank}>
                    <rect
                      x={x}
                      y={y}
                      width={cell - (cell > 10 ? 3 : 1)}
                      height={cell - (cell > 10 ? 3 : 1)}
                      rx={cell > 10 ? 3 : 0}
                      fill={FILL[own]}
                      stroke={INK[own]}
                      stroke-width={cell > 10 ? 1 : 0.5}
                      stroke-dasharray={own === 'absent' ? '2 2' : undefined}
                    >
                      <title>{texts.rank2(rank, KINDS.find(([name]) => name === own)?.[2])}</title>
                    </rect>
                    {cell >= 24 && (
                      <text
                        x={x + (cell - 3) / 2}
                        y={y + cell / 2 + 2.5}
                        text-anchor="middle"
                        style={{ fill: INK[own] }}
                        font-weight={own === 'root' ? 700 : 400}
                        pointer-events="none"
                      >
                        {rank}
                      </text>
                    )}
                  </g>
                )
              })}
            </svg>
            <ul class="hang-legend">
              {KINDS.filter(([name]) => (counts.get(name) ?? 0) > 0).map(([name, sign, title]) => (
                <li key={name}>
                  <span
                    class="hang-swatch"
                    style={{
                      background: FILL[name],
                      borderColor: INK[name],
                      color: INK[name],
                      borderStyle: name === 'absent' ? 'dashed' : 'solid',
                    }}
                    aria-hidden="true"
                  >
                    {sign}
                  </span>
                  {title} <b>{counts.get(name)}</b>
                </li>
              ))}
            </ul>
            {hang.world_size > MOST && (
              <p class="muted">
                {texts.theFirst} {MOST.toLocaleString('en')} {texts.ranksAreDrawn}
              </p>
            )}
          </>
        )
      }}
    </ChartFrame>
  )
}
