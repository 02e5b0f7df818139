// What measurements of one's own machine say of the laws that price a run: how far off they were, and would be once fitted.
// Responsible for: the question and its tables. Refuses to write the file: the command that does is there to copy.
import type { CalibrationAnswer, Line } from '../../api/schema/calibration'
import { useAnswer } from '../../api/live'
import { bytes, percent, seconds } from '../../charts/format'
import { change, own } from '../../state/location'
import { runText } from '../../state/run'
import { copy } from '../../ui/clipboard'
import { Empty, Loading, Problems, Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { FileField } from './file-field'

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
        label={`Logs of nccl-tests${cluster ? `, of ${cluster}` : ''}`}
        value={nccl}
        placeholder="all_reduce-8.log, all_gather-8.log"
        button="Fit"
        onChange={(next) => change({ 'r.nccl': next })}
      />
      <FileField
        several
        label="Traces or training logs of one run"
        value={measured}
        placeholder="traces/"
        button="Fit"
        onChange={(next) => change({ 'r.measured': next })}
      />
      {!asked && (
        <Empty
          title="How well do the laws hold on your machine?"
          text="Logs of nccl-tests say what collectives do alone, traces what kernels sustain in a run. Here you see how far off the calculator was and would be; the command line writes the file that every command then takes."
        />
      )}
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.loading && !answer && <Loading heights={[280]} label="fitting" />}
      {answer && live.problems.length === 0 && (
        <section class={`panel reference-panel ${live.stale ? 'stale' : ''}`} aria-label="What was fitted">
          <header>
            <h2>
              What was fitted <span class="muted">on {answer.cluster}</span>
            </h2>
            <button
              type="button"
              class="button"
              title={`${live.commandLine} -o calibration.toml`}
              onClick={() => void copy(`${live.commandLine} -o calibration.toml`, 'the command')}
            >
              Copy the command that writes it
            </button>
          </header>
          <Table<Line>
            caption="Laws, one a row"
            rows={answer.lines}
            identify={(row, at) => `${row.name} ${row.regime} ${at}`}
            maxHeight="60vh"
            columns={[
              { key: 'name', title: 'What', value: (row) => row.name, wrap: true },
              {
                key: 'regime',
                title: 'Regime',
                about: 'burst: measured alone; sustained: measured within a run',
                value: (row) => row.regime,
              },
              { key: 'shapes', title: 'Sizes', value: (row) => row.shapes, align: 'right' },
              {
                key: 'range',
                title: 'From',
                value: (row) => row.from,
                cell: (row) =>
                  /x\d+$/.test(row.name)
                    ? `${bytes(row.from)} to ${bytes(row.to)}`
                    : `${row.from.toPrecision(3)} to ${row.to.toPrecision(3)}`,
                align: 'right',
              },
              { key: 'measured', title: 'Measured', value: (row) => row.measured, cell: (row) => seconds(row.measured), align: 'right' },
              {
                key: 'before',
                title: 'Off before',
                value: (row) => row.error_before,
                cell: (row) => percent(row.error_before),
                align: 'right',
              },
              {
                key: 'after',
                title: 'Off after',
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
