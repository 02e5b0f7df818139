// The step with its exchanges as flows on a topology, beside the closed form: what contention costs, which dimension pays, which links are full.
import type { Arguments } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { classColour } from '../../charts/colours'
import { bandwidth, count, percent, relative, seconds } from '../../charts/format'
import { Tornado } from '../../charts/tornado/tornado'
import { Loading, Problems } from '../../ui/states'
import { Choice, Figure, Text } from '../parts/controls'
import { RunBar } from '../parts/run-bar'
import type { SimulateAnswer } from './answer'
import { ShareBar, Swatched } from './bits'
import { Drawing, Loads } from './drawing'
import { DesignFields } from './fields'
import { layerName } from './names'
import { NeedsRun } from './needs-run'
import { useOwnCluster } from './own-cluster'
import { designFlags, kind, networkKeys, runArguments, said, say } from './state'
import { Scroll } from '../parts/scroll'
import { commandItem } from '../parts/command'

export function SimulateDesk() {
  const run = runArguments()
  if (!run) return <NeedsRun />
  return <Simulate run={run} />
}

function Simulate({ run }: { run: Arguments }) {
  const routing = said('routing')
  useOwnCluster()
  const live = useAnswer<SimulateAnswer>('network/simulate', {
    ...run,
    topology: kind(),
    network: networkKeys(),
    ...(routing ? { routing } : {}),
    fail: said('fail')
      .split(/[\s,]+/)
      .filter(Boolean),
    ...(said('background') ? { background: said('background') } : {}),
  })
  const { answer } = live
  return (
    <>
      <section class="panel scope" aria-label="Run and network">
        <RunBar fields={['model', 'cluster', 'gpus', 'global-batch', 'sequence-length']} />
        <div class="entries">
          <DesignFields only={['radix', 'leaf-oversubscription']} />
          <Choice
            title="Routing"
            value={routing}
            options={[
              ['', 'the design’s'],
              ['ecmp', 'hashed (ECMP)'],
              ['spray', 'sprayed'],
              ['static', 'static'],
            ]}
            onChange={(value) => say('routing', value)}
          />
          <Text
            title="Broken parts"
            wide
            placeholder="nic:3 leaf:0 link:leaf-spine:5"
            about="Parts that are broken, separated by spaces"
            value={said('fail')}
            onChange={(value) => say('fail', value)}
          />
          <Text
            title="Other jobs’ load"
            placeholder="none"
            about="Every device sends with this share of its bandwidth, as in 0.2"
            value={said('background')}
            onChange={(value) => say('background', value)}
          />
        </div>
      </section>
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {!answer && live.problems.length === 0 && <Loading heights={[64, 220, 220]} label="simulating" />}
      {answer && <Result answer={answer} line={live.commandLine} stale={live.stale} />}
    </>
  )
}

function Result({ answer, line, stale }: { answer: SimulateAnswer; line: string; stale: boolean }) {
  const worse = answer.step_time > answer.closed_form * 1.02
  return (
    <div class={`columns ${stale ? 'stale' : ''}`}>
      <section class="panel" aria-label="Step">
        <div class="panel-body head-figures">
          <dl class="figures">
            <Figure title="Step with flows" tone={worse ? 'bad' : undefined} note={`on ${answer.topology}, ${answer.routing} routing`}>
              {seconds(answer.step_time)}
            </Figure>
            <Figure title="Closed form" note="a network that never blocks">
              {seconds(answer.closed_form)}
            </Figure>
            <Figure title="Difference" note={`${count(answer.flows)} flows${answer.is_exact ? '' : ', approximate'}`}>
              {relative(answer.step_time, answer.closed_form)}
            </Figure>
          </dl>
          <p class="remarks">{answer.title}</p>
        </div>
      </section>
      <div class="columns halves-2">
        <ChartFrame
          title="What the network costs"
          about="from the closed form to the step"
          name="simulated-step"
          menu={commandItem(line)}
          rows={() => ({ columns: ['with', 'step_s', 'cost_s'], rows: answer.changes.map((one) => [one.what, one.step_time, one.cost]) })}
        >
          {(width) => (
            <Tornado
              width={width}
              title="What the network costs"
              axis="seconds a step"
              format={(value) => (Math.abs(value) < 1e-9 ? '0' : value.toPrecision(2))}
              figureTitle="costs"
              rows={answer.changes.map((one) => ({
                id: one.what,
                label: one.what,
                more: Math.abs(one.cost) < 1e-9 ? 0 : one.cost,
                figure:
                  Math.abs(one.cost) < 1e-9 * answer.step_time ? 'nothing' : `${one.cost > 0 ? '+' : '−'}${seconds(Math.abs(one.cost))}`,
                colour: one.cost > 0 ? 'var(--class-data)' : 'var(--accent)',
                tip: { title: one.what, lines: [{ name: 'step then', value: seconds(one.step_time) }] },
              }))}
            />
          )}
        </ChartFrame>
        <Dimensions answer={answer} />
      </div>
      <ChartFrame
        title="Load of the links"
        about="busiest link of each layer over the step, on the topology"
        name="simulated-load"
        menu={commandItem(line)}
        class="topology"
        rows={() => ({
          columns: ['layer', 'links', 'used', 'capacity_bytes_per_s', 'mean_share', 'busiest_share', 'busiest_link'],
          rows: answer.layers.map((one) => [one.layer, one.links, one.used, one.capacity, one.mean, one.busiest, one.link]),
        })}
      >
        {() => (
          <>
            <Loads loads={answer.layers} />
            <Drawing
              values={{ design: kind(), ...designFlags() }}
              loads={answer.layers}
              label={`Load of the links on ${answer.topology}`}
            />
          </>
        )}
      </ChartFrame>
      <Layers answer={answer} />
    </div>
  )
}

