// Memory of a stage for the treemap: by module, layer or kind. Pure.
import type { MemoryItem } from '../../api/answers'
import { kindColour, words } from '../../charts/colours'
import type { Branch } from '../../charts/treemap-layout'
import * as texts from '../../words/calculator'

/** Sums items into two levels. */
export function branches(items: readonly MemoryItem[], by: string): Branch[] {
  const groups = new Map<string, Map<string, { title: string; value: number; colour: string }>>()
  for (const item of items) {
    const module = item.module ? words(item.module) : texts.noModule
    const group =
      by === 'kind'
        ? words(item.kind)
        : by === 'layer'
          ? item.layer === null
            ? item.module
              ? module
              : texts.noLayer
            : texts.layer(item.layer)
          : module
    const title = by === 'kind' ? module : by === 'layer' && item.layer !== null ? `${module}, ${words(item.kind)}` : words(item.kind)
    const leaves = groups.get(group) ?? new Map()
    const leaf = leaves.get(title) ?? { title, value: 0, colour: kindColour(item.kind) }
    leaf.value += item.bytes
    leaves.set(title, leaf)
    groups.set(group, leaves)
  }
  return [...groups].map(([title, leaves]) => ({ title, leaves: [...leaves.values()] }))
}
