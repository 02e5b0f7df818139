// Accuracy on the bundled runs: predicted against measured, held-out first, and the errors of each publication.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ChartFrame } from '../../charts/frame'
import { percent, seconds } from '../../charts/format'
import { Scatter } from '../../charts/scatter/scatter'
import { change, own } from '../../state/location'
import { Segments } from '../../ui/fields'
import { Loading } from '../../ui/states'
import { Table } from '../../ui/table'
import { type Evidence, type Group, type Kind, byPublication, errorOf, errors, runsOf } from './evidence'

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
  if (!evidence) return <Loading heights={[72, 360]} label="loading the bundled runs" />
  const all = errors(shown, kind)
  return (
    <>
      <dl class="panel numbers-row">
        {[
          ['runs', all.runs.toLocaleString('en'), source ?? `${groups.length} publications`],
          ['median error', percent(all.median), 'of the step time'],
          ['90% within', percent(all.ninth), 'absolute error'],
          ['bias', signed(all.bias), 'median; above zero: predicted too slow'],
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
      <div class="reference-two">
        <ChartFrame
          title="Predicted against measured, bundled runs"
          about={
            kind === 'heldOut'
              ? 'step time in seconds; constants fitted without the publication of the run'
              : 'step time in seconds; constants fitted to all runs'
          }
          name="accuracy"
          tools={
            <Segments
              label="Constants"
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
              title="Predicted against measured, bundled runs"
              equal
              x={{ title: 'measured step (s)', format: seconds, log: true }}
              y={{ title: 'predicted', format: seconds, log: true }}
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
        <section class="panel reference-panel" aria-label="By publication">
          <h2>
            By publication <span class="muted">Enter shows one alone</span>
            {source && (
              <button type="button" class="button quiet" onClick={() => change({ 'r.source': undefined })}>
                Show all
              </button>
            )}
          </h2>
          <Table<Group>
            caption="Errors by publication, one a row"
            rows={groups}
            identify={(group) => group.publication}
            chosen={source ?? null}
            onChoose={(group) => change({ 'r.source': group.publication === source ? undefined : group.publication })}
            maxHeight="420px"
            columns={[
              { key: 'name', title: 'Publication', value: (group) => group.publication, wrap: true },
              { key: 'runs', title: 'Runs', value: (group) => group.heldOut.runs, align: 'right' },
              {
                key: 'held',
                title: 'Held-out',
                about: 'Median error',
                value: (group) => group.heldOut.median,
                cell: (group) => percent(group.heldOut.median),
                align: 'right',
              },
              {
                key: 'bias',
                title: 'Bias',
                about: 'Held-out; above zero: predicted too slow',
                value: (group) => group.heldOut.bias,
                cell: (group) => signed(group.heldOut.bias),
                align: 'right',
              },
              {
                key: 'fitted',
                title: 'Fitted',
                about: 'Median error',
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
