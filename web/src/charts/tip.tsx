// Box that follows the pointer or the focus within the body of a chart. It ignores pointer events.
import type { ComponentChildren } from 'preact'

export interface TipAt {
  readonly x: number
  readonly y: number
  readonly content: ComponentChildren
}

/** Placed inside the chart's body (which is positioned); `width` keeps it within. */
export function Tip(props: { at: TipAt | null; width: number }) {
  if (!props.at) return null
  const right = props.at.x > props.width / 2
  return (
    <div
      class="chart-tip"
      role="presentation"
      style={{
        top: `${props.at.y + 14}px`,
        ...(right ? { right: `${Math.max(0, props.width - props.at.x + 8)}px` } : { left: `${props.at.x + 20}px` }),
      }}
    >
      {props.at.content}
    </div>
  )
}

/** Position of an event within the body of the chart. */
export function within(event: MouseEvent): { x: number; y: number } {
  const body = (event.currentTarget as Element).closest('.body')?.getBoundingClientRect()
  return { x: event.clientX - (body?.left ?? 0), y: event.clientY - (body?.top ?? 0) }
}
