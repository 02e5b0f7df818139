// Frame of every chart: title, menu with PNG, SVG and CSV export, and the available width. The chart draws an `<svg>` or a `<canvas>`; the
// first one is exported.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { toast } from '../state/toasts'
import { download } from '../ui/clipboard'
import { Menu, type MenuItem } from '../ui/menu'
import { captionedHere, drawingOf } from './caption'
import { type Caption, type Rows, csvHead, csvText, pngFromSvg, svgText } from './export'
import { sourceText } from './source'
import * as texts from '../words/charts'

interface Props {
  readonly title: string
  /** Muted text after the title. */
  readonly about?: ComponentChildren
  /** File name without suffix. */
  readonly name: string
  /** Rows of the CSV; without them there is no CSV. */
  readonly rows?: () => Rows
  /** An SVG other than the displayed one, for canvases that can draw one. */
  readonly svg?: () => string
  /** Controls to the left of the menu. */
  readonly tools?: ComponentChildren
  readonly menu?: readonly MenuItem[]
  readonly stale?: boolean
  readonly class?: string
  /** Draws the chart; `width` is the width of the body, in CSS pixels. */
  readonly children: (width: number) => ComponentChildren
}

export function ChartFrame(props: Props) {
  const body = useRef<HTMLDivElement>(null)
  const width = useWidth(body)
  const items: MenuItem[] = [
    { title: texts.saveAsPng, run: () => void save('png') },
    { title: texts.saveAsSvg, run: () => void save('svg') },
    ...(props.rows ? [{ title: texts.saveAsCsv, run: () => void save('csv') }] : []),
    ...(props.menu ?? []),
  ]
  const save = async (format: 'png' | 'svg' | 'csv') => {
    try {
      const blob = await exported(format, body.current?.closest<HTMLElement>('section') ?? null, props)
      download(`${props.name}.${format}`, blob)
      toast(`${props.name}.${format} saved`)
    } catch (error) {
      toast(`${props.name}.${format}: ${error instanceof Error ? error.message : String(error)}`, { kind: 'refused' })
    }
  }
  return (
    <section class={`chart panel ${props.class ?? ''}`} aria-label={props.title}>
      <header>
        <h2>
          {props.title} {props.about && <span class="about">{props.about}</span>}
        </h2>
        {props.tools}
        <Menu label={`Save “${props.title}”`} items={items}>
          <span aria-hidden="true">⋯</span>
        </Menu>
      </header>
      <div class={`body ${props.stale ? 'stale' : ''}`} ref={body}>
        {width > 0 && props.children(width)}
      </div>
    </section>
  )
}

async function exported(format: 'png' | 'svg' | 'csv', section: HTMLElement | null, props: Props): Promise<Blob> {
  const body = section?.querySelector<HTMLElement>('.body') ?? null
  const caption = captionOf(section, props.title)
  if (format === 'csv') return new Blob([csvHead(caption), csvText(props.rows?.() ?? { columns: [], rows: [] })], { type: 'text/csv' })
  const canvas = body?.querySelector('canvas')
  const svg = body?.querySelector<SVGSVGElement>('svg:not([data-decoration])')
  const drawn = svg ?? canvas
  if (!drawn) throw new Error(texts.thereIsNoChartYet)
  const { width, height } = drawn.getBoundingClientRect()
  const drawing = props.svg?.() ?? (svg ? svgText(svg, props.title) : drawingOf(canvas!, { width, height }))
  const whole = captionedHere(drawing, { width, height }, caption)
  if (format === 'svg') return new Blob([whole.text], { type: 'image/svg+xml' })
  return pngFromSvg(whole.text, whole.width, whole.height)
}

/** Title, scope, colours and source as displayed. */
function captionOf(section: HTMLElement | null, title: string): Caption {
  const words = (element: Element | null | undefined) => element?.textContent?.replaceAll(/\s+/g, ' ').trim() ?? ''
  const legend = [...(section?.querySelectorAll('.legend li, .chart-keys li, .network-loads li') ?? [])].flatMap((item) => {
    // A line stands for what is drawn as one.
    const [swatch, line] = [item.querySelector('.swatch'), item.querySelector('line')]
    const colour = swatch ? getComputedStyle(swatch).backgroundColor : line ? getComputedStyle(line).stroke : null
    return colour === null ? [] : [{ title: words(item), colour }]
  })
  return { title, about: words(section?.querySelector('h2 .about')), legend, source: sourceText(new Date()) }
}

/** Inner width of an element, updated when it changes. */
export function useWidth(of: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = of.current
    if (!element) return
    const measure = () => {
      const style = getComputedStyle(element)
      setWidth(Math.floor(element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [])
  return width
}
