// Settings of a launch file or a log, line by line, each with its source text.
import type { DetectAnswer, Origin as Said } from '../../api/schema/detect'
import { useAnswer } from '../../api/live'
import { withoutHandle } from '../../api/uploads'
import { change, own, replaceRun } from '../../state/location'
import { runText } from '../../state/run'
import { Empty, Loading, Problems, Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { FileField } from './file-field'
import * as texts from '../../words/reference'

export function Detected() {
  const { file, filter = '' } = own('r')
  // By default, the file that the run was opened from.
  const { model, launch } = runText.value
  const opened = [launch, model].find((path) => path?.startsWith('upload:') || path?.includes('/'))
  const path = file ?? opened
  const live = useAnswer<DetectAnswer>('detect', path ? { file: path } : null)
  const { answer } = live
  return (
    <div class="reference-stack">
      <FileField
        label={texts.aLaunchFileOrA}
        value={path}
        placeholder={texts.pretrainShConfigTomlDs}
        button="Read"
        onChange={(next) => change({ 'r.file': next })}
      />
      {!path && <Empty title={texts.readALaunchFile} text={texts.scriptsAndLogsOfMegatron} />}
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.loading && !answer && <Loading heights={[300]} />}
      {answer && live.problems.length === 0 && !answer.format && (
        <Empty
          title={texts.unknownFile}
          text={texts.isNoLaunchFileAnd(
            withoutHandle(answer.file),
            answer.seen[0] ? ` It looks like ${answer.seen[0].format.replaceAll('-', ' ')}: ${answer.seen[0].why}.` : '',
          )}
        />
      )}
      {answer?.format && live.problems.length === 0 && (
        <section class="panel reference-panel" aria-label={texts.settingsFound}>
          <header>
            <h2>
              {answer.format.replaceAll('-', ' ')} <span class="muted">{answer.seen[0]?.why}</span>
            </h2>
            <input
              class="input"
              type="search"
              data-filter
              aria-label={texts.filterSettings}
              placeholder={texts.filter}
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
              {texts.predictIt}
            </button>
          </header>
          <Table<Said>
            caption={texts.settingsOneARow}
            rows={answer.values ?? []}
            identify={(row) => row.key}
            filter={filter}
            maxHeight="calc(100vh - 260px)"
            columns={[
              { key: 'key', title: texts.key, value: (row) => row.key, cell: (row) => <code>{row.key}</code> },
              { key: 'value', title: texts.value, value: (row) => row.value.replaceAll('"', ''), wrap: true },
              { key: 'source', title: texts.origin, value: (row) => row.source, cell: (row) => <code>{row.source}</code>, wrap: true },
              { key: 'line', title: texts.line2, value: (row) => row.line, align: 'right' },
            ]}
          />
          {(answer.remarks ?? []).map((one) => (
            <p key={`${one.source} ${one.message}`} class="muted reference-note">
              {one.line !== null && texts.line(one.line)}
              <code>{one.source}</code> <Ticked text={one.message} />
            </p>
          ))}
        </section>
      )}
    </div>
  )
}
