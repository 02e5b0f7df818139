// The program's diagram of a design in the colours of the theme, with the load of each layer's links.
// Responsible for: fetching the diagram and colouring its links by the given loads. The program draws the network.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Arguments, type Problem, Refusal, askText, identity } from '../../api/ask'
import { unuse, use } from '../../api/used'
import { percent } from '../../charts/format'
import { Scroll } from '../parts/scroll'
import { layerName } from './names'
import * as texts from '../../words/network'

/** Load of the links of a layer, relative to their capacity over the shown time. */
export interface Load {
  readonly layer: string
  readonly mean: number
  readonly busiest: number
}

interface Props {
  readonly values: Arguments
  readonly label: string
  readonly loads?: readonly Load[]
}

export function Drawing({ values, label, loads }: Props) {
  const [text, setText] = useState('')
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const place = useRef({}).current
  useEffect(() => () => unuse(place), [])
  const key = identity('network/show', values)
  useEffect(() => {
    const abort = new AbortController()
    askText('network/show', values, 'svg', { signal: abort.signal }).then(
      ({ answer, commandLine }) => {
        use(place, { command: 'network/show:svg', arguments: values, outcome: 'yes', command_line: commandLine, answer })
        setText(answer)
        setProblems([])
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setProblems(error instanceof Refusal ? error.problems : [{ message: String(error) }])
      },
    )
    return () => abort.abort()
  }, [key])
  const inner = useMemo(() => drawing(text, loads ?? []), [text, loads])
  // A refusal stands above the answer before it, which keeps its diagram.
  if (!inner) return problems.length > 0 ? <p class="muted">{problems[0]?.message}</p> : null
  return (
    <Scroll class="drawing scrolls" label={label}>
      <div dangerouslySetInnerHTML={{ __html: inner }} />
    </Scroll>
  )
}

/** Colour of a link by its load in three steps; its width shows the same. */
export function levelOf(share: number): { readonly colour: string; readonly width: number; readonly name: string } {
  if (share >= 0.8) return { colour: 'var(--bad)', width: 2.6, name: 'above 80%' }
  if (share >= 0.4) return { colour: 'var(--class-tensor)', width: 1.9, name: '40% to 80%' }
  if (share >= 0.05) return { colour: 'var(--accent)', width: 1.4, name: '5% to 40%' }
  return { colour: 'var(--line-strong)', width: 0.8, name: 'below 5%' }
}

/** Legend of the levels, and the level of each layer. */
export function Loads({ loads }: { loads: readonly Load[] }) {
  return (
    <ul class="network-loads" aria-label={texts.loadOfLinksByLayer}>
      {loads.map((load) => {
        const level = levelOf(load.busiest)
        return (
          <li key={load.layer}>
            <svg width="26" height="8" data-decoration aria-hidden="true">
              <line x1="0" x2="26" y1="4" y2="4" style={{ stroke: level.colour }} stroke-width={level.width} />
            </svg>
            {layerName(load.layer)}{' '}
            <span class="muted">
              {texts.busiest} {percent(load.busiest)}
              {texts.mean} {percent(load.mean)}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

/** The program's diagram without its style sheet, which would apply to the whole page; the page sets its size. */
function drawing(text: string, loads: readonly Load[]): string {
  if (!text) return ''
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml')
  const svg = parsed.documentElement
  if (svg.nodeName !== 'svg') return ''
  for (const node of svg.querySelectorAll('style, script, foreignObject')) node.remove()
  for (const link of svg.querySelectorAll<SVGPathElement>('path[data-layer]')) {
    const load = loads.find((one) => one.layer === link.dataset.layer)
    if (!load) continue
    const level = levelOf(load.busiest)
    link.setAttribute('style', `stroke:${level.colour};stroke-width:${level.width};stroke-opacity:.9`)
  }
  const scaleUp = loads.find((one) => one.layer === 'scale-up')
  if (scaleUp)
    for (const domain of svg.querySelectorAll('rect.u'))
      domain.setAttribute('style', `stroke:${levelOf(scaleUp.busiest).colour};stroke-width:${levelOf(scaleUp.busiest).width}`)
  svg.removeAttribute('role')
  const [, , width = '960', height = '300'] = (svg.getAttribute('viewBox') ?? '').split(' ')
  // Removes the title line, because the frame has the title.
  svg.setAttribute('viewBox', `0 32 ${width} ${Number(height) - 32}`)
  svg.setAttribute('width', '100%')
  svg.removeAttribute('height')
  svg.setAttribute('style', `max-width:${Number(width) * 1.35}px`)
  svg.setAttribute('aria-hidden', 'true')
  return new XMLSerializer().serializeToString(svg)
}
