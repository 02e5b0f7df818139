// "This job is": job data that the traces lack, as the options of `profile` on the command line: the run (of the calculator or a file),
// layout, accelerator, FLOPs, and the step that is profiled.
import { useEffect, useState } from 'preact/hooks'
import type { Key } from '../../api/answers'
import type { Arguments } from '../../api/ask'
import { askOnce } from '../../api/live'
import { playground } from '../../api/playground/marker'
import { report } from '../../api/report'
import { upload, withoutHandle } from '../../api/uploads'
import { change, go, own } from '../../state/location'
import { run, runText } from '../../state/run'
import { NUMBER, type Unit } from '../../state/amounts'
import { chosenPairs, pairsOf, pairsText } from '../../state/settings'
import { Amount } from '../../ui/amounts'
import { Combobox } from '../../ui/combobox'
import { FileButton } from '../../ui/file-button'
import { type Setting, Settings } from '../../ui/settings'
import { AcceleratorField } from '../parts/accelerator'
import { Switch } from '../parts/controls'
import { useKeyList } from '../parts/dimensions'
import { optionsOf as namesAndValue, useCatalogue } from '../parts/run-bar'
import { optionsOf } from '../parts/run-options'
import { LayoutFound, sizesText } from './layout-found'
import { StepsField, stepOptions } from './steps'
import type { Profile } from './types'
import * as texts from '../../words/traces'
import * as common from '../../words/ui'

/** Job options for every question about its traces; null until the run file is written. */
export function useJob(): Arguments | null {
  const { run, file, cluster, layout, accelerator, flops, only } = own('t')
  const [keys, setKeys] = useState<readonly Key[] | null>(null)
  const wanted = run !== undefined
  useEffect(() => {
    if (wanted)
      askOnce<{ keys: Key[] }>('keys').then(
        ({ answer }) => setKeys(answer.keys),
        () => setKeys([]),
      )
  }, [wanted])
  if (wanted && keys === null) return null
  const sizes = pairsText(chosenPairs(pairsOf(layout ?? '')))
  return {
    ...(file ? { run: file, ...(cluster ? { cluster } : {}) } : wanted && keys ? optionsOf(runText.value, keys) : {}),
    ...(sizes !== '' ? { layout: sizes } : {}),
    ...(accelerator ? { accelerator } : {}),
    ...(flops && !wanted && !file ? { 'model-flops': flops } : {}),
    ...stepOptions(only),
  }
}

/** Run that is predicted beside the traces: that of the file, else the calculator's; null without one. */
export function predicted(): Arguments | null {
  const { file, cluster } = own('t')
  if (file) return { model: file, ...(cluster ? { cluster } : {}) }
  return run.value.model === undefined ? null : run.value
}

/** Name of the run file written for the calculator's run. */
const RUN_FILE = 'calculator-run.toml'

export const isCalculators = (path: string): boolean => path.endsWith(`/${RUN_FILE}`)

/** True for a model of the catalogue, or a run or launch file: a run file can refer to it, and other settings are passed as options. */
export const canBeWritten = (text: Readonly<Record<string, string>>): boolean =>
  text.run === undefined && text.launch === undefined && text.model !== undefined && !text.model.includes(':')

/** Writes the calculator's model as a run file on the server; its other settings are passed as options. */
export async function calculatorsRun(): Promise<string> {
  const text = `[model]\nname = ${JSON.stringify(runText.value.model ?? '')}\n`
  return (await upload(new File([text], RUN_FILE))).path
}

/** Settings of the calculator's run that are not in its file. */
export function besideOf({ cluster, gpus, set }: Arguments): Arguments {
  return { ...(cluster ? { cluster } : {}), ...(gpus ? { gpus } : {}), ...(set ? { set } : {}) }
}

/** Only the options of `comm` and `stragglers`. */
export function readingOf(job: Arguments): Arguments {
  return job.layout === undefined ? {} : { layout: job.layout }
}

/** Sizes of a layout in the order of the program's ranks, the innermost first: the names are those of its rank orders. */
function sizesOf(keys: readonly Key[]): readonly Setting[] {
  const order = keys.find((key) => key.name === 'rank_order')
  const names = order && 'choices' in order ? (order.choices[0] ?? '').split('-') : []
  return names.map((name) => ({ name, title: name.toUpperCase(), control: { is: 'number', whole: true } }))
}

/** FLOPs of a step, which are too many to be typed in ones. */
const EXA: Unit = {
  sign: 'EFLOP',
  read: (text) => {
    const value = NUMBER.read(text)
    return value === null ? null : value / 1e18
  },
  write: (value) => String(value * 1e18),
  least: 0,
}

