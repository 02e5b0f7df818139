// A tree of times as an icicle chart: the whole at the top, its parts below, widths proportional to time. A click or Enter zooms into a
// part, Escape or a click above zooms out; arrow keys move. Several trees share one scale.
import { useState } from 'preact/hooks'
import type { TimeNode } from '../api/answers'
import { timeColour } from './colours'
import { fitText } from './fit-text'
import { percent, seconds } from './format'
import { inkOn } from './ink'
import { Tip, type TipAt, within } from './tip'
import * as texts from '../words/charts'

export interface IcicleTree {
  /** `A`, `B`; empty if there is only one. */
  readonly label: string
  readonly root: TimeNode
}

interface Props {
  readonly trees: readonly IcicleTree[]
  readonly width: number
  /** Part that fills the width; by default the root. */
  readonly zoom: string
  readonly onZoom: (id: string) => void
  readonly pointed?: string | null
  readonly onPoint?: (id: string | null) => void
  /** Denominator of shares; by default the step. */
  readonly whole?: string
  /** Colour of a part; by default from its identifier. */
  readonly colour?: (id: string) => string
}

interface Meaning {
  readonly whole: string
  readonly colour: (id: string) => string
}

const ROW = 26
const GAP = 14
const INDENT = 18

interface Cell {
  readonly node: TimeNode
  readonly parent: TimeNode | null
  readonly depth: number
  readonly x: number
  readonly width: number
  readonly above: boolean
}

export function Icicle(props: Props) {
  const [tip, setTip] = useState<TipAt | null>(null)
  const meaning = { whole: props.whole ?? texts.theStep, colour: props.colour ?? timeColour }
  const labelled = props.trees.length > 1
  const left = labelled ? INDENT : 0
  const room = props.width - left
  const focused = props.trees.map((tree) => pathTo(tree.root, props.zoom))
  const most = Math.max(...props.trees.map((tree, index) => (focused[index]?.at(-1) ?? tree.root).time), 1e-12)
  const laid = props.trees.map((tree, index) => lay(focused[index] ?? [tree.root], room, most))
  const rows = laid.map((cells) => Math.max(...cells.map((cell) => cell.depth)) + 1)
  const height = rows.reduce((sum, count) => sum + count * ROW, 0) + GAP * (props.trees.length - 1)
  let top = 0
  return (
    <>
      <svg width={props.width} height={height} role="group" aria-label={texts.partsOfByTime(meaning.whole)}>
        <defs>
          <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" fill="var(--class-bubble)" />
            <line x1="0" y1="0" x2="0" y2="6" stroke="var(--faint)" stroke-width="1.2" stroke-opacity="0.55" />
          </pattern>
        </defs>
        {laid.map((cells, tree) => {
          const y = top
          top += (rows[tree] ?? 0) * ROW + GAP
          const label = props.trees[tree]?.label
          return (
            <g key={tree} transform={`translate(${left} ${y})`}>
              {labelled && (
                <text x={-INDENT} y={ROW / 2 + 4} style={{ fontWeight: 600 }}>
                  {label}
                </text>
              )}
              {cells.map((cell) => (
                <Part
                  key={`${cell.node.id}${cell.above}`}
                  cell={cell}
                  meaning={meaning}
                  first={cell.depth === 0}
                  pointed={props.pointed === cell.node.id}
                  onZoom={() =>
                    props.onZoom(
                      cell.node.id === props.zoom && cell.parent
                        ? cell.parent.id
                        : cell.node.children.length > 0
                          ? cell.node.id
                          : (cell.parent?.id ?? ''),
                    )
                  }
                  onOut={() => props.onZoom(cells.filter((one) => one.above).at(-1)?.node.id ?? '')}
                  onPoint={(event) => {
                    props.onPoint?.(event ? cell.node.id : null)
                    setTip(
                      event ? { ...within(event), content: <TipText node={cell.node} parent={cell.parent} whole={meaning.whole} /> } : null,
                    )
                  }}
                />
              ))}
              <g aria-hidden="true" pointer-events="none">
                {cells.map((cell) => (
                  <Words key={`${cell.node.id}${cell.above}`} cell={cell} meaning={meaning} />
                ))}
              </g>
            </g>
          )
        })}
      </svg>
      <Tip at={tip} width={props.width} />
    </>
  )
}

function TipText(props: { node: TimeNode; parent: TimeNode | null; whole: string }) {
  return (
    <>
      <strong>
        {props.parent && /^(forward|backward|recompute)/.test(props.node.title)
          ? `${props.parent.title}, ${props.node.title}`
          : props.node.title}
      </strong>
      <br />
      {seconds(props.node.time)} · {percent(props.node.share)} {texts.ofText2} {props.whole}
    </>
  )
}

