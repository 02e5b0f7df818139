// One design: its picture, what it is made of, how far it reaches. The picture is the program's own; the page lends its colours.
import type { Arguments } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { bandwidth, count, seconds } from '../../charts/format'
import { Loading, Problems } from '../../ui/states'
import { Figure } from '../parts/controls'
import type { ShowAnswer } from './answer'
import { Drawing } from './drawing'
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
          <Drawing
            values={values}
            label={`Picture of ${design.name}: ${counts.tiers.map((tier) => `${count(tier.switches)} ${tier.name} switches`).join(', ')}`}
          />
        </>
      )}
    </ChartFrame>
  )
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
                <td class="right">{count(row.link_paths)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}
