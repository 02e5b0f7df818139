// Legend: colours with their names.
import * as texts from '../words/charts'

export interface LegendItem {
  readonly title: string
  readonly colour: string
  readonly note?: string
}

export function Legend(props: { items: readonly LegendItem[]; label?: string }) {
  return (
    <ul class="legend" aria-label={props.label ?? texts.colours}>
      {props.items.map((item) => (
        <li key={item.title}>
          <span class="swatch" style={{ background: item.colour }} />
          {item.title}
          {item.note && <span class="muted">{item.note}</span>}
        </li>
      ))}
    </ul>
  )
}
