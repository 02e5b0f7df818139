// Wait graph: boxes from left to right, on a phone from top to bottom, ending at the cause.
// Responsible for: drawing the boxes of `graph`, with keys and clicks. The verdict comes from the answer.
import { ChartFrame } from '../../charts/frame'
import { fitText } from '../../charts/fit-text'
import { type Box, chain } from './graph'
import { type Verdict, ranges } from './types'
import * as texts from '../../words/hang'

interface Props {
  readonly verdict: Verdict
  readonly chosen: string | undefined
  readonly choose: (id: string | undefined) => void
}

const HIGH = 66
const MOST = 40

export function Chain({ verdict, chosen, choose }: Props) {
  const all = chain(verdict)
  // All ends, and the waiting boxes nearest to an end.
  const boxes =
    all.length > MOST
      ? [...all.filter((box) => box.kind === 'stuck').slice(-(MOST - 8)), ...all.filter((box) => box.kind === 'root').slice(0, 8)]
      : all
  return (
    <ChartFrame
      title={texts.waitGraph}
      about={all.length > boxes.length ? texts.theNearestToAnEnd(boxes.length, all.length) : texts.arrowsPointToTheRank}
      name="wait-graph"
      rows={() => ({
        columns: ['group', 'number', 'operation', 'waiting', 'missing', texts.noDump],
        rows: verdict.stuck.map((one) => [
          one.group.name,
          one.sequence,
          one.operation,
          ranges(one.waiting),
          ranges(one.missing),
          ranges(one.unknown),
        ]),
      })}
    >
      {(width) => <Drawn boxes={boxes} width={width} chosen={chosen} choose={choose} />}
    </ChartFrame>
  )
}

function Drawn({
  boxes,
  width,
  chosen,
  choose,
}: {
  boxes: readonly Box[]
  width: number
  chosen: string | undefined
  choose: Props['choose']
}) {
  const levels = [...new Set(boxes.map((box) => box.depth))].sort((a, b) => b - a)
  const columns = levels.map((depth) => boxes.filter((box) => box.depth === depth))
  const upright = width < 560 || (width - (columns.length - 1) * 40) / columns.length < 170
  const wide = upright ? Math.min(width - 2, 420) : Math.min(340, (width - 2 - (columns.length - 1) * 40) / columns.length)
  const gap = upright ? 34 : Math.min(150, columns.length > 1 ? (width - 2 - wide * columns.length) / (columns.length - 1) : 0)
  const tall = Math.max(...columns.map((column) => column.length))
  const places = new Map<string, { x: number; y: number }>()
  let row = 0
  columns.forEach((column, level) => {
    column.forEach((box, at) => {
      // Columns are centred vertically on the tallest.
      const y = upright ? row + at * (HIGH + 10) : ((tall - column.length) / 2 + at) * (HIGH + 14)
      places.set(box.id, { x: upright ? 1 : 1 + level * (wide + gap), y: y + 1 })
    })
    row += column.length * (HIGH + 10) - 10 + gap
  })
  const height = upright ? row - gap + 2 : tall * (HIGH + 14) - 12
  return (
    <svg width={width} height={height} role="group" aria-label={texts.chainOfWaiting} font-size="12" class="hang-chain">
      <defs>
        <marker id="hang-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0,0.5L8,4L0,7.5z" fill="var(--muted)" />
        </marker>
      </defs>
      {boxes.flatMap((box) =>
        box.to.map((id) => {
          const [from, to] = [places.get(box.id), places.get(id)]
          if (!from || !to) return null
          return (
            <path
              key={`${box.id} ${id}`}
              d={arrow(from, to, wide, upright)}
              fill="none"
              stroke="var(--muted)"
              stroke-width="1.4"
              marker-end="url(#hang-arrow)"
            />
          )
        }),
      )}
      {boxes.map((box) => {
        const { x, y } = places.get(box.id)!
        const root = box.kind === 'root'
        return (
          <g
            key={box.id}
            role="button"
            tabIndex={0}
            aria-pressed={chosen === box.id}
            transform={`translate(${x} ${y})`}
            class="hang-box"
            onClick={() => choose(chosen === box.id ? undefined : box.id)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' && event.key !== ' ') return
              event.preventDefault()
              choose(chosen === box.id ? undefined : box.id)
            }}
          >
            <rect
              width={wide}
              height={HIGH}
              rx="6"
              fill={root ? 'var(--bad-soft)' : 'var(--surface)'}
              stroke={chosen === box.id ? 'var(--accent)' : root ? 'var(--bad)' : 'var(--line-strong)'}
              stroke-width={chosen === box.id ? 2 : 1}
            />
            <text x="12" y="21" font-weight="600" style={{ fill: root ? 'var(--bad)' : 'var(--text)' }}>
              {fitText(box.title, wide - 24, 12.6)}
            </text>
            {box.lines.map((line, at) => (
              <text key={at} x="12" y={38 + at * 16} style={{ fill: 'var(--muted)' }} font-size="11.5">
                {fitText(line, wide - 24, 11.5)}
              </text>
            ))}
          </g>
        )
      })}
    </svg>
  )
}

function arrow(from: { x: number; y: number }, to: { x: number; y: number }, wide: number, upright: boolean): string {
  if (upright) {
    const [x1, y1, x2, y2] = [from.x + 24, from.y + HIGH, to.x + 24, to.y]
    if (y2 >= y1) return `M${x1},${y1}L${x2},${y2 - 2}`
    return `M${from.x + wide},${from.y + 20}h10V${to.y + 20}h-8`
  }
  const [x1, y1, x2, y2] = [from.x + wide, from.y + HIGH / 2, to.x, to.y + HIGH / 2]
  // Arrows back along a cycle are below the boxes.
  if (x2 <= x1)
    return `M${from.x + wide / 2},${from.y + HIGH}C${from.x + wide / 2},${from.y + HIGH + 26} ${to.x + wide / 2},${to.y + HIGH + 26} ${to.x + wide / 2},${to.y + HIGH + 2}`
  const bend = (x2 - x1) / 2
  return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2 - 2},${y2}`
}
