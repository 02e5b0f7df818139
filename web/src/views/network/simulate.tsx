// The step with its collectives as flows on a topology, compared with the closed form: cost of contention by dimension, and full links.
import type { Arguments } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { classColour } from '../../charts/colours'
import { bandwidth, count, percent, relative, seconds, tickIn, timeUnit } from '../../charts/format'
import { Tornado } from '../../charts/tornado/tornado'
import { Loading } from '../../ui/states'
import { PERCENT } from '../../state/amounts'
import { Amount } from '../../ui/amounts'
import { Choice, Figure } from '../parts/controls'
import { ProgramNotes } from '../parts/program-notes'
import { RunBar } from '../parts/run-bar'
import type { SimulateAnswer } from './answer'
import { ShareBar, Swatched } from './bits'
import { choicesOf, useTopologies } from './design-keys'
import { Drawing, Loads } from './drawing'
import { FailedParts } from './failed-parts'
import { failures } from './failures-of-parts'
import { DesignFields } from './fields'
import { LinksOverTime } from './links-over-time'
import { layerName } from './names'
import { NeedsRun } from './needs-run'
import { runArguments, useOwnCluster } from './own-cluster'
import { ON_RUN, designFlags, kind, networkKeys, parameter, setParameter } from './state'
import { Waits } from './waits'
import { NumberHead, TablePanel } from '../parts/table-panel'
import { commandItem } from '../parts/command'
import { RunProblems } from '../parts/run-problems'
import * as texts from '../../words/network'

export function SimulateDesk() {
  const run = runArguments()
  if (!run) return <NeedsRun />
  return <Simulate run={run} />
}

function Simulate({ run }: { run: Arguments }) {
  const routing = parameter('routing')
  useOwnCluster()
  const listed = useTopologies()
  const live = useAnswer<SimulateAnswer>('network/simulate', {
    ...run,
    topology: kind(),
    network: networkKeys(),
    ...(routing ? { routing } : {}),
    fail: failures(parameter('fail')),
    ...(parameter('background') ? { background: parameter('background') } : {}),
  })
  const { answer } = live
  return (
    <>
      <section class="panel scope" aria-label={texts.runAndNetwork}>
        <RunBar fields={['model', 'cluster', 'gpus', 'global-batch', 'sequence-length']} />
        <div class="entries">
          <DesignFields only={ON_RUN} without={['routing', 'gpus', 'domain', 'speed']} />
          <Choice
            title={texts.routing}
            value={routing}
            options={[['', texts.theDesigns], ...choicesOf(listed, 'routing').map((one) => [one, one] as const)]}
            onChange={(value) => setParameter('routing', value)}
          />
          <FailedParts value={parameter('fail')} onChange={(value) => setParameter('fail', value)} />
          <Amount
            title={texts.otherJobsLoad}
            auto={texts.none}
            about={texts.everyDeviceSendsWithThis}
            unit={PERCENT}
            value={parameter('background')}
            onChange={(value) => setParameter('background', value)}
          />
        </div>
      </section>
      <RunProblems problems={live.problems} kept={live.answer !== null} />
      {!answer && live.problems.length === 0 && <Loading heights={[64, 220, 220]} label={texts.simulating} />}
      {/* Below a refusal stands the answer before it. */}
      {answer && <Result answer={answer} line={live.commandLine} stale={live.stale} notes={live.notes} />}
    </>
  )
}