function Dimensions({ answer }: { answer: SimulateAnswer }) {
  const most = Math.max(...answer.dimensions.map((one) => Math.max(one.closed_form, one.in_step)))
  return (
    <section class="panel" aria-label="Exchanges">
      <div class="panel-head">
        <h2>
          Exchanges <span class="about">closed form above, in the step below; on the stage where they take longest, hidden or not</span>
        </h2>
      </div>
      <Scroll label="Exchanges by dimension: table">
        <table class="table">
          <caption class="hidden-visually">Exchanges by dimension</caption>
          <thead>
            <tr>
              <th scope="col">For</th>
              <th scope="col">
                <span class="hidden-visually">Bars</span>
              </th>
              <th scope="col" class="right">
                Closed form
              </th>
              <th scope="col" class="right">
                Alone
              </th>
              <th scope="col" class="right">
                In the step
              </th>
              <th scope="col" class="right">
                Slower
              </th>
            </tr>
          </thead>
          <tbody>
            {answer.dimensions.map((one) => (
              <tr key={one.dimension}>
                <th scope="row">
                  <Swatched colour={classColour(one.dimension)}>{one.dimension}</Swatched>
                </th>
                <td>
                  <span class="two-bars" aria-hidden="true">
                    <span style={{ width: `${(one.closed_form / most) * 100}%`, background: 'var(--class-bubble)' }} />
                    <span style={{ width: `${(one.in_step / most) * 100}%`, background: classColour(one.dimension) }} />
                  </span>
                </td>
                <td class="right">{seconds(one.closed_form)}</td>
                <td class="right">{seconds(one.alone)}</td>
                <td class="right">{seconds(one.in_step)}</td>
                <td class={`right ${one.slowdown > 1.05 ? 'tone-bad' : ''}`}>{one.slowdown.toFixed(2)}×</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

function Layers({ answer }: { answer: SimulateAnswer }) {
  return (
    <section class="panel" aria-label="Links">
      <div class="panel-head">
        <h2>
          Links <span class="about">share of the step’s time that they would need at full rate; the run’s own traffic</span>
        </h2>
      </div>
      <Scroll label="Links by layer: table">
        <table class="table">
          <caption class="hidden-visually">Links by layer</caption>
          <thead>
            <tr>
              <th scope="col">Layer</th>
              <th scope="col" class="right">
                Links
              </th>
              <th scope="col" class="right">
                Used
              </th>
              <th scope="col" class="right">
                Each
              </th>
              <th scope="col" class="right">
                Busy
              </th>
              <th scope="col">
                <span class="hidden-visually">Bar</span>
              </th>
              <th scope="col" class="right">
                Busiest
              </th>
              <th scope="col">Which</th>
            </tr>
          </thead>
          <tbody>
            {answer.layers.map((layer) => (
              <tr key={layer.layer}>
                <th scope="row">{layerName(layer.layer)}</th>
                <td class="right">{count(layer.links)}</td>
                <td class="right">{count(layer.used)}</td>
                <td class="right">{bandwidth(layer.capacity)}</td>
                <td class="right">{percent(layer.mean)}</td>
                <td>
                  <ShareBar share={layer.busiest} colour={layer.busiest > 0.8 ? 'var(--bad)' : 'var(--accent)'} />
                </td>
                <td class="right">{percent(layer.busiest)}</td>
                <td>{layer.link}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}
