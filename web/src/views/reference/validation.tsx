// Predictions compared with measured runs: error by source, and a scatter plot of all runs.
// Responsible for: the question and the summary. All runs are shown; skipped ones have a reason.
import type { RowResult as Run, ValidationAnswer as Answer } from '../../api/schema/validation'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Answer as Asked, type Arguments, type Problem, Refusal, identity } from '../../api/ask'
import { startJob } from '../../api/jobs'
import { ChartFrame } from '../../charts/frame'
import { digits, percent, seconds } from '../../charts/format'
import { Scatter } from '../../charts/scatter/scatter'
import { change, own } from '../../state/location'
import { Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import { Accuracy } from './accuracy'
import { FileField } from './file-field'
import * as texts from '../../words/reference'

/** A table of thousands of runs takes seconds, so it is a job. */
function useJob(values: Arguments | null): { answer: Answer | null; problems: readonly Problem[]; loading: boolean } {
  const [state, setState] = useState<{ answer: Answer | null; problems: readonly Problem[]; loading: boolean }>({
    answer: null,
    problems: [],
    loading: false,
  })
  const key = values ? identity('validate', values) : ''
  useEffect(() => {
    if (!values) return setState({ answer: null, problems: [], loading: false })
    let here = true
    setState({ answer: null, problems: [], loading: true })
    const job = startJob<Answer>('validate', values, () => undefined)
    job.done.then(
      (done: Asked<Answer>) => here && setState({ answer: done.answer, problems: [], loading: false }),
      (error: unknown) =>
        here &&
        setState({ answer: null, problems: error instanceof Refusal ? error.problems : [{ message: String(error) }], loading: false }),
    )
    return () => {
      here = false
      void job.stop().catch(() => undefined)
    }
  }, [key])
  return state
}

export function Validation() {
  const { table } = own('r')
  const { answer, problems, loading } = useJob(table ? { table } : null)
  return (
    <div class="reference-stack">
      <FileField
        label={texts.yourOwnTableOfMeasured}
        value={table}
        placeholder={texts.measuredRunsCsv}
        button="Validate"
        onChange={(next) => change({ 'r.table': next })}
      />
      {!table && <Accuracy />}
      {problems.length > 0 && <Problems problems={problems} />}
      {loading && <Loading heights={[72, 360]} label={texts.predictingTheRuns} />}
      {answer && <Shown answer={answer} />}
    </div>
  )
}

function Shown({ answer }: { answer: Answer }) {
  const { overall, sources } = answer.summary
  const plotted = useMemo(() => answer.rows.filter((row) => row.predicted_step_time_s && row.measured_step_time_s), [answer])
  const facts: (readonly [string, string, string])[] = [
    ['runs', String(overall.predicted), texts.ofCouldBePredicted(overall.rows)],
    ...(overall.step_time
      ? [
          [
            texts.stepTimeMedianError,
            percent(overall.step_time.median_absolute),
            texts.nineOfTenWithin(percent(overall.step_time.p90_absolute)),
          ] as const,
        ]
      : []),
    ...(overall.peak_memory
      ? [
          [
            texts.memoryMedianError,
            percent(overall.peak_memory.median_absolute),
            texts.nineOfTenWithin(percent(overall.peak_memory.p90_absolute)),
          ] as const,
        ]
      : []),
    ...(overall.interval_coverage !== null
      ? [[texts.withinTheInterval, percent(overall.interval_coverage), texts.ofMeasuredSteps] as const]
      : []),
    ...(overall.rank_correlation !== null
      ? [[texts.orderOfLayouts, digits(overall.rank_correlation), texts.rankCorrelation] as const]
      : []),
  ]
  const names = Object.entries(sources).filter(([, one]) => one.predicted > 0)
  return (
    <>
      <dl class="panel numbers-row">
        {facts.map(([name, value, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              <span class="muted">{note}</span>
            </dd>
          </div>
        ))}
      </dl>
      <div class="reference-two">
        <ChartFrame
          title={texts.predictedAgainstMeasured}
          about={texts.stepTimeTheLineIs}
          name="validation"
          rows={() => ({
            columns: ['id', 'source', 'measured_s', 'predicted_s', 'error'],
            rows: plotted.map((row) => [row.id, row.source, row.measured_step_time_s, row.predicted_step_time_s, row.step_time_error]),
          })}
        >
          {(width) => <Cloud width={width} runs={plotted} />}
        </ChartFrame>
        <section class="panel reference-panel" aria-label={texts.bySource}>
          <h2>{texts.bySource}</h2>
          <Table<(typeof names)[number]>
            caption={texts.errorsBySourceOneA}
            rows={names}
            identify={([name]) => name}
            maxHeight="420px"
            sorting={{ key: 'n', down: true }}
            columns={[
              { key: 'name', title: texts.source, value: ([name]) => name, wrap: true },
              { key: 'n', title: texts.runs, value: ([, one]) => one.predicted, align: 'right' },
              {
                key: 'median',
                title: texts.stepMedian,
                value: ([, one]) => one.step_time?.median_absolute ?? null,
                cell: ([, one]) => (one.step_time ? percent(one.step_time.median_absolute) : '–'),
                align: 'right',
              },
              {
                key: 'bias',
                title: texts.bias,
                about: texts.aboveZeroPredictedTooSlow,
                value: ([, one]) => one.step_time?.bias ?? null,
                cell: ([, one]) => (one.step_time ? percent(one.step_time.bias).replace('-', '−') : '–'),
                align: 'right',
              },
              {
                key: 'memory',
                title: texts.memoryMedian,
                value: ([, one]) => one.peak_memory?.median_absolute ?? null,
                cell: ([, one]) => (one.peak_memory ? percent(one.peak_memory.median_absolute) : '–'),
                align: 'right',
              },
            ]}
          />
        </section>
      </div>
      <section class="panel reference-panel" aria-label={texts.runByRun}>
        <h2>
          {texts.runByRun} <span class="muted">{texts.largestErrorFirst}</span>
        </h2>
        <Table<Run>
          caption={texts.runsOneARow}
          rows={answer.rows}
          identify={(row) => row.id}
          first={60}
          maxHeight="480px"
          sorting={{ key: 'error', down: true }}
          columns={[
            { key: 'id', title: texts.run, value: (row) => row.id, wrap: true },
            {
              key: 'measured',
              title: texts.measured,
              value: (row) => row.measured_step_time_s,
              cell: (row) => (row.measured_step_time_s === null ? '–' : seconds(row.measured_step_time_s)),
              align: 'right',
            },
            {
              key: 'predicted',
              title: texts.predicted2,
              value: (row) => row.predicted_step_time_s,
              cell: (row) => (row.predicted_step_time_s === null ? '–' : seconds(row.predicted_step_time_s)),
              align: 'right',
            },
            {
              key: 'error',
              title: texts.error,
              value: (row) => (row.step_time_error === null ? null : Math.abs(row.step_time_error)),
              cell: (row) =>
                row.step_time_error === null ? '–' : `${row.step_time_error >= 0 ? '+' : '−'}${percent(Math.abs(row.step_time_error))}`,
              align: 'right',
            },
            { key: 'skipped', title: texts.leftOutBecause, value: (row) => row.skipped ?? '', wrap: true },
          ]}
        />
      </section>
    </>
  )
}

/** Maximum number of points: an SVG with more is slow, and they would not be distinguishable. */
const MOST = 1500

function Cloud({ width, runs }: { width: number; runs: readonly Run[] }) {
  const every = Math.max(1, Math.ceil(runs.length / MOST))
  const points = runs.filter((_, at) => at % every === 0)
  return (
    <Scatter
      width={width}
      title={texts.predictedAgainstMeasured}
      equal
      x={{ title: texts.measuredStepS, format: seconds, log: true }}
      y={{ title: texts.predicted, format: seconds, log: true }}
      points={points.map((row) => ({
        id: row.id,
        x: row.measured_step_time_s ?? 0,
        y: row.predicted_step_time_s ?? 0,
        mark: 'plain' as const,
        tip: {
          title: row.id,
          lines: [
            { name: 'measured', value: seconds(row.measured_step_time_s ?? 0) },
            { name: 'predicted', value: seconds(row.predicted_step_time_s ?? 0) },
            { name: 'off by', value: percent(row.step_time_error ?? 0).replace('-', '−') },
          ],
        },
      }))}
    />
  )
}
