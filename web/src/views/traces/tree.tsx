// Time of a step as an expandable tree: labels, phases, families, kernels. Responsible for: rows that expand by click and by arrow keys.
// Children add up to their node.
import { useMemo, useRef, useState } from 'preact/hooks'
import { percent, span } from '../../timeline/time'
import { type Node, type Profile, classOf, words } from './types'
import * as texts from '../../words/traces'

interface Shown {
  readonly key: string
  readonly node: Node
  readonly depth: number
  readonly colour: string
}

/** Minimum share of the step of a listed node; the level above includes the rest. */
const LEAST = 0.0005

export function Tree({ profile }: { profile: Profile }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [focus, setFocus] = useState(0)
  const host = useRef<HTMLDivElement>(null)
  const samples = Math.max(1, profile.ranks * profile.steps.length)
  const rows = useMemo(() => {
    const out: Shown[] = []
    const walk = (nodes: readonly Node[], depth: number, path: string, colour: string) => {
      for (const node of nodes) {
        if (node.time_ns / samples / profile.step_time_ns < LEAST) continue
        const key = `${path}/${node.name}`
        const own = depth === 0 ? classOf(node.name) : colour
        out.push({ key, node, depth, colour: own })
        if (open.has(key)) walk(node.children ?? [], depth + 1, key, own)
      }
    }
    walk(profile.tree, 0, '', '')
    return out
  }, [profile, open])
  const toggle = (key: string, to?: boolean) => {
    const next = new Set(open)
    if (to ?? !next.has(key)) next.add(key)
    else next.delete(key)
    setOpen(next)
  }
  const go = (at: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, at))
    setFocus(next)
    host.current?.querySelectorAll<HTMLElement>('[role=treeitem]')[next]?.focus()
  }
  const strike = (event: KeyboardEvent, at: number) => {
    const row = rows[at]!
    const children = (row.node.children?.length ?? 0) > 0
    if (event.key === 'ArrowDown') go(at + 1)
    else if (event.key === 'ArrowUp') go(at - 1)
    else if (event.key === 'ArrowRight') {
      if (children && !open.has(row.key)) toggle(row.key, true)
      else go(at + 1)
    } else if (event.key === 'ArrowLeft') {
      if (open.has(row.key)) toggle(row.key, false)
      else {
        for (let up = at - 1; up >= 0; up--) {
          if (rows[up]!.depth < row.depth) {
            go(up)
            break
          }
        }
      }
    } else if (event.key === 'Enter' || event.key === ' ') toggle(row.key)
    else return
    event.preventDefault()
  }
  return (
    <div class="traces-tree" role="tree" aria-label={texts.timeOfAStepTop} ref={host}>
      {rows.map((row, at) => {
        const mean = row.node.time_ns / samples
        const share = mean / profile.step_time_ns
        const children = (row.node.children?.length ?? 0) > 0
        return (
          <div
            key={row.key}
            role="treeitem"
            aria-level={row.depth + 1}
            aria-expanded={children ? open.has(row.key) : undefined}
            aria-selected={at === focus}
            tabIndex={at === focus ? 0 : -1}
            class="traces-node"
            onClick={() => (setFocus(at), toggle(row.key))}
            onKeyDown={(event) => strike(event, at)}
          >
            <span class="traces-node-name" style={{ paddingLeft: `${row.depth * 16}px` }} title={row.node.name}>
              <span class="traces-chevron" aria-hidden="true">
                {children ? (open.has(row.key) ? '▾' : '▸') : ''}
              </span>
              {words(row.node.name)}
            </span>
            <span class="traces-node-bar">
              <span
                class={row.colour === 'bubble' ? 'hatched' : ''}
                style={{
                  width: `${Math.min(100, share * 100)}%`,
                  background: row.colour === 'bubble' ? undefined : `var(--class-${row.colour})`,
                }}
              />
            </span>
            <span class="number">{span(mean)}</span>
            <span class="number muted">{percent(share)}</span>
            <span class="number muted traces-node-count">{row.node.count > 0 ? `${row.node.count.toLocaleString('en')}×` : ''}</span>
          </div>
        )
      })}
    </div>
  )
}
