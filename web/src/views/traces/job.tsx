// "This job is": job data that the traces lack, as the options of `profile` on the command line: run, layout, accelerator, FLOPs.
import { useEffect, useState } from 'preact/hooks'
import type { Key } from '../../api/answers'
import type { Arguments } from '../../api/ask'
import { askOnce } from '../../api/live'
import { upload } from '../../api/uploads'
import { change, own } from '../../state/location'
import { runText } from '../../state/run'
import { Switch, Text } from '../parts/controls'
import { flagOf } from '../calculator/flags'
import type { Profile } from './types'
import * as texts from '../../words/traces'

/** Options of `profile` for the calculator's run: its model as the run, the rest as keys. Pure. */
export function optionsOf(text: Readonly<Record<string, string>>, keys: readonly Key[]): Arguments {
  const run = text.run ?? text.launch ?? text.model
  if (!run) return {}
  const set = Object.entries(text).flatMap(([flag, value]) => {
    if (['run', 'launch', 'model', 'cluster', 'gpus'].includes(flag)) return []
    const key = keys.find((one) => flagOf(one) === flag)
    return key ? [`${key.section}.${key.name}=${value}`] : []
  })
  return {
    run,
    ...(text.cluster ? { cluster: text.cluster } : {}),
    ...(text.gpus ? { gpus: text.gpus } : {}),
    ...(set.length > 0 ? { set } : {}),
  }
}

/** Job options for every question about its traces; null until the run file is written. */
export function useJob(): Arguments | null {
  const { run, layout, accelerator, flops } = own('t')
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
  return {
    ...(wanted && keys ? optionsOf(runText.value, keys) : {}),
    ...(layout ? { layout } : {}),
    ...(accelerator ? { accelerator } : {}),
    ...(flops && !wanted ? { 'model-flops': flops } : {}),
  }
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

export function JobPanel({ profile }: { profile: Profile | null }) {
  const { run, layout, accelerator, flops } = own('t')
  const text = runText.value
  const model = text.model ?? text.run ?? text.launch
  const set = (key: string) => (value: string) => change({ [`t.${key}`]: value || undefined })
  const known = [
    run && model ? texts.ofTheCalculator(model.replace(/^upload:\d+\//, '')) : '',
    layout ?? '',
    accelerator ?? '',
    !run && flops ? texts.flopPerStep2(flops) : '',
  ].filter(Boolean)
  return (
    <details class="panel traces-job" open={known.length > 0}>
      <summary>
        <strong>{texts.thisJobIs}</strong>{' '}
        <span class="muted">
          {known.length > 0
            ? known.join(', ')
            : `not specified: without a run there is ${profile?.utilisation == null ? texts.noMfu : texts.noPrediction}; without a layout, groups may have no names`}
        </span>
      </summary>
      <div class="entries">
        {model ? (
          <Switch
            title={texts.theCalculatorsRun2(model.replace(/^upload:\d+\//, ''))}
            about={texts.mfuNamesOfGroupsAnd}
            on={run !== undefined}
            onChange={(on) => change({ 't.run': on ? '1' : undefined, 't.expected': on ? '1' : undefined })}
          />
        ) : (
          <span class="muted">{texts.openARunInThe}</span>
        )}
        <Text
          title={texts.layout}
          wide
          placeholder={texts.tp8Cp1Dp}
          about={texts.parallelSizesInnermostFirstLayout}
          value={layout ?? ''}
          onChange={set('layout')}
        />
        <Text
          title={texts.accelerator}
          placeholder={profile?.device ?? texts.fromTheTraces}
          about={texts.catalogueNameAccelerator}
          value={accelerator ?? ''}
          onChange={set('accelerator')}
        />
        {!run && (
          <Text
            title={texts.flopPerStep}
            placeholder="1.2e18"
            about={texts.modelFlopsOfAStep}
            value={flops ?? ''}
            onChange={set('flops')}
          />
        )}
      </div>
    </details>
  )
}
