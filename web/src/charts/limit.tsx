// A limit across a chart: a dashed line with its name on a plate, which stays readable over any colour of the data.
import { textWidth } from './fit-text'

interface Props {
  readonly from: number
  readonly to: number
  readonly y: number
  readonly title: string
  readonly dash?: string
}

const SIZE = 11
const PAD = 4

export function Limit({ from, to, y, title, dash = '5 3' }: Props) {
  const wide = textWidth(title, SIZE) + 2 * PAD
  return (
    <g pointer-events="none" class="limit">
      <line x1={from} x2={to} y1={y} y2={y} stroke="var(--bad)" stroke-width="1.2" stroke-dasharray={dash} />
      <rect x={to - wide} y={y - SIZE - PAD - 2} width={wide} height={SIZE + PAD} rx="3" fill="var(--surface)" />
      <text x={to - PAD} y={y - PAD - 1} text-anchor="end" class="on-data" style={{ fill: 'var(--bad)' }}>
        {title}
      </text>
    </g>
  )
}
