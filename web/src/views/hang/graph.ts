// Wait graph, as boxes and arrows: collectives with equal waits share one box, and the ranks at which the search ends are last.
// Responsible for: the boxes, their waits, and their position in the chain. Pure functions with their own tests. Excludes drawing.
import { type Stuck, type Verdict, STATES, causeText, ranges, who } from './types'
import * as texts from '../../words/hang'

export interface Box {
  readonly id: string
  readonly kind: 'stuck' | 'root'
  readonly title: string
  readonly lines: readonly string[]
  /** Indices in `stuck`, or in `roots`. */
  readonly of: readonly number[]
  /** Distance from the end of the chain. */
  readonly depth: number
  readonly to: readonly string[]
}

/** Ranks awaited by the ranks of a box, as in the verdict. */
function blamed(stuck: Stuck): readonly number[] {
  if (stuck.state !== 'not_entered') return []
  return stuck.missing.length > 0 ? stuck.missing : stuck.unknown
}

/** Boxes, those with the longest chain first. */
export function chain({ stuck, roots }: Verdict): Box[] {
  const targets = stuck.map((one, at) => {
    const to = new Set<string>()
    roots.forEach((root, place) => {
      if (
        root.stuck === at ||
        (root.cause !== 'transfer' && root.cause !== 'members_unknown' && blamed(one).some((rank) => root.ranks.includes(rank)))
      )
        to.add(texts.root(place))
    })
    for (const rank of blamed(one)) {
      const next = stuck.findIndex((other) => other.waiting.includes(rank))
      if (next >= 0 && next !== at) to.add(texts.stuck(next))
    }
    return to
  })
  // Merged if equal: call, state and awaited boxes.
  const merged = new Map<string, number[]>()
  stuck.forEach((one, at) => {
    const key = `${one.operation.replace(/\d+(<-|->)\d+/, '')} ${one.state} ${[...targets[at]!].sort().join(',')}`
    merged.set(key, [...(merged.get(key) ?? []), at])
  })
  const home = new Map<number, string>()
  for (const places of merged.values()) for (const at of places) home.set(at, texts.stuck(places[0]))
  const renamed = (id: string) => (id.startsWith('stuck ') ? (home.get(Number(id.slice(6))) ?? id) : id)
  const boxes: Omit<Box, 'depth'>[] = [...merged.values()].map((places) => {
    const own = texts.stuck(places[0])
    const all = places.map((at) => stuck[at]!)
    const first = all[0]!
    const waiting = [...new Set(all.flatMap((one) => one.waiting))]
    const to = [...new Set(places.flatMap((at) => [...targets[at]!].map(renamed)))].filter((id) => id !== own)
    return {
      id: own,
      kind: 'stuck',
      title: places.length === 1 ? `${first.operation} #${first.sequence}` : `${first.operation} × ${places.length}`,
      lines: [
        places.length === 1
          ? texts.group(first.group.name)
          : texts.inGroups(new Set(all.map((one) => `${one.group.name} ${one.group.ranks.join()}`)).size),
        `${waiting.length === 1 ? texts.rankWaits(waiting[0]) : texts.ranksWait(ranges(waiting))}, ${STATES[first.state]}`,
      ],
      of: places,
      to,
    }
  })
  for (const [at, root] of roots.entries())
    boxes.push({
      id: `root ${at}`,
      kind: 'root',
      title: who(root.ranks),
      lines: [causeText(root), root.last_operation ? texts.last(root.last_operation) : texts.nothingRecorded],
      of: [at],
      to: [],
    })
  const depth = depths(boxes)
  return boxes.map((box) => ({ ...box, depth: box.kind === 'root' ? 0 : (depth.get(box.id) ?? 1) })).sort((a, b) => b.depth - a.depth)
}

/** Length of the longest path to an end; a cycle counts each box once. */
function depths(boxes: readonly Omit<Box, 'depth'>[]): Map<string, number> {
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const known = new Map<string, number>()
  const walk = (id: string, path: ReadonlySet<string>): number => {
    const before = known.get(id)
    if (before !== undefined) return before
    const box = byId.get(id)
    if (!box || box.kind === 'root') return 0
    const ahead = box.to.filter((next) => !path.has(next)).map((next) => walk(next, new Set([...path, id])))
    const own = 1 + Math.max(0, ...ahead)
    known.set(id, own)
    return own
  }
  for (const box of boxes) if (box.kind === 'stuck') walk(box.id, new Set())
  return known
}
