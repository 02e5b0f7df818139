// Line above the numbers: the run, scenarios, and exports (command, launch file, report).
import { useState } from 'preact/hooks'
import type { Estimate } from '../../api/answers'
import { type Arguments, Refusal, askText } from '../../api/ask'
import { report } from '../../api/report'
import { useKeys } from '../../state/keys'
import { change } from '../../state/location'
import { overrides, run, runB, runText } from '../../state/run'
import { toast } from '../../state/toasts'
import { copy, download } from '../../ui/clipboard'
import { Menu } from '../../ui/menu'
import { devicesOf } from './facts'
import { ExportDialog } from './export-dialog'
import { heldPlan } from './holding'
import { compare, comparing, differences, editing, heldKeys, keep } from './scenarios'
import { flagTitle, nameOfModel } from './wording'
import * as texts from '../../words/calculator'

export function Toolbar(props: { a: Estimate | null; b: Estimate | null; commandA: string; commandB: string }) {
  const [exporting, setExporting] = useState(false)
  const two = comparing.value
  const inB = editing.value === 'b'
  const values: Arguments = inB ? (runB.value ?? run.value) : run.value
  const command = inB ? props.commandB : props.commandA
  const shown = inB ? props.b : props.a
  // A size that keeps the value of A's auto plan is no difference.
  const ofA = heldPlan(runText.value, props.a)
  const shownDifferences = differences.value.filter((key) => !heldKeys.value.includes(key) || overrides.value[key] !== ofA[key])
  const copyCommand = () => void copy(command, 'Command')
  useKeys(
    [
      { keys: 'y', title: texts.copyAsCommand, group: 'Calculator', run: copyCommand },
      { keys: 'e', title: texts.exportToAFramework, group: 'Calculator', run: () => setExporting(true) },
      { keys: 'c', title: texts.compareOpenOrCloseScenario, group: 'Calculator', run: () => (two ? keep('a') : compare()) },
      {
        keys: 'x',
        title: texts.changeTheOtherScenario,
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
          <div class="segments" role="group" aria-label={texts.theScenarioThatTheControls}>
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
              <strong>{nameOfModel(shown.model.name, runText.value.model)}</strong> {texts.on2} {devicesOf(shown.cluster)}
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
              label={texts.keepOneScenario}
              class="button"
              items={[
                { title: texts.keepA, run: () => keep('a') },
                { title: texts.keepB, run: () => keep('b') },
              ]}
            >
              {texts.keep}
            </Menu>
          ) : (
            <button type="button" class="button" title={texts.openScenarioBBesideThis} onClick={compare}>
              {texts.compare}
            </button>
          )}
          <button type="button" class="button" title={texts.copyTheCommandLineThat} disabled={!command} onClick={copyCommand}>
            {texts.copyAsCommand}
          </button>
          <button
            type="button"
            class="button"
            title={texts.megatronFlagsAndOtherLaunch}
            disabled={!shown}
            onClick={() => setExporting(true)}
          >
            {texts.exportText}
          </button>
          <Menu
            label={texts.more}
            class="button icon"
            items={[
              { title: texts.saveReportHtml, run: () => void save(values, 'html') },
              { title: texts.saveNumbersJson, run: () => void save(values, 'json') },
              { title: texts.saveNumbersCsv, run: () => void save(values, 'csv') },
              { title: texts.saveAsMarkdown, run: () => void save(values, 'md') },
            ]}
          >
            <span aria-hidden="true">⋯</span>
          </Menu>
        </div>
      )}
      {two && (
        <p class="differences">
          {shownDifferences.length === 0 ? (
            <span class="muted">{texts.bIsACopyOf}</span>
          ) : (
            <>
              <span class="muted">{texts.bDiffersIn}</span>
              {shownDifferences.map((key) => (
                <span key={key} class="chip">
                  {flagTitle(key)} {overrides.value[key] === '-' ? texts.asChosen : overrides.value[key]}
                  {!report && (
                    <button
                      type="button"
                      aria-label={texts.takeBackInB(flagTitle(key))}
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

/** Arguments of scenario B, which a report includes. */
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
    toast(texts.saved(name))
  } catch (error) {
    const problem = error instanceof Refusal ? error.problems[0] : undefined
    toast(problem?.message ?? String(error), { kind: 'refused', hint: problem?.hint ?? undefined })
  }
}
