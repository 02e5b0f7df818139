// What a launch file or a log says about a run, line by line: each setting with the words that said it.
import type { DetectAnswer, Origin as Said } from '../../api/schema/detect'
import { useAnswer } from '../../api/live'
import { change, own, replaceRun } from '../../state/location'
import { runText } from '../../state/run'
import { Empty, Loading, Problems, Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { FileField } from './file-field'

export function Detected() {
  const { file, filter = '' } = own('r')
  // What the run was opened from is what one wants to know of.
  const { model, launch } = runText.value
  const opened = [launch, model].find((path) => path?.startsWith('upload:') || path?.includes('/'))
  const path = file ?? opened
  const live = useAnswer<DetectAnswer>('detect', path ? { file: path } : null)
  const { answer } = live
  return (
    <div class="reference-stack">
      <FileField
        label="A launch file or a log"
        value={path}
        placeholder="pretrain.sh, config.toml, ds_config.json, training.log"
        button="Read"
        onChange={(next) => change({ 'r.file': next })}
      />
      {!path && (
        <Empty
          title="What does a launch file say?"
          text="Scripts and logs of Megatron-LM, TorchTitan, DeepSpeed, nanotron, NeMo: every setting that is understood, with the line that said it."
        />
      )}
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.loading && !answer && <Loading heights={[300]} />}
      {answer && live.problems.length === 0 && !answer.format && (
        <Empty
          title="Nothing that is known"
          text={`${answer.file.replace(/^upload:\d+\//, '')} is no launch file and no log of a framework that is read here.${answer.seen[0] ? ` It looks like ${answer.seen[0].format.replaceAll('-', ' ')}: ${answer.seen[0].why}.` : ''}`}
        />
      )}
      {answer?.format && live.problems.length === 0 && (
        <section class="panel reference-panel" aria-label="Settings found">
          <header>
            <h2>
              {answer.format.replaceAll('-', ' ')} <span class="muted">{answer.seen[0]?.why}</span>
            </h2>
            <input
              class="input"
              type="search"
              data-filter
              aria-label="Filter settings"
              placeholder="Filter  /"
              value={filter}
              onInput={(event) => change({ 'r.filter': event.currentTarget.value }, 'replace')}
            />
            <button
              type="button"
              class="button primary"
              onClick={() =>
                replaceRun({ model: path ?? '', ...(runText.value.cluster ? { cluster: runText.value.cluster } : {}) }, 'calculator')
              }
            >
              Predict it
            </button>
          </header>
          <Table<Said>
            caption="Settings, one a row"
            rows={answer.values ?? []}
            identify={(row) => row.key}
            filter={filter}
            maxHeight="calc(100vh - 260px)"
            columns={[
              { key: 'key', title: 'Key', value: (row) => row.key, cell: (row) => <code>{row.key}</code> },
              { key: 'value', title: 'Is', value: (row) => row.value.replaceAll('"', ''), wrap: true },
              { key: 'said', title: 'Because of', value: (row) => row.source, cell: (row) => <code>{row.source}</code>, wrap: true },
              { key: 'line', title: 'Line', value: (row) => row.line, align: 'right' },
            ]}
          />
          {(answer.remarks ?? []).map((one) => (
            <p key={`${one.source} ${one.message}`} class="muted reference-note">
              {one.line !== null && `line ${one.line}: `}
              <code>{one.source}</code> <Ticked text={one.message} />
            </p>
          ))}
        </section>
      )}
    </div>
  )
}