function Part(props: {
  cell: Cell
  meaning: Meaning
  first: boolean
  pointed: boolean
  onZoom: () => void
  onOut: () => void
  onPoint: (event: MouseEvent | null) => void
}) {
  const { node, x, width, depth, above } = props.cell
  return (
    <g
      role="button"
      tabIndex={props.first ? 0 : -1}
      aria-label={texts.ofText(node.title, seconds(node.time), percent(node.share), props.meaning.whole)}
      style={{ cursor: node.children.length > 0 || above ? 'zoom-in' : 'default' }}
      onClick={props.onZoom}
      onMouseMove={props.onPoint}
      onMouseLeave={() => props.onPoint(null)}
      onKeyDown={(event) => walk(event, props.onZoom, props.onOut)}
      data-depth={depth}
    >
      <rect
        x={x}
        y={depth * ROW}
        width={Math.max(width, 0.5)}
        height={ROW - 2}
        rx={width > 6 ? 2 : 0}
        fill={fillOf(node.id, props.meaning)}
        opacity={above ? 0.55 : 1}
        stroke={props.pointed ? 'var(--text)' : 'var(--surface)'}
        stroke-width={props.pointed ? 1.5 : width > 3 ? 1 : 0}
      />
    </g>
  )
}

function fillOf(id: string, meaning: Meaning): string {
  return id === 'step' ? 'var(--sunken)' : id === 'bubble' ? 'url(#hatch)' : meaning.colour(id)
}

/** Labels of parts that fit. They are separate elements, because the parts have longer accessible names. */
function Words(props: { cell: Cell; meaning: Meaning }) {
  const { node, x, width, depth } = props.cell
  const plain = node.id === 'step' || node.id === 'bubble'
  const time = seconds(node.time)
  const title = fitText(node.title, width - 12)
  const both = title === node.title ? fitText(`${title}  ${time}`, width - 12) : ''
  const text = both.endsWith(time) ? both : title
  return text ? (
    <text x={x + 6} y={depth * ROW + ROW / 2 + 3} style={{ fill: plain ? 'var(--text)' : inkOn(props.meaning.colour(node.id)) }}>
      {text}
    </text>
  ) : null
}

function walk(event: KeyboardEvent, zoom: () => void, out: () => void): void {
  const here = event.currentTarget
  if (!(here instanceof SVGGElement)) return
  const cells = [...(here.parentElement?.querySelectorAll<SVGGElement>('[data-depth]') ?? [])]
  const depth = Number(here.dataset.depth)
  const box = here.getBoundingClientRect()
  const same = cells.filter((cell) => Number(cell.dataset.depth) === depth)
  const at = same.indexOf(here)
  const under = (wanted: number) =>
    cells.find((cell) => {
      const other = cell.getBoundingClientRect()
      return Number(cell.dataset.depth) === wanted && other.left < box.right - 0.5 && other.right > box.left + 0.5
    })
  const actions: Record<string, () => unknown> = {
    ArrowRight: () => same[at + 1],
    ArrowLeft: () => same[at - 1],
    ArrowDown: () => under(depth + 1),
    ArrowUp: () => under(depth - 1),
    Enter: zoom,
    ' ': zoom,
    Backspace: out,
    Escape: out,
  }
  const action = actions[event.key]
  if (!action) return
  event.preventDefault()
  event.stopPropagation()
  const next = action()
  if (next instanceof SVGGElement) next.focus()
}

/** Nodes from the root to one, or only the root if it is not found. */
function pathTo(root: TimeNode, id: string): TimeNode[] {
  if (root.id === id) return [root]
  for (const child of root.children) {
    const path = pathTo(child, id)
    if (path.at(-1)?.id === id) return [root, ...path]
  }
  return [root]
}

function lay(path: readonly TimeNode[], room: number, most: number): Cell[] {
  const cells: Cell[] = path
    .slice(0, -1)
    .map((node, depth) => ({ node, parent: path[depth - 1] ?? null, depth, x: 0, width: room, above: true }))
  const place = (node: TimeNode, parent: TimeNode | null, depth: number, x: number) => {
    const width = (node.time / most) * room
    if (width < 0.15) return
    cells.push({ node, parent, depth, x, width, above: false })
    let at = x
    for (const child of node.children) {
      place(child, node, depth + 1, at)
      at += (child.time / most) * room
    }
  }
  const zoomed = path.at(-1)
  if (zoomed) place(zoomed, path.at(-2) ?? null, path.length - 1, 0)
  return cells
}
