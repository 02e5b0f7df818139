// One design: its picture, what it is made of, how far it reaches. The picture is the program's own; the page lends its colours.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Arguments, Refusal, type Problem, askText, identity } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { unuse, use } from '../../api/used'
import { ChartFrame } from '../../charts/frame'
import { bandwidth, count, seconds } from '../../charts/format'
import { Loading, Problems } from '../../ui/states'
import { Figure } from '../parts/controls'
import type { ShowAnswer } from './answer'
import { DesignFields } from './fields'
import { gigabits, layerName } from './names'
import { useOwnCluster } from './own-cluster'
import { designFlags, kind } from './state'
import { Scroll } from '../parts/scroll'
import { commandItem } from '../parts/command'

export function TopologyDesk() {
  const values = { design: kind(), ...designFlags() }
  const ready = useOwnCluster()
  const shown = useAnswer<ShowAnswer>('network/show', ready ? values : null)
  const { answer } = shown
  return (
    <>
      <section class="panel scope" aria-label="Design">
        <div class="entries">
          <DesignFields />
        </div>
      </section>
      {shown.problems.length > 0 && <Problems problems={shown.problems} />}
      {!answer && shown.problems.length === 0 && <Loading heights={[320, 160]} />}
      {answer && (
        <div class={`columns ${shown.stale ? 'stale' : ''}`}>
          <Picture values={values} answer={answer} line={shown.commandLine} />
          <div class="columns halves">
            <Parts answer={answer} />
            <Reach answer={answer} />
          </div>
        </div>
      )}
    </>
  )
}

function Picture({ values, answer, line }: { values: Arguments; answer: ShowAnswer; line: string }) {
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
  const inner = useMemo(() => drawing(text), [text])
  const { design, counts } = answer
  return (
    <ChartFrame
      title={design.name}
      about={`${count(design.devices)} devices in domains of ${design.domain.size}`}
      name={`topology-${design.name}`}
      class="topology"
      menu={commandItem(line)}
    >
      {() => (
        <>
          <dl class="figures">
            <Figure title="Switches" note={`${count(counts.ports)} ports`}>
              {count(counts.switches)}
            </Figure>
            <Figure title="Links" note={`${count(counts.cables)} cables`}>
              {count(counts.links)}
            </Figure>
            <Figure title="Transceivers">{count(counts.transceivers)}</Figure>
            {design.domain.size > 1 && (
              <Figure title="Scale-up" note="a device, one direction">
                {bandwidth(design.domain.bandwidth)}
              </Figure>
            )}
            <Figure title="Network" note="a device, one direction">
              {gigabits(design.nic_bandwidth)}
            </Figure>
            <Figure title="Rails">{count(design.rails)}</Figure>
            <Figure title="Oversubscription">
              {answer.oversubscription.map((one) => `${Number(one.toPrecision(3))}:1`).join(', ') || '–'}
            </Figure>
            {answer.largest !== null && (
              <Figure title="Joins at most" note="devices with these switches">
                {count(answer.largest)}
              </Figure>
            )}
          </dl>
          {problems.length > 0 ? (
            <p class="muted">{problems[0]?.message}</p>
          ) : (
            inner && (
              <Scroll
                class="drawing scrolls"
                label={`Picture of ${design.name}: ${counts.tiers.map((tier) => `${count(tier.switches)} ${tier.name} switches`).join(', ')}`}
              >
                <div dangerouslySetInnerHTML={{ __html: inner }} />
              </Scroll>
            )
          )}
        </>
      )}
    </ChartFrame>
  )
}

/** The program's picture without its own style sheet, which would rule the whole page; sized by the page. */
function drawing(text: string): string {
  if (!text) return ''
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml')
  const svg = parsed.documentElement
  if (svg.nodeName !== 'svg') return ''
  for (const node of svg.querySelectorAll('style, script, foreignObject')) node.remove()
  svg.removeAttribute('role')
  const [, , width = '960', height = '300'] = (svg.getAttribute('viewBox') ?? '').split(' ')
  // The frame says the title, so that its line is cut off.
  svg.setAttribute('viewBox', `0 32 ${width} ${Number(height) - 32}`)
  svg.setAttribute('width', '100%')
  svg.removeAttribute('height')
  svg.setAttribute('style', `max-width:${Number(width) * 1.35}px`)
  svg.setAttribute('aria-hidden', 'true')
  return new XMLSerializer().serializeToString(svg)
}

function Parts({ answer }: { answer: ShowAnswer }) {
  return (
    <section class="panel" aria-label="Parts">
      <div class="panel-head">
        <h2>
          Parts <span class="about">both directions of a cable count once</span>
        </h2>
      </div>
      <Scroll label="Switches and cables: table">
        <table class="table" hidden={answer.counts.tiers.length === 0}>
          <caption class="hidden-visually">Switches by tier</caption>
          <thead>
            <tr>
              <th scope="col">Tier</th>
              <th scope="col" class="right">
                Switches
              </th>
              <th scope="col" class="right">
                Ports
              </th>
              <th scope="col" class="right">
                In use
              </th>
            </tr>
          </thead>
          <tbody>
            {answer.counts.tiers.map((tier) => (
              <tr key={tier.name}>
                <th scope="row">{tier.name}</th>
                <td class="right">{count(tier.switches)}</td>
                <td class="right">{count(tier.ports)}</td>
                <td class="right">{count(tier.ports_used)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <table class="table">
          <caption class="hidden-visually">Cables by layer</caption>
          <thead>
            <tr>
              <th scope="col">Layer</th>
              <th scope="col" class="right">
                Links
              </th>
              <th scope="col" class="right">
                Each
              </th>
              <th scope="col">Medium</th>
              <th scope="col" class="right">
                Transceivers
              </th>
            </tr>
          </thead>
          <tbody>
            {answer.counts.layers.map((layer) => (
              <tr key={layer.layer}>
                <th scope="row">{layerName(layer.layer)}</th>
                <td class="right">{count(layer.links)}</td>
                <td class="right">{gigabits(layer.bandwidth)}</td>
                <td>{`${layer.cabling.medium}, ${layer.cabling.length} m`}</td>
                <td class="right">{count(layer.transceivers)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

function Reach({ answer }: { answer: ShowAnswer }) {
  return (
    <section class="panel" aria-label="Reach">
      <div class="panel-head">
        <h2>
          Reach <span class="about">from one device to all others</span>
        </h2>
      </div>
      <Scroll label="Reach from one device: table">
        <table class="table">
          <caption class="hidden-visually">Reach from one device</caption>
          <thead>
            <tr>
              <th scope="col">Devices</th>
              <th scope="col" class="right">
                How many
              </th>
              <th scope="col" class="right">
                Links
              </th>
              <th scope="col" class="right">
                Latency
              </th>
              <th scope="col" class="right">
                Shortest ways
              </th>
            </tr>
          </thead>
          <tbody>
            {answer.reach.map((row) => (
              <tr key={row.how}>
                <th scope="row" class="wrap">
                  {row.how}
                </th>
                <td class="right">{count(row.devices)}</td>
                <td class="right">{row.links}</td>
                <td class="right">{seconds(row.latency)}</td>
                <td class="right">{count(row.ways)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}
