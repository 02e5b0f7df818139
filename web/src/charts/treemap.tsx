// A treemap of two levels: groups with their names, leaves in their colours. Arrow keys move between leaves by size.
import { useState } from 'preact/hooks'
import { fitText } from './fit-text'
import { inkOn } from './ink'
import { Tip, type TipAt, within } from './tip'
import { type Box, type Branch, squarify } from './treemap-layout'

interface Props {
  readonly label: string
  readonly branches: readonly Branch[]
  readonly width: number
  readonly height: number
  readonly format: (value: number) => string
}

const HEAD = 16
const HEAD_WEIGHT = 550

export function Treemap(props: Props) {
  const [tip, setTip] = useState<TipAt | null>(null)
  const branches = props.branches
    .map((branch) => ({
      ...branch,
      value: branch.leaves.reduce((sum, leaf) => sum + leaf.value, 0),
      leaves: [...branch.leaves].sort((a, b) => b.value - a.value),
    }))
    .filter((branch) => branch.value > 0)
    .sort((a, b) => b.value - a.value)
  const total = branches.reduce((sum, branch) => sum + branch.value, 0)
  const boxes = squarify(
    branches.map((branch) => branch.value),
    { x: 0, y: 0, width: props.width, height: props.height },
  )
  let number = 0
  return (
    <>
      <svg width={props.width} height={props.height} role="group" aria-label={props.label} onKeyDown={walk}>
        {branches.map((branch, index) => {
          const box = boxes[index]
          if (!box || box.width < 1 || box.height < 1) return null
          const named = box.height > 30 && box.width > 34
          const inner: Box = {
            x: box.x + 1,
            y: box.y + (named ? HEAD : 1),
            width: box.width - 2,
            height: box.height - (named ? HEAD + 1 : 2),
          }
          const places = squarify(
            branch.leaves.map((leaf) => leaf.value),
            inner,
          )
          return (
            <g key={branch.title}>
              <rect
                x={box.x + 0.5}
                y={box.y + 0.5}
                width={box.width - 1}
                height={box.height - 1}
                fill="var(--sunken)"
                stroke="var(--line-strong)"
                stroke-width="0.8"
                rx="2"
              />
              {named && (
                <text x={box.x + 5} y={box.y + 12} style={{ fontWeight: HEAD_WEIGHT }}>
                  {heading(branch.title, props.format(branch.value), box.width - 10)}
                </text>
              )}
              {branch.leaves.map((leaf, which) => {
                const place = places[which]
                if (!place || place.width < 0.6 || place.height < 0.6) return null
                const ink = inkOn(leaf.colour)
                const room = place.width - 8
                const words = place.height > 15 ? fitText(leaf.title, room, 10.5) : ''
                const amount =
                  words && place.height > 30 && fitText(props.format(leaf.value), room, 10.5) === props.format(leaf.value)
                    ? props.format(leaf.value)
                    : ''
                const label = `${branch.title}, ${leaf.title}: ${props.format(leaf.value)}, ${((leaf.value / total) * 100).toFixed(1)}%`
                number += 1
                return (
                  <g
                    key={leaf.title}
                    role="img"
                    aria-label={label}
                    tabIndex={number === 1 ? 0 : -1}
                    data-leaf
                    onMouseMove={(event) =>
                      setTip({
                        ...within(event),
                        content: (
                          <>
                            <strong>{branch.title}</strong>
                            <br />
                            {leaf.title}: {props.format(leaf.value)} · {((leaf.value / total) * 100).toFixed(1)}%
                          </>
                        ),
                      })
                    }
                    onMouseLeave={() => setTip(null)}
                  >
                    <rect
                      x={place.x + 0.5}
                      y={place.y + 0.5}
                      width={Math.max(place.width - 1, 0.4)}
                      height={Math.max(place.height - 1, 0.4)}
                      fill={leaf.colour}
                      rx="1.5"
                    />
                    {words && (
                      <text x={place.x + 4} y={place.y + 13} style={{ fill: ink, fontSize: '10.5px' }} aria-hidden="true">
                        {words}
                      </text>
                    )}
                    {amount && (
                      <text x={place.x + 4} y={place.y + 26} style={{ fill: ink, fontSize: '10.5px' }} aria-hidden="true">
                        {amount}
                      </text>
                    )}
                  </g>
                )
              })}
            </g>
          )
        })}
      </svg>
      <Tip at={tip} width={props.width} />
    </>
  )
}

function heading(title: string, amount: string, room: number): string {
  const both = `${title}  ${amount}`
  return fitText(both, room, 11, HEAD_WEIGHT) === both ? both : fitText(title, room, 11, HEAD_WEIGHT)
}

function walk(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : event.key === 'ArrowLeft' || event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  const leaves = [...(event.currentTarget as Element).querySelectorAll<SVGGElement>('[data-leaf]')]
  const at = leaves.indexOf(document.activeElement as unknown as SVGGElement)
  const next = leaves[at + step]
  if (next) {
    event.preventDefault()
    next.focus()
  }
}
