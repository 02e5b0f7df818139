// A training log: iteration times, utilization, slow reports, pauses, restarts. Responsible for: the open log, its accelerator, and the
// tables. `log` parses the file.
import { useSignal } from '@preact/signals'
import type { Accelerator } from '../../api/answers'
import { useAnswer, useListed } from '../../api/live'
import { bytes, count, digits, percent, seconds } from '../../charts/format'
import { withoutFlags } from '../../state/program-text'
import { change, go, own } from '../../state/location'
import { Loading, Problems, Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { JobsBelow, Open, Opened, pathsIn } from '../parts/open'
import { OverIterations, type Zoom } from './chart'
import type { Judged, Log, MeasureCurve, Restart, Segment, SlowStep, Straggler } from './types'
import './log.css'
import * as texts from '../../words/log'

export default function View() {
  const paths = pathsIn('l')
  const { gpu } = own('l')
  const file = paths[0]
  const live = useAnswer<Log>('log', file ? { file, ...(gpu ? { accelerator: gpu } : {}) } : null)
  if (!file) {
    return <Open home="log" title={texts.openATrainingLog} text={texts.logsOfMegatronLmMegatron} placeholder={texts.orAPathInThe} />
  }
  return (
    <div class="log" aria-busy={live.loading}>
      <Opened home="log" paths={[file]} commandLine={live.commandLine}>
        <RanOn value={gpu} />
        <button type="button" class="button" title={texts.openTheModelAndThe} onClick={() => go('calculator', { model: file })}>
          {texts.predictThisRun}
        </button>
      </Opened>
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.problems.length > 0 && <JobsBelow paths={[file]} />}
      {live.answer ? (
        <Answer answer={live.answer} stale={live.stale} />
      ) : (
        live.loading && <Loading heights={[64, 250, 200]} label={texts.readingTheLog} />
      )}
    </div>
  )
}

