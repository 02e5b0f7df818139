// One design: its diagram, components and reach. The diagram is the program's; the page sets its colours.
import type { Arguments } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { bandwidth, count, seconds } from '../../charts/format'
import { Loading } from '../../ui/states'
import { Figure } from '../parts/controls'
import type { ShowAnswer } from './answer'
import { DesignProblems } from './design-problems'
import { Drawing } from './drawing'
import { DesignFields } from './fields'
import { gigabits, kindOf, layerName } from './names'
import { useOwnCluster } from './own-cluster'
import { designFlags, kind } from './state'
import { Scroll } from '../parts/scroll'
import { NumberHead, TablePanel } from '../parts/table-panel'
import { commandItem } from '../parts/command'
import * as texts from '../../words/network'

export function TopologyDesk() {
  const values = { design: kind(), ...designFlags() }
  const ready = useOwnCluster()
  const shown = useAnswer<ShowAnswer>('network/show', ready ? values : null)
  const { answer } = shown
  return (
    <>
      <section class="panel scope" aria-label={texts.design}>
        <div class="entries">
          <DesignFields />
        </div>
      </section>
      <DesignProblems live={shown} />
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
      title={kindOf(design.name).title}
      about={texts.devicesInDomainsOf(count(design.devices), design.domain.size)}
      name={`topology-${design.name}`}
      class="topology"
      menu={commandItem(line)}
    >
      {() => (
        <>
          <dl class="figures">
            <Figure title={texts.switches} note={texts.ports2(count(counts.ports))}>
              {count(counts.switches)}
            </Figure>
            <Figure title={texts.links} note={texts.cables2(count(counts.cables))}>
              {count(counts.links)}
            </Figure>
            <Figure title={texts.transceivers2}>{count(counts.transceivers)}</Figure>
            {design.domain.size > 1 && (
              <Figure title={texts.scaleUp} note={texts.perDeviceOneDirection}>
                {bandwidth(design.domain.bandwidth)}
              </Figure>
            )}
            <Figure title={texts.network} note={texts.perDeviceOneDirection}>
              {gigabits(design.nic_bandwidth)}
            </Figure>
            <Figure title={texts.rails}>{count(design.rails)}</Figure>
            <Figure title={texts.oversubscription}>
              {answer.oversubscription.map((one) => `${Number(one.toPrecision(3))}:1`).join(', ') || '–'}
            </Figure>
            {answer.largest !== null && (
              <Figure title={texts.capacity} note={texts.devicesWithTheseSwitches}>
                {count(answer.largest)}
              </Figure>
            )}
          </dl>
          <Drawing
            values={values}
            label={texts.pictureOf(
              kindOf(design.name).title,
              counts.tiers.map((tier) => `${count(tier.switches)} ${tier.name} switches`).join(', '),
            )}
          />
        </>
      )}
    </ChartFrame>
  )
}

function Parts({ answer }: { answer: ShowAnswer }) {
  return (
    <section class="panel" aria-label={texts.parts}>
      <div class="panel-head">
        <h2>
          {texts.parts} <span class="about">{texts.bothDirectionsOfACable}</span>
        </h2>
      </div>
      <Scroll label={texts.switchesAndCablesTable}>
        <table class="table" hidden={answer.counts.tiers.length === 0}>
          <caption class="hidden-visually">{texts.switchesByTier}</caption>
          <thead>
            <tr>
              <th scope="col">{texts.tier}</th>
              <NumberHead>{texts.switches}</NumberHead>
              <NumberHead>{texts.ports}</NumberHead>
              <NumberHead>{texts.inUse}</NumberHead>
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
          <caption class="hidden-visually">{texts.cablesByLayer}</caption>
          <thead>
            <tr>
              <th scope="col">{texts.layer}</th>
              <NumberHead>{texts.links}</NumberHead>
              <NumberHead>{texts.each}</NumberHead>
              <th scope="col">{texts.medium}</th>
              <NumberHead>{texts.transceivers2}</NumberHead>
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
    <TablePanel
      title={texts.reach}
      remark={texts.fromOneDeviceToAll}
      label={texts.reachFromOneDeviceTable}
      caption={texts.reachFromOneDevice}
    >
      <thead>
        <tr>
          <th scope="col">{texts.devices4}</th>
          <NumberHead>{texts.number}</NumberHead>
          <NumberHead>{texts.links}</NumberHead>
          <NumberHead>{texts.latency}</NumberHead>
          <NumberHead>{texts.shortestPaths}</NumberHead>
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
    </TablePanel>
  )
}