function Result({ answer, line, stale, notes }: { answer: SimulateAnswer; line: string; stale: boolean; notes: readonly string[] }) {
  const worse = answer.step_time > answer.closed_form * 1.02
  // Rounding of sums of times is not a cost.
  const isNothing = (cost: number) => Math.abs(cost) < 1e-9 * answer.step_time
  const unit = timeUnit(Math.max(...answer.changes.map((one) => Math.abs(one.cost))))
  return (
    <div class={`columns ${stale ? 'stale' : ''}`}>
      <section class="panel" aria-label={texts.step}>
        <div class="panel-body head-figures">
          <dl class="figures">
            <Figure title={texts.stepWithFlows} tone={worse ? 'bad' : undefined} note={texts.onRouting(answer.topology, answer.routing)}>
              {seconds(answer.step_time)}
            </Figure>
            <Figure title={texts.closedForm} note={texts.aNetworkThatNeverBlocks}>
              {seconds(answer.closed_form)}
            </Figure>
            <Figure title={texts.difference} note={texts.flows(count(answer.flows), answer.is_exact ? '' : ', approximate')}>
              {relative(answer.step_time, answer.closed_form)}
            </Figure>
          </dl>
          <p class="remarks">{answer.title}</p>
          <ProgramNotes notes={notes} chosen={answer.chosen} />
        </div>
      </section>
      <div class="columns halves-2">
        <ChartFrame
          title={texts.timeLostToTheNetwork}
          about={texts.fromTheClosedFormTo}
          name="simulated-step"
          menu={commandItem(line)}
          rows={() => ({ columns: ['with', 'step_s', 'cost_s'], rows: answer.changes.map((one) => [one.what, one.step_time, one.cost]) })}
        >
          {(width) => (
            <Tornado
              width={width}
              title={texts.timeLostToTheNetwork}
              axis={texts.perStepIn(unit.sign)}
              // Without any cost, the axis has only its middle.
              format={(value) => (Math.abs(value) < 1e-12 ? '0' : Math.abs(value) < 1e-7 ? '' : tickIn(value, unit.scale))}
              figureTitle="costs"
              rows={answer.changes.map((one) => ({
                id: one.what,
                label: one.what,
                more: isNothing(one.cost) ? 0 : one.cost,
                figure: isNothing(one.cost) ? 'nothing' : `${one.cost > 0 ? '+' : '−'}${seconds(Math.abs(one.cost))}`,
                colour: one.cost > 0 ? 'var(--class-data)' : 'var(--accent)',
                tip: { title: one.what, lines: [{ name: texts.stepThen, value: seconds(one.step_time) }] },
              }))}
            />
          )}
        </ChartFrame>
        <Dimensions answer={answer} />
      </div>
      <ChartFrame
        title={texts.loadOfTheLinks}
        about={texts.busiestLinkOfEachLayer}
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
              values={{ design: kind(), ...designFlags(true) }}
              loads={answer.layers}
              label={texts.loadOfTheLinksOn(answer.topology)}
            />
          </>
        )}
      </ChartFrame>
      {answer.waits.length > 1 && <Waits stages={answer.waits} step={answer.step_time} menu={commandItem(line)} />}
      <LinksOverTime overTime={answer.over_time} menu={commandItem(line)} />
      <Layers answer={answer} />
    </div>
  )
}

function Dimensions({ answer }: { answer: SimulateAnswer }) {
  const most = Math.max(...answer.dimensions.map((one) => Math.max(one.closed_form, one.in_step)))
  return (
    <TablePanel
      title={texts.exchanges}
      remark={texts.closedFormAboveInThe}
      label={texts.exchangesByDimensionTable}
      caption={texts.exchangesByDimension}
    >
      <thead>
        <tr>
          <th scope="col">{texts.forText}</th>
          <th scope="col">
            <span class="hidden-visually">{texts.bars}</span>
          </th>
          <NumberHead>{texts.closedForm}</NumberHead>
          <NumberHead>{texts.alone}</NumberHead>
          <NumberHead>{texts.inTheStep}</NumberHead>
          <NumberHead>{texts.slower}</NumberHead>
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
    </TablePanel>
  )
}

function Layers({ answer }: { answer: SimulateAnswer }) {
  return (
    <TablePanel title={texts.links} remark={texts.shareOfTheStepsTime} label={texts.linksByLayerTable} caption={texts.linksByLayer}>
      <thead>
        <tr>
          <th scope="col">{texts.layer}</th>
          <NumberHead>{texts.links}</NumberHead>
          <NumberHead>{texts.used}</NumberHead>
          <NumberHead>{texts.each}</NumberHead>
          <NumberHead>{texts.busy}</NumberHead>
          <th scope="col">
            <span class="hidden-visually">{texts.bar}</span>
          </th>
          <NumberHead>{texts.busiest2}</NumberHead>
          <th scope="col">{texts.link}</th>
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
    </TablePanel>
  )
}