export function JobPanel({ profile }: { profile: Profile | null }) {
  const { run, file, cluster, layout, accelerator, flops, only } = own('t')
  const listed = useKeyList()
  const text = runText.value
  const model = text.model ?? text.run ?? text.launch
  const set = (key: string) => (value: string) => change({ [`t.${key}`]: value || undefined })
  const known = [
    file ? withoutHandle(file) : run && model ? texts.ofTheCalculator(withoutHandle(model)) : '',
    file ? (cluster ?? '') : '',
    layout ?? '',
    accelerator ?? '',
    !run && !file && flops ? texts.flopPerStep2(flops) : '',
    only ? texts.stepOnly(only) : '',
  ].filter(Boolean)
  const found = layout === undefined && profile?.layout && profile.layout.sizes.length > 0 ? texts.layoutOf(sizesText(profile.layout)) : ''
  return (
    <details class="panel traces-job" open={known.length > 0}>
      <summary>
        <strong>{texts.thisJobIs}</strong>{' '}
        <span class="muted">
          {[found, ...known].filter(Boolean).join(', ')}
          {found && known.length === 0 && '; '}
          {known.length === 0 && texts.notSpecified(profile?.utilisation == null ? texts.noMfu : texts.noPrediction)}
          {known.length === 0 && !found && texts.groupsMayBeUnnamed}
        </span>
      </summary>
      <div class="entries">
        {file ? (
          <JobFile file={file} cluster={cluster} />
        ) : model ? (
          <Switch
            title={texts.theCalculatorsRun2(withoutHandle(model))}
            about={texts.mfuNamesOfGroupsAnd}
            on={run !== undefined}
            onChange={(on) => change({ 't.run': on ? '1' : undefined, 't.expected': on ? '1' : undefined })}
          />
        ) : (
          <span class="muted">
            {texts.openARunInThe}{' '}
            <button type="button" class="text-link" onClick={() => go('calculator')}>
              {texts.openTheCalculator}
            </button>
          </span>
        )}
        {!file && !playground && !report && (
          <FileButton
            title={texts.aRunOrLaunchFile}
            onPath={(path) => change({ 't.file': path, 't.run': undefined, 't.flops': undefined, 't.expected': '1' })}
          />
        )}
        <Settings
          title={texts.layout}
          about={texts.parallelSizesInnermostFirstLayout}
          add={texts.addASize}
          pairs={pairsOf(layout ?? '')}
          options={sizesOf(listed)}
          onChange={(pairs) => set('layout')(pairsText(pairs))}
        />
        {profile?.layout && <LayoutFound layout={profile.layout} isOwn={layout !== undefined} />}
        <AcceleratorField
          title={texts.accelerator}
          auto={profile?.device ?? texts.fromTheTraces}
          value={accelerator ?? ''}
          onChange={(value) => set('accelerator')(value ?? '')}
        />
        {!run && !file && (
          <Amount
            title={texts.flopPerStep}
            auto={texts.unknown}
            about={texts.modelFlopsOfAStep}
            unit={EXA}
            value={flops ?? ''}
            onChange={(value) => set('flops')(value ?? '')}
          />
        )}
        <StepsField value={only ?? ''} profile={profile} />
      </div>
    </details>
  )
}

/** The file of the run, and the cluster, which launch files do not set. */
function JobFile({ file, cluster }: { file: string; cluster: string | undefined }) {
  const { clusters } = useCatalogue()
  return (
    <>
      <div class="entry">
        <span>
          {texts.runOfAFile}{' '}
          <button
            type="button"
            class="to-auto"
            aria-label={texts.removeFile(withoutHandle(file))}
            onClick={() => change({ 't.file': undefined, 't.cluster': undefined, 't.expected': undefined })}
          >
            {texts.remove}
          </button>
        </span>
        <strong class="job-file">{withoutHandle(file)}</strong>
      </div>
      <div class="entry named">
        <span>
          {texts.cluster}{' '}
          {cluster && (
            <button
              type="button"
              class="to-auto"
              aria-label={common.resetToAuto(texts.cluster)}
              onClick={() => change({ 't.cluster': undefined })}
            >
              {common.reset}
            </button>
          )}
        </span>
        <Combobox
          label={texts.cluster}
          value={cluster ?? ''}
          placeholder={texts.ofTheFile}
          options={namesAndValue(clusters, cluster ?? '')}
          onChoose={(name) => change({ 't.cluster': name })}
        />
      </div>
    </>
  )
}