function RanOn({ value }: { value: string | undefined }) {
  const known = useListed<{ accelerators: readonly Accelerator[] }, readonly Accelerator[]>(
    'gpus/list',
    (answer) => answer.accelerators,
    [],
  )
  return (
    <label class="log-gpu">
      {texts.accelerator}
      <select class="select" value={value ?? ''} onChange={(event) => change({ 'l.gpu': event.currentTarget.value || undefined })}>
        <option value="">{texts.notSetNoMfu}</option>
        {known.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Title, unit and format of each measure. */
const MEASURES: Readonly<Record<MeasureCurve['measure'], { title: string; unit: string; format: (value: number) => string }>> = {
  loss: { title: texts.loss, unit: 'loss', format: digits },
  gradient_norm: { title: texts.gradientNorm, unit: 'norm', format: digits },
  learning_rate: { title: texts.learningRate2, unit: texts.learningRate, format: (value) => (value === 0 ? '0' : value.toExponential(1)) },
}

/** `l.zoom` of the URL: range of iterations shown by all charts. */
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
            {texts.iterations} {count(zoom.from)} {texts.to2} {count(zoom.to)}.{' '}
            <button type="button" class="button" onClick={() => onZoom(null)}>
              {texts.allIterations}
            </button>
          </>
        ) : (
          texts.dragOverAChart
        )}
      </p>
      <OverIterations
        wide
        title={texts.iterationTime}
        about={texts.reportsOfIterations(count(log.reports), count(log.iterations))}
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
          title={texts.mfu}
          about={texts.ofEachLevel}
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
          about={texts.asReported}
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
        <section class="panel log-panel log-wide" aria-label={texts.caveats}>
          <h2>{texts.caveats}</h2>
          <ul class="log-doubts">
            {log.warnings.map((one) => (
              <li key={one.id}>
                <Ticked text={withoutFlags(one.message)} /> <code>{one.id}</code>
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
    [texts.typicalIteration, seconds(log.step_time), texts.noise(percent(log.noise))],
    ...(mfu != null ? [['MFU', percent(mfu), texts.atTheLastLevel] as const] : []),
    ...(log.drift !== null
      ? [['drift', `${log.drift >= 0 ? '+' : '−'}${percent(Math.abs(log.drift))}`, texts.overTheLastPeriod] as const]
      : []),
    [texts.slowReports2, String(log.slow.length), texts.ofTheTime(percent(log.slow_share))],
    ...(log.pause
      ? [
          [
            'pause',
            seconds(log.pause.lost),
            caused(texts.everyIterationsTimes(count(log.pause.period), log.pause.count), log.pause),
          ] as const,
        ]
      : []),
    [
      'restarts',
      String(log.restarts.length),
      log.restarts.length > 0 ? texts.doneTwice2(seconds(log.restarts.reduce((sum, one) => sum + one.lost, 0))) : undefined,
    ],
    ...(log.skipped + log.not_a_number > 0
      ? [[texts.updatesLost, String(log.skipped + log.not_a_number), texts.skippedNotANumber(log.skipped, log.not_a_number)] as const]
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
    <section class="panel log-panel" aria-label={texts.levels}>
      <h2>
        {texts.levels} <span class="muted">{texts.periodsOfConstantStepTime}</span>
      </h2>
      <Table<Segment>
        caption={texts.levelsOneARow}
        rows={rows}
        identify={(row) => row.from}
        maxHeight="360px"
        columns={[
          { key: 'from', title: texts.from, value: (row) => row.from, cell: (row) => count(row.from), align: 'right' },
          { key: 'to', title: texts.to, value: (row) => row.to, cell: (row) => count(row.to), align: 'right' },
          { key: 'seconds', title: texts.iteration3, value: (row) => row.seconds, cell: (row) => seconds(row.seconds), align: 'right' },
          {
            key: 'batch',
            title: texts.batch,
            value: (row) => row.batch,
            cell: (row) => (row.batch === null ? '–' : count(row.batch)),
            align: 'right',
          },
          {
            key: 'tflops',
            title: texts.tflopS,
            value: (row) => row.tflops,
            cell: (row) => (row.tflops === null ? '–' : digits(row.tflops)),
            align: 'right',
          },
          {
            key: 'mfu',
            title: texts.mfu,
            value: (row) => row.mfu,
            cell: (row) => (row.mfu === null ? '–' : percent(row.mfu)),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}

// A text about a pause, with its cause if the log records one.
function caused(text: string, pause: NonNullable<Judged['pause']>): string {
  if (pause.evaluation && pause.checkpoint) return texts.withCause(text, texts.evaluationAndCheckpoint)
  if (pause.evaluation) return texts.withCause(text, texts.evaluation)
  return pause.checkpoint ? texts.withCause(text, texts.checkpoint) : text
}

function Slow({ rows, pause }: { rows: readonly SlowStep[]; pause: Judged['pause'] }) {
  return (
    <section class="panel log-panel" aria-label={texts.slowReports}>
      <h2>
        {texts.slowReports}{' '}
        <span class="muted">
          {pause ? caused(texts.everyIterationsAreLost(count(pause.period), seconds(pause.lost)), pause) : texts.wellAboveTheirNeighbours}
        </span>
      </h2>
      {rows.length === 0 ? (
        <p class="muted">{texts.noReportExceedsTheNoise}</p>
      ) : (
        <Table<SlowStep>
          caption={texts.slowReportsOneARow}
          rows={rows}
          identify={(row) => row.line}
          first={50}
          maxHeight="360px"
          columns={[
            {
              key: 'iteration',
              title: texts.iteration3,
              value: (row) => row.iteration,
              cell: (row) => count(row.iteration),
              align: 'right',
            },
            { key: 'line', title: texts.line, value: (row) => row.line, cell: (row) => count(row.line), align: 'right' },
            {
              key: 'seconds',
              title: texts.iterationTime,
              value: (row) => row.seconds,
              cell: (row) => seconds(row.seconds),
              align: 'right',
            },
            { key: 'lost', title: texts.lost, value: (row) => row.lost, cell: (row) => seconds(row.lost), align: 'right' },
          ]}
        />
      )}
    </section>
  )
}

function Restarts({ rows }: { rows: readonly Restart[] }) {
  return (
    <section class="panel log-panel" aria-label={texts.restarts}>
      <h2>{texts.restarts}</h2>
      <Table<Restart>
        caption={texts.restartsOneARow}
        rows={rows}
        identify={(row) => row.line}
        maxHeight="360px"
        columns={[
          { key: 'before', title: texts.endedAt, value: (row) => row.before, cell: (row) => count(row.before), align: 'right' },
          { key: 'from', title: texts.beganAt, value: (row) => row.from, cell: (row) => count(row.from), align: 'right' },
          { key: 'repeated', title: texts.repeated, value: (row) => row.repeated, cell: (row) => count(row.repeated), align: 'right' },
          { key: 'lost', title: texts.lost, value: (row) => row.lost, cell: (row) => seconds(row.lost), align: 'right' },
          { key: 'line', title: texts.line, value: (row) => row.line, cell: (row) => count(row.line), align: 'right' },
        ]}
      />
    </section>
  )
}

function Timers({ log }: { log: Judged }) {
  return (
    <section class="panel log-panel" aria-label={texts.timers}>
      <h2>
        {texts.timers} <span class="muted">{texts.minimumAndMaximumOverThe}</span>
      </h2>
      <Table<Judged['timers'][number]>
        caption={texts.timersOfAnIteration}
        rows={log.timers}
        identify={(row) => row[0]}
        first={20}
        maxHeight="360px"
        columns={[
          { key: 'name', title: texts.timer, value: (row) => row[0].replaceAll('-', ' ') },
          { key: 'low', title: texts.minimum, value: (row) => row[1], cell: (row) => seconds(row[1]), align: 'right' },
          { key: 'high', title: texts.maximum, value: (row) => row[2], cell: (row) => seconds(row[2]), align: 'right' },
          {
            key: 'share',
            title: texts.ofAnIteration,
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
    <section class="panel log-panel" aria-label={texts.stragglers}>
      <h2>
        {texts.stragglers} <span class="muted">{texts.theLastLineOfThe}</span>
      </h2>
      <Table<Straggler>
        caption={texts.linesOfStragglerDetectors}
        rows={rows}
        identify={(row) => row.measure}
        columns={[
          { key: 'measure', title: texts.measure, value: (row) => row.measure },
          {
            key: 'low',
            title: texts.lowest,
            value: (row) => row.lowest[0],
            cell: (row) => texts.onRank(digits(row.lowest[0]), row.lowest[1]),
            align: 'right',
          },
          {
            key: 'high',
            title: texts.highest,
            value: (row) => row.highest[0],
            cell: (row) => texts.onRank(digits(row.highest[0]), row.highest[1]),
            align: 'right',
          },
          {
            key: 'iteration',
            title: texts.afterIteration,
            value: (row) => row.iteration,
            cell: (row) => (row.iteration === null ? '–' : count(row.iteration)),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}
