// Cost breakdown of designs: one stacked bar each, with parts in equal order and colour. Arrow keys move between bars and parts.
import { useState } from 'preact/hooks'
import { ChartFrame } from '../../charts/frame'
import { count, dollars, percent } from '../../charts/format'
import { textWidth } from '../../charts/fit-text'
import { linear } from '../../charts/axes/scale'
import { Tooltip } from '../../charts/axes/tooltip'
import '../../charts/plot.css'
import type { Bill, CostAnswer } from './answer'
import { commandItem } from '../parts/command'
import { kindOf } from './names'
import * as texts from '../../words/network'

const PARTS = [
  { id: 'switches', title: texts.switchPorts, colour: 'var(--class-backward)', items: ['switch-port', 'switch', 'circuit-port'] },
  { id: 'transceivers', title: texts.transceivers, colour: 'var(--class-recompute)', items: ['transceiver'] },
  { id: 'cables', title: texts.cables, colour: 'var(--class-context)', items: [] as string[] },
  { id: 'nics', title: texts.nics, colour: 'var(--class-host)', items: ['nic'] },
] as const

interface Part {
  readonly id: string
  readonly title: string
  readonly colour: string
  readonly dollars: number
  readonly pieces: number
}

function partsOf(bill: Bill): Part[] {
  const named = new Set<string>(PARTS.flatMap((part) => [...part.items]))
  return PARTS.map((part) => {
    const lines = bill.lines.filter((line) =>
      part.id === 'cables' ? !named.has(line.item) : (part.items as readonly string[]).includes(line.item),
    )
    return {
      id: part.id,
      title: part.title,
      colour: part.colour,
      dollars: lines.reduce((sum, line) => sum + line.dollars, 0),
      pieces: lines.reduce((sum, line) => sum + line.count, 0),
    }
  }).filter((part) => part.dollars > 0)
}

const ROW = 34
const TOP = 8

export function CostBars({ answer, line }: { answer: CostAnswer; line: string }) {
  const bars = answer.designs.map((design) => ({ design, parts: partsOf(design.bill) }))
  return (
    <ChartFrame
      title={texts.whereTheDollarsGo}
      about={texts.devices(count(bars[0]?.design.bill.devices ?? 0))}
      name="network-cost"
      menu={commandItem(line)}
      rows={() => ({
        columns: ['design', ...PARTS.map((part) => part.id)],
        rows: bars.map((bar) => [bar.design.name, ...PARTS.map((part) => bar.parts.find((one) => one.id === part.id)?.dollars ?? 0)]),
      })}
    >
      {(width) => <Bars width={width} bars={bars} />}
    </ChartFrame>
  )
}

interface BarsProps {
  readonly width: number
  readonly bars: readonly { readonly design: CostAnswer['designs'][number]; readonly parts: readonly Part[] }[]
}

function Bars({ width, bars }: BarsProps) {
  const [at, setAt] = useState<{ bar: number; part: number } | null>(null)
  const left = Math.max(...bars.map((bar) => textWidth(kindOf(bar.design.name).title, 12)), 40) + 12
  const most = Math.max(...bars.map((bar) => bar.design.bill.total))
  const scale = linear([0, most], [left, width - textWidth(dollars(most), 12) - 14])
  const height = TOP + bars.length * ROW + 22
  const part = at && bars[at.bar]?.parts[at.part]
  const bill = at && bars[at.bar]?.design.bill
  const onKey = (event: KeyboardEvent) => {
    const here = at ?? { bar: 0, part: -1 }
    const last = (bar: number) => (bars[bar]?.parts.length ?? 1) - 1
    if (event.key === 'ArrowRight') setAt({ bar: here.bar, part: Math.min(last(here.bar), here.part + 1) })
    else if (event.key === 'ArrowLeft') setAt({ bar: here.bar, part: Math.max(0, here.part - 1) })
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const bar = Math.max(0, Math.min(bars.length - 1, here.bar + (event.key === 'ArrowDown' ? 1 : -1)))
      setAt({ bar, part: Math.max(0, Math.min(last(bar), here.part)) })
    } else if (event.key === 'Escape' && at) setAt(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  let x = 0
  return (
    <div class="chart-plot">
      <svg
        class="chart-svg"
        role="application"
        aria-roledescription={texts.stackedBars}
        aria-label={texts.dollarsByDesignAndPart}
        tabIndex={0}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        onKeyDown={onKey}
        onBlur={() => setAt(null)}
        onMouseLeave={() => setAt(null)}
      >
        {scale.ticks(Math.max(2, Math.floor((width - left) / 90))).map((tick) => (
          <g key={tick} aria-hidden="true">
            <line class="grid" x1={scale.at(tick)} x2={scale.at(tick)} y1={TOP} y2={height - 20} />
            <text class="tick" x={scale.at(tick)} y={height - 5} text-anchor="middle">
              {dollars(tick)}
            </text>
          </g>
        ))}
        {bars.map((bar, index) => {
          const y = TOP + index * ROW
          x = left
          return (
            <g key={bar.design.name}>
              <text x={left - 10} y={y + 21} text-anchor="end">
                {kindOf(bar.design.name).title}
              </text>
              {bar.parts.map((one, n) => {
                const from = x
                const wide = scale.at(one.dollars) - left
                x += wide
                const here = at?.bar === index && at.part === n
                return (
                  <g key={one.id} onMouseEnter={() => setAt({ bar: index, part: n })}>
                    <rect
                      x={from}
                      y={y + 5}
                      width={Math.max(0, wide - 1)}
                      height={ROW - 11}
                      style={{ fill: one.colour, stroke: here ? 'var(--text)' : 'none', strokeWidth: 1.5 }}
                    />
                  </g>
                )
              })}
              <text x={x + 6} y={y + 21}>
                {dollars(bar.design.bill.total)}
              </text>
            </g>
          )
        })}
      </svg>
      <ul class="chart-keys" aria-hidden="true">
        {PARTS.map((one) => (
          <li key={one.id}>
            <span class="swatch" style={{ background: one.colour }} />
            {one.title}
          </li>
        ))}
      </ul>
      <Tooltip
        tip={
          part && bill && at
            ? {
                title: `${kindOf(bars[at.bar]?.design.name ?? '').title}: ${part.title}`,
                lines: [
                  { name: 'dollars', value: dollars(part.dollars) },
                  { name: texts.ofTheNetwork, value: percent(part.dollars / bill.total) },
                  { name: part.id === 'cables' ? texts.metresAndCables : 'pieces', value: count(part.pieces) },
                  { name: texts.perDevice3, value: dollars(part.dollars / bill.devices) },
                ],
              }
            : null
        }
        x={left + 60}
        y={TOP + (at?.bar ?? 0) * ROW + ROW}
        width={width}
        height={height}
      />
    </div>
  )
}
