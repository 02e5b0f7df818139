// Model error on own measurements, before and after a fit of the cost model.
// Responsible for: the question and its tables. The command that writes the file can be copied.
import type { CalibrationAnswer, Line } from '../../api/schema/calibration'
import { useAnswer } from '../../api/live'
import { bytes, percent, seconds } from '../../charts/format'
import { change, own } from '../../state/location'
import { runText } from '../../state/run'
import { copy } from '../../ui/clipboard'
import { Empty, Loading, Problems, Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { FileField } from './file-field'
import * as texts from '../../words/reference'

const split = (text: string | undefined) =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)

export function Calibration() {
  const { nccl, measured } = own('r')
  const { cluster } = runText.value
  const asked = nccl || measured
  const live = useAnswer<CalibrationAnswer>(
    'calibrate',
    asked
      ? {
          ...(split(measured).length > 0 ? { paths: split(measured) } : {}),
          ...(split(nccl).length > 0 ? { 'nccl-tests': split(nccl) } : {}),
          ...(cluster ? { cluster } : {}),
        }
      : null,
  )
  const { answer } = live
  return (
    <div class="reference-stack">
      <FileField
        several
        label={texts.logsOfNcclTests(cluster ? `, of ${cluster}` : '')}
        value={nccl}
        placeholder={texts.allReduce8LogAll}
        button="Fit"
        onChange={(next) => change({ 'r.nccl': next })}
      />
      <FileField
        several
        label={texts.tracesOrTrainingLogsOf}
        value={measured}
        placeholder={texts.traces}
        button="Fit"
        onChange={(next) => change({ 'r.measured': next })}
      />
      {!asked && <Empty title={texts.checkTheCostModelOn} text={texts.logsOfNcclTestsMeasure} />}
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.loading && !answer && <Loading heights={[280]} label={texts.fitting} />}
      {answer && live.problems.length === 0 && (
        <section class={`panel reference-panel ${live.stale ? 'stale' : ''}`} aria-label={texts.fittedConstants}>
          <header>
            <h2>
              {texts.fittedConstants}{' '}
              <span class="muted">
                {texts.on} {answer.cluster}
              </span>
            </h2>
            <button
              type="button"
              class="button"
              title={texts.oCalibrationToml(live.commandLine)}
              onClick={() => void copy(texts.oCalibrationToml(live.commandLine), texts.theCommand)}
            >
              {texts.copyTheCommandThatWrites}
            </button>
          </header>
          <Table<Line>
            caption={texts.costModelsOnePerRow}
            rows={answer.lines}
            identify={(row, at) => `${row.name} ${row.regime} ${at}`}
            maxHeight="60vh"
            columns={[
              { key: 'name', title: texts.what, value: (row) => row.name, wrap: true },
              {
                key: 'regime',
                title: texts.regime,
                about: texts.burstMeasuredAloneSustainedMeasured,
                value: (row) => row.regime,
              },
              { key: 'shapes', title: texts.sizes, value: (row) => row.shapes, align: 'right' },
              {
                key: 'range',
                title: texts.from,
                value: (row) => row.from,
                cell: (row) =>
                  /x\d+$/.test(row.name)
                    ? texts.to(bytes(row.from), bytes(row.to))
                    : texts.to(row.from.toPrecision(3), row.to.toPrecision(3)),
                align: 'right',
              },
              {
                key: 'measured',
                title: texts.measured,
                value: (row) => row.measured,
                cell: (row) => seconds(row.measured),
                align: 'right',
              },
              {
                key: 'before',
                title: texts.errorBefore,
                value: (row) => row.error_before,
                cell: (row) => percent(row.error_before),
                align: 'right',
              },
              {
                key: 'after',
                title: texts.errorAfter,
                value: (row) => row.error_after,
                cell: (row) => percent(row.error_after),
                align: 'right',
              },
            ]}
          />
          {[...answer.remarks, ...answer.warnings.map((one) => one.message)].map((text) => (
            <p key={text} class="muted reference-note">
              <Ticked text={text} />
            </p>
          ))}
        </section>
      )}
    </div>
  )
}
