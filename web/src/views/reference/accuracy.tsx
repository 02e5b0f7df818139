// Accuracy on the bundled runs: prediction and measurement, held-out first, and the errors of each publication.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ChartFrame } from '../../charts/frame'
import { DURATIONS, durationTick, percent, seconds } from '../../charts/format'
import { Scatter } from '../../charts/scatter/scatter'
import { change, own } from '../../state/location'
import { Segments } from '../../ui/fields'
import { Loading } from '../../ui/states'
import { Table } from '../../ui/table'
import { type Evidence, type Group, type Kind, byPublication, errorOf, errors, runsOf } from './evidence'
import * as texts from '../../words/reference'

const KINDS: readonly (readonly [Kind, string])[] = [
  ['heldOut', 'Held-out'],
  ['fitted', 'Fitted'],
]

const signed = (share: number) => `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`

export function Accuracy() {
  const [evidence, setEvidence] = useState<Evidence | null>(null)
  useEffect(() => void import('./left-out.json').then((module) => setEvidence(module.default)), [])
  const runs = useMemo(() => (evidence ? runsOf(evidence) : []), [evidence])
  const { fitted, source } = own('r')
  const kind: Kind = fitted ? 'fitted' : 'heldOut'
  const groups = useMemo(() => byPublication(runs), [runs])
  const shown = useMemo(() => (source ? runs.filter((run) => run.publication === source) : runs), [runs, source])
  if (!evidence) return <Loading heights={[72, 360]} label={texts.loadingTheBundledRuns} />
  const all = errors(shown, kind)
  return (
    <>
      <dl class="panel numbers-row">
        {[
          ['runs', all.runs.toLocaleString('en'), source ?? texts.publications(groups.length)],
          [texts.medianError2, percent(all.median), texts.ofTheStepTime],
          ['90% within', percent(all.ninth), texts.absoluteError],
          ['bias', signed(all.bias), texts.medianAboveZero],
        ].map(([name, value, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              <span class="muted">{note}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p class="small muted">{texts.laterPublications}</p>
      <div class="reference-two">
        <ChartFrame
          title={texts.predictedAgainstMeasuredBundledRuns}
          about={kind === 'heldOut' ? texts.stepTimeInSecondsConstantsFitted : texts.stepTimeInSecondsConstants}
          name="accuracy"
          tools={
            <Segments
              label={texts.constants}
              value={kind}
              options={KINDS}
              onChange={(next) => change({ 'r.fitted': next === 'fitted' ? '1' : undefined })}
            />
          }
          rows={() => ({
            columns: ['publication', 'measured_s', 'fitted_s', 'held_out_s'],
            rows: shown.map((run) => [run.publication, run.measured, run.fitted, run.heldOut]),
          })}
        >
          {(width) => (
            <Scatter
              width={width}
              title={texts.predictedAgainstMeasuredBundledRuns}
              equal
              x={{ title: texts.measuredStepS, format: durationTick, ticks: DURATIONS, log: true }}
              y={{ title: texts.predicted, format: durationTick, ticks: DURATIONS, log: true }}
              points={shown.map((run, at) => ({
                id: String(at),
                x: run.measured,
                y: run[kind],
                mark: 'plain' as const,
                tip: {
                  title: run.publication,
                  lines: [
                    { name: 'measured', value: seconds(run.measured) },
                    { name: 'predicted', value: seconds(run[kind]) },
                    { name: 'error', value: signed(errorOf(run, kind)) },
                  ],
                },
              }))}
            />
          )}
        </ChartFrame>
        <section class="panel reference-panel" aria-label={texts.byPublication}>
          <h2>
            {texts.byPublication} <span class="muted">{texts.enterShowsOneAlone}</span>
            {source && (
              <button type="button" class="button quiet" onClick={() => change({ 'r.source': undefined })}>
                {texts.showAll}
              </button>
            )}
          </h2>
          <Table<Group>
            caption={texts.errorsByPublicationOneA}
            rows={groups}
            identify={(group) => group.publication}
            chosen={source ?? null}
            onChoose={(group) => change({ 'r.source': group.publication === source ? undefined : group.publication })}
            maxHeight="420px"
            columns={[
              { key: 'name', title: texts.publication, value: (group) => group.publication, wrap: true },
              { key: 'runs', title: texts.runs, value: (group) => group.heldOut.runs, align: 'right' },
              {
                key: 'held',
                title: texts.heldOut,
                about: texts.medianError,
                value: (group) => group.heldOut.median,
                cell: (group) => percent(group.heldOut.median),
                align: 'right',
              },
              {
                key: 'bias',
                title: texts.bias,
                about: texts.heldOutAboveZeroPredicted,
                value: (group) => group.heldOut.bias,
                cell: (group) => signed(group.heldOut.bias),
                align: 'right',
              },
              {
                key: 'fitted',
                title: texts.fitted,
                about: texts.medianError,
                value: (group) => group.fitted.median,
                cell: (group) => percent(group.fitted.median),
                align: 'right',
              },
            ]}
          />
        </section>
      </div>
    </>
  )
}
