// A training log alone: what an iteration took over time, how well the chips were used, slow reports, pauses, restarts.
// Responsible for: which log is open, on which accelerator it ran, and the tables. Refuses to read a line: `log` does.
import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Accelerator } from '../../api/answers'
import { askOnce, useAnswer } from '../../api/live'
import { bytes, count, digits, percent, seconds } from '../../charts/format'
import { change, go, own } from '../../state/location'
import { Loading, Problems, Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { JobsBelow, Open, Opened, pathsIn } from '../parts/open'
import { OverIterations, type Zoom } from './chart'
import type { Judged, Log, MeasureCurve, Restart, Segment, SlowStep, Straggler } from './types'
import './log.css'

export default function View() {
  const paths = pathsIn('l')
  const { gpu } = own('l')
  const file = paths[0]
  const live = useAnswer<Log>('log', file ? { file, ...(gpu ? { accelerator: gpu } : {}) } : null)
  if (!file) {
    return (
      <Open
        home="log"
        title="Open a training log"
        text="What Megatron-LM, Megatron-DeepSpeed, DeepSpeed or torchtitan print while they train, also compressed: step time, MFU, loss, gradient norm and learning rate over time, slow steps, restarts. Drop it anywhere on this page."
        placeholder="or a path below the given folder"
      />
    )
  }
  return (
    <div class="log" aria-busy={live.loading}>
      <Opened home="log" paths={[file]} commandLine={live.commandLine}>
        <RanOn value={gpu} />
        <button
          type="button"
          class="button"
          title="The model and the plan that this log names, in the calculator"
          onClick={() => go('calculator', { model: file })}
        >
          Predict this run
        </button>
      </Opened>
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.problems.length > 0 && <JobsBelow paths={[file]} />}
      {live.answer ? (
        <Answer answer={live.answer} stale={live.stale} />
      ) : (
        live.loading && <Loading heights={[64, 250, 200]} label="reading the log" />
      )}
    </div>
  )
}

