// Tooltip of a chart: a small table next to the pointer or the keyboard cursor, also for screen readers. It is placed on the side with more
// room, so that it does not cover its point.
import type { ComponentChildren } from 'preact'

export interface Line {
  readonly name: string
  readonly value: string
}

export interface Tip {
  readonly title: string
  readonly lines: readonly Line[]
  /** Available action: `Enter loads it into the calculator`. */
  readonly hint?: string
}

interface Props {
  readonly tip: Tip | null
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const WIDE = 260

/** The box; its parent must be positioned. */
export function Tooltip({ tip, x, y, width, height }: Props) {
  const onLeft = x > width - WIDE && x > width / 2
  const style = {
    left: onLeft ? 'auto' : `${Math.max(0, Math.min(x + 14, width - WIDE))}px`,
    right: onLeft ? `${width - x + 14}px` : 'auto',
    top: y < height / 2 ? `${y + 10}px` : 'auto',
    bottom: y < height / 2 ? 'auto' : `${height - y + 10}px`,
  }
  return (
    <div class="chart-tip" role="status" aria-live="polite" style={style} hidden={!tip}>
      {tip && <TipBody tip={tip} />}
    </div>
  )
}

export function TipBody({ tip }: { tip: Tip }): ComponentChildren {
  return (
    <>
      <strong>{tip.title}</strong>
      <dl>
        {tip.lines.map((line) => (
          <div key={line.name}>
            <dt>{line.name}</dt>
            <dd>{line.value}</dd>
          </div>
        ))}
      </dl>
      {tip.hint && <p>{tip.hint}</p>}
    </>
  )
}
