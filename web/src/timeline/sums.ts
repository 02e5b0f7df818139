// Sums of a marked range of a modelled step, whose spans are all in the browser: by name, and as a tree of rows, classes and names. Pure.
import type { Name, Node, ProfileRangeAnswer } from '../api/schema/profile_range'
import type { Model } from './data'

/** What the table and the flame graph show, as the program answers it for measured rows. */
export type Sums = Pick<ProfileRangeAnswer, 'title' | 'ranks' | 'covered' | 'rows' | 'count' | 'names' | 'more_names' | 'tree'>

type Class = Name['class']

/**
 * Sums over the parts of spans within `from` to `to`, in nanoseconds, on some tracks. Spans of a row do not overlap, so that a share is the sum
 * over `(to - from) * rows`. A span that stands for merged ones counts as many, with their busy time.
 */
export function sumsOf(model: Model, { from, to }: { readonly from: number; readonly to: number }, tracks: readonly number[]): Sums {
  const chosen = tracks.flatMap((at) => model.tracks[at] ?? [])
  const whole = Math.max(1, (to - from) * chosen.length)
  const names = new Map<string, { name: string; class: Class; count: number; total: number; longest: number }>()
  const root = branch()
  for (const track of chosen) {
    for (let at = 0; at < track.count; at += 1) {
      const [start, end] = [track.starts[at]!, track.ends[at]!]
      const inside = Math.min(to, end) - Math.max(from, start)
      if (inside <= 0) continue
      const time = track.busy ? (track.busy[at]! * inside) / Math.max(1, end - start) : inside
      const count = track.counts?.[at] ?? 1
      const name = model.names[track.names[at]!] ?? ''
      const kind = (model.classes[track.colours[at]!] ?? 'other') as Class
      const key = `${kind} ${name}`
      const one = names.get(key) ?? { name, class: kind, count: 0, total: 0, longest: 0 }
      names.set(key, { ...one, count: one.count + count, total: one.total + time, longest: Math.max(one.longest, time / count) })
      root.add([track.name, kind, name], kind, count, time)
    }
  }
  const rows = [...names.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
  return {
    title: model.label,
    ranks: new Set(chosen.map((track) => track.rank)).size,
    covered: 0,
    rows: chosen.length,
    count: rows.reduce((all, one) => all + one.count, 0),
    names: rows.map(({ name, class: kind, count, total, longest }) => ({
      name,
      class: kind,
      count,
      total_ns: total,
      self_ns: total,
      mean_ns: total / count,
      longest_ns: longest,
      share: total / whole,
    })),
    more_names: 0,
    tree: root.node('range', null, whole),
  }
}

interface Branch {
  add(path: readonly string[], kind: Class, count: number, time: number): void
  node(name: string, kind: Class | null, whole: number): Node
}

/** A node of the tree while it is summed; the second level and below have a class. */
function branch(): Branch {
  let [counted, total] = [0, 0]
  const below = new Map<string, { readonly of: Branch; readonly kind: Class | null }>()
  return {
    add([head, ...rest], kind, count, time) {
      counted += count
      total += time
      if (head === undefined) return
      const child = below.get(head) ?? { of: branch(), kind: rest.length === 2 ? null : kind }
      below.set(head, child)
      child.of.add(rest, kind, count, time)
    },
    node(name, kind, whole) {
      const children = [...below].map(([title, child]) => child.of.node(title, child.kind, whole)).sort((a, b) => b.total_ns - a.total_ns)
      return { name, class: kind, count: children.length > 0 ? 0 : counted, total_ns: total, share: total / whole, children }
    },
  }
}
