// The line above the numbers: what the run is, scenarios, and what can be taken away (command, launch file, report).
import { useState } from 'preact/hooks'
import type { Estimate } from '../../api/answers'
import { type Arguments, Refusal, askText } from '../../api/ask'
import { report } from '../../api/report'
import { useKeys } from '../../state/keys'
import { change } from '../../state/location'
import { overrides, run, runB } from '../../state/run'
import { toast } from '../../state/toasts'
import { copy, download } from '../../ui/clipboard'
import { Menu } from '../../ui/menu'
import { ExportDialog } from './export-dialog'
import { compare, comparing, differences, editing, keep } from './scenarios'
import { flagTitle } from './wording'

export function Toolbar(props: { a: Estimate | null; b: Estimate | null; commandA: string; commandB: string }) {
  const [exporting, setExporting] = useState(false)
  const two = comparing.value
  const inB = editing.value === 'b'
  const values: Arguments = inB ? (runB.value ?? run.value) : run.value
  const command = inB ? props.commandB : props.commandA
  const shown = inB ? props.b : props.a
  const copyCommand = () => void copy(command, 'Command')
  useKeys(
    [
      { keys: 'y', title: 'Copy as command', group: 'Calculator', run: copyCommand },
      { keys: 'e', title: 'Export to a framework', group: 'Calculator', run: () => setExporting(true) },
      { keys: 'c', title: 'Compare: open or close scenario B', group: 'Calculator', run: () => (two ? keep('a') : compare()) },
      {
        keys: 'x',
        title: 'Change the other scenario',
        group: 'Calculator',
        run: () => (two ? change({ 'c.edit': inB ? 'a' : undefined }, 'replace') : false),
      },
    ],
    [command, two, inB],
  )
  return (
    <div class="toolbar">
      <div class="summary">
        {two && !report ? (
          <div class="segments" role="group" aria-label="The scenario that the controls change">
            <button type="button" aria-pressed={!inB} onClick={() => change({ 'c.edit': 'a' }, 'replace')}>
              A
            </button>
            <button type="button" aria-pressed={inB} onClick={() => change({ 'c.edit': undefined }, 'replace')}>
              B
            </button>
          </div>
        ) : null}
        <p title={shown?.plan_summary}>
          {shown ? (
            <>
              <strong>{shown.model.name}</strong> on {shown.cluster.devices.toLocaleString('en')} × {shown.cluster.accelerator_name}
              <span class="muted plan"> · {shown.plan_summary}</span>
            </>
          ) : (
            ' '
          )}
        </p>
      </div>
      {!report && (
        <div class="actions">
          {two ? (
            <Menu
              label="Keep… one scenario"
              class="button"
              items={[
                { title: 'Keep A', run: () => keep('a') },
                { title: 'Keep B', run: () => keep('b') },
              ]}
            >
              Keep…
            </Menu>
          ) : (
            <button type="button" class="button" title="Open scenario B beside this one (c)" onClick={compare}>
              Compare
            </button>
          )}
          <button
            type="button"
            class="button"
            title="Copy the command line that gives these numbers (y)"
            disabled={!command}
            onClick={copyCommand}
          >
            Copy as command
          </button>
          <button
            type="button"
            class="button"
            title="Megatron flags and other launch files (e)"
            disabled={!shown}
            onClick={() => setExporting(true)}
          >
            Export…
          </button>
          <Menu
            label="More"
            class="button icon"
            items={[
              { title: 'Save report (HTML)', run: () => void save(values, 'html') },
              { title: 'Save numbers (JSON)', run: () => void save(values, 'json') },
              { title: 'Save numbers (CSV)', run: () => void save(values, 'csv') },
              { title: 'Save as Markdown', run: () => void save(values, 'md') },
            ]}
          >
            <span aria-hidden="true">⋯</span>
          </Menu>
        </div>
      )}
      {two && (
        <p class="differences">
          {differences.value.length === 0 ? (
            <span class="muted">B is a copy of A; change something on the left.</span>
          ) : (
            <>
              <span class="muted">B differs in</span>
              {differences.value.map((key) => (
                <span key={key} class="chip">
                  {flagTitle(key)} {overrides.value[key] === '-' ? 'as chosen' : overrides.value[key]}
                  {!report && (
                    <button
                      type="button"
                      aria-label={`Take back ${flagTitle(key)} in B`}
                      onClick={() => change({ [`b.${key}`]: undefined, 'b.on': '1' })}
                    >
                      ✕
                    </button>
                  )}
                </span>
              ))}
            </>
          )}
        </p>
      )}
      {exporting && <ExportDialog arguments={values} close={() => setExporting(false)} />}
    </div>
  )
}

const SUFFIX: Readonly<Record<string, readonly [string, string]>> = {
  html: ['html', 'text/html'],
  json: ['json', 'application/json'],
  csv: ['csv', 'text/csv'],
  md: ['md', 'text/markdown'],
}

/** Scenario B, which a report shows beside the run. */
function beside(): Arguments {
  const changes = Object.entries(overrides.value).filter(([key]) => key !== 'on')
  return changes.length === 0 ? {} : { compare: changes.map(([key, value]) => `${key}=${value}`) }
}

async function save(values: Arguments, format: string): Promise<void> {
  const [suffix, type] = SUFFIX[format] ?? ['txt', 'text/plain']
  const name = `estimate-${String(values.model ?? 'run')
    .replace(/^.*\//, '')
    .replace(/[^\w.-]+/g, '-')}.${suffix}`
  try {
    const { answer } = await askText('estimate', format === 'html' ? { ...values, ...beside() } : values, format)
    download(name, answer, type)
    toast(`${name} saved`)
  } catch (error) {
    const problem = error instanceof Refusal ? error.problems[0] : undefined
    toast(problem?.message ?? String(error), { kind: 'refused', hint: problem?.hint ?? undefined })
  }
}