function RanOn({ value }: { value: string | undefined }) {
  const [known, setKnown] = useState<readonly Accelerator[]>([])
  useEffect(() => {
    askOnce<{ accelerators: Accelerator[] }>('gpus/list').then(
      ({ answer }) => setKnown(answer.accelerators),
      () => undefined,
    )
  }, [])
  return (
    <label class="log-gpu">
      Ran on
      <select class="select" value={value ?? ''} onChange={(event) => change({ 'l.gpu': event.currentTarget.value || undefined })}>
        <option value="">not set: no MFU</option>
        {known.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** How each measure is called and written. */
const MEASURES: Readonly<Record<MeasureCurve['measure'], { title: string; unit: string; format: (value: number) => string }>> = {
  loss: { title: 'Loss', unit: 'loss', format: digits },
  gradient_norm: { title: 'Gradient norm', unit: 'norm', format: digits },
  learning_rate: { title: 'Learning rate', unit: 'learning rate', format: (value) => (value === 0 ? '0' : value.toExponential(1)) },
}

/** `l.zoom` of the address: the stretch of iterations that all charts show. */
function zoomed(): Zoom | null {
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(own('l').zoom ?? '') ?? []
  return from !== undefined && to !== undefined && Number(to) > Number(from) ? { from: Number(from), to: Number(to) } : null
}

function Answer({ answer, stale }: { answer: Log; stale: boolean }) {
  const { log, stragglers, curve = [], measures = [] } = answer
  const slow = log.slow.map((one) => [one.iteration, one.seconds] as const)
  const restarts = log.restarts.map((one) => one.from)
  const used = log.segments.filter((one) => one.mfu !== null)
  const cursor = useSignal<number | null>(null)
  const zoom = zoomed()
  const onZoom = (next: Zoom | null) => change({ 'l.zoom': next ? `${next.from}..${next.to}` : undefined })
  const shared = { restarts, zoom, onZoom, cursor }
  return (
    <div class={`log-grid ${stale ? 'stale' : ''}`}>
      <Head log={log} />
      <p class="muted log-wide log-zoom">
        {zoom ? (
          <>
            Iterations {count(zoom.from)} to {count(zoom.to)}.{' '}
            <button type="button" class="button" onClick={() => onZoom(null)}>
              All iterations
            </button>
          </>
        ) : (
          'Drag over a chart to zoom all of them; a double click shows all iterations.'
        )}
      </p>
      <OverIterations
        wide
        title="Time of an iteration"
        about={`${count(log.reports)} reports of ${count(log.iterations)} iterations`}
        name="log-step-time"
        unit="time"
        format={seconds}
        curve={curve.map(([x, y]) => [x, y] as const)}
        levels={log.segments.map((one) => ({ from: one.from, to: one.to, value: one.seconds }))}
        slow={slow}
        {...shared}
      />
      {used.length > 0 && (
        <OverIterations
          title="MFU"
          about="of each level"
          name="log-mfu"
          unit="MFU"
          format={percent}
          curve={curve.flatMap(([x, , share]) => (share == null ? [] : [[x, share] as const]))}
          levels={used.map((one) => ({ from: one.from, to: one.to, value: one.mfu ?? 0 }))}
          slow={[]}
          {...shared}
        />
      )}
      {measures.map(({ measure, points }) => (
        <OverIterations
          key={measure}
          title={MEASURES[measure].title}
          about="as reported"
          name={`log-${measure.replaceAll('_', '-')}`}
          unit={MEASURES[measure].unit}
          format={MEASURES[measure].format}
          curve={points}
          levels={[]}
          slow={[]}
          fromZero={measure === 'learning_rate'}
          {...shared}
        />
      ))}
      <Levels rows={log.segments} />
      <Slow rows={log.slow} pause={log.pause} />
      {log.restarts.length > 0 && <Restarts rows={log.restarts} />}
      {log.timers.length > 0 && <Timers log={log} />}
      {stragglers.length > 0 && <Stragglers rows={stragglers} />}
      {log.warnings.length > 0 && (
        <section class="panel log-panel log-wide" aria-label="Doubts">
          <h2>Doubts</h2>
          <ul class="log-doubts">
            {log.warnings.map((one) => (
              <li key={one.id}>
                <Ticked text={one.message.replace('(`--accelerator`)', '(choose it above)')} /> <code>{one.id}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Head({ log }: { log: Judged }) {
  const mfu = log.segments.findLast((one) => one.mfu !== null)?.mfu
  const facts: (readonly [string, string, string?])[] = [
    ['typical iteration', seconds(log.step_time), `± ${percent(log.noise)} noise`],
    ...(mfu != null ? [['MFU', percent(mfu), 'at the last level'] as const] : []),
    ...(log.drift !== null
      ? [['drift', `${log.drift >= 0 ? '+' : '−'}${percent(Math.abs(log.drift))}`, 'over the last stretch'] as const]
      : []),
    ['slow reports', String(log.slow.length), `${percent(log.slow_share)} of the time`],
    ...(log.pause
      ? [['pause', seconds(log.pause.lost), `every ${count(log.pause.period)} iterations, ${log.pause.count} times`] as const]
      : []),
    [
      'restarts',
      String(log.restarts.length),
      log.restarts.length > 0 ? `${seconds(log.restarts.reduce((sum, one) => sum + one.lost, 0))} done twice` : undefined,
    ],
    ...(log.skipped + log.not_a_number > 0
      ? [['updates lost', String(log.skipped + log.not_a_number), `${log.skipped} skipped, ${log.not_a_number} not a number`] as const]
      : []),
    ...(log.reserved !== null ? [['memory', bytes(log.reserved), 'reserved'] as const] : []),
  ]
  return (
    <dl class="panel numbers-row log-wide">
      {facts.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {note && <span class="muted">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Levels({ rows }: { rows: readonly Segment[] }) {
  return (
    <section class="panel log-panel" aria-label="Levels">
      <h2>
        Levels <span class="muted">stretches of one pace</span>
      </h2>
      <Table<Segment>
        caption="Levels, one a row"
        rows={rows}
        identify={(row) => row.from}
        maxHeight="360px"
        columns={[
          { key: 'from', title: 'From', value: (row) => row.from, cell: (row) => count(row.from), align: 'right' },
          { key: 'to', title: 'To', value: (row) => row.to, cell: (row) => count(row.to), align: 'right' },
          { key: 'seconds', title: 'Iteration', value: (row) => row.seconds, cell: (row) => seconds(row.seconds), align: 'right' },
          {
            key: 'batch',
            title: 'Batch',
            value: (row) => row.batch,
            cell: (row) => (row.batch === null ? '–' : count(row.batch)),
            align: 'right',
          },
          {
            key: 'tflops',
            title: 'TFLOP/s',
            value: (row) => row.tflops,
            cell: (row) => (row.tflops === null ? '–' : digits(row.tflops)),
            align: 'right',
          },
          { key: 'mfu', title: 'MFU', value: (row) => row.mfu, cell: (row) => (row.mfu === null ? '–' : percent(row.mfu)), align: 'right' },
        ]}
      />
    </section>
  )
}

function Slow({ rows, pause }: { rows: readonly SlowStep[]; pause: Judged['pause'] }) {
  return (
    <section class="panel log-panel" aria-label="Slow reports">
      <h2>
        Slow reports{' '}
        <span class="muted">
          {pause ? `every ${count(pause.period)} iterations ${seconds(pause.lost)} are lost` : 'well above what is usual around them'}
        </span>
      </h2>
      {rows.length === 0 ? (
        <p class="muted">None is slower than the noise.</p>
      ) : (
        <Table<SlowStep>
          caption="Slow reports, one a row"
          rows={rows}
          identify={(row) => row.line}
          first={50}
          maxHeight="360px"
          columns={[
            { key: 'iteration', title: 'Iteration', value: (row) => row.iteration, cell: (row) => count(row.iteration), align: 'right' },
            { key: 'line', title: 'Line', value: (row) => row.line, cell: (row) => count(row.line), align: 'right' },
            { key: 'seconds', title: 'Iteration took', value: (row) => row.seconds, cell: (row) => seconds(row.seconds), align: 'right' },
            { key: 'lost', title: 'Lost', value: (row) => row.lost, cell: (row) => seconds(row.lost), align: 'right' },
          ]}
        />
      )}
    </section>
  )
}

function Restarts({ rows }: { rows: readonly Restart[] }) {
  return (
    <section class="panel log-panel" aria-label="Restarts">
      <h2>Restarts</h2>
      <Table<Restart>
        caption="Restarts, one a row"
        rows={rows}
        identify={(row) => row.line}
        maxHeight="360px"
        columns={[
          { key: 'before', title: 'Ended at', value: (row) => row.before, cell: (row) => count(row.before), align: 'right' },
          { key: 'from', title: 'Began at', value: (row) => row.from, cell: (row) => count(row.from), align: 'right' },
          { key: 'repeated', title: 'Done twice', value: (row) => row.repeated, cell: (row) => count(row.repeated), align: 'right' },
          { key: 'lost', title: 'Lost', value: (row) => row.lost, cell: (row) => seconds(row.lost), align: 'right' },
          { key: 'line', title: 'Line', value: (row) => row.line, cell: (row) => count(row.line), align: 'right' },
        ]}
      />
    </section>
  )
}

function Timers({ log }: { log: Judged }) {
  return (
    <section class="panel log-panel" aria-label="Timers">
      <h2>
        Timers <span class="muted">least and most of the ranks, where the log records both</span>
      </h2>
      <Table<Judged['timers'][number]>
        caption="Timers of an iteration"
        rows={log.timers}
        identify={(row) => row[0]}
        first={20}
        maxHeight="360px"
        columns={[
          { key: 'name', title: 'Timer', value: (row) => row[0].replaceAll('-', ' ') },
          { key: 'low', title: 'Least', value: (row) => row[1], cell: (row) => seconds(row[1]), align: 'right' },
          { key: 'high', title: 'Most', value: (row) => row[2], cell: (row) => seconds(row[2]), align: 'right' },
          {
            key: 'share',
            title: 'Of an iteration',
            value: (row) => row[2] / log.step_time,
            cell: (row) => percent(row[2] / log.step_time),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}

function Stragglers({ rows }: { rows: readonly Straggler[] }) {
  return (
    <section class="panel log-panel" aria-label="Stragglers">
      <h2>
        Stragglers <span class="muted">the last line of the log’s own detector</span>
      </h2>
      <Table<Straggler>
        caption="Lines of straggler detectors"
        rows={rows}
        identify={(row) => row.measure}
        columns={[
          { key: 'measure', title: 'Measure', value: (row) => row.measure },
          {
            key: 'low',
            title: 'Lowest',
            value: (row) => row.lowest[0],
            cell: (row) => `${digits(row.lowest[0])} on rank ${row.lowest[1]}`,
            align: 'right',
          },
          {
            key: 'high',
            title: 'Highest',
            value: (row) => row.highest[0],
            cell: (row) => `${digits(row.highest[0])} on rank ${row.highest[1]}`,
            align: 'right',
          },
          {
            key: 'iteration',
            title: 'After iteration',
            value: (row) => row.iteration,
            cell: (row) => (row.iteration === null ? '–' : count(row.iteration)),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}
