// The run of the view in one line: model, cluster, devices, tokens, batch, sequence. Every field is a parameter of the URL, common to all
// views. Layouts are in the calculator.
import { useEffect, useState } from 'preact/hooks'
import { askOnce } from '../../api/live'
import { ofPrefix } from '../../state/fragment'
import { change, location } from '../../state/location'
import { canonicalName } from './strategy'
import * as texts from '../../words/parts'

interface Field {
  readonly key: string
  readonly title: string
  readonly placeholder: string
  readonly wide?: boolean
  readonly list?: 'models' | 'clusters'
  readonly about?: string
}

const FIELDS: readonly Field[] = [
  { key: 'model', title: texts.model, placeholder: texts.llama31405b, wide: true, list: 'models' },
  { key: 'cluster', title: texts.cluster, placeholder: texts.dgxH100, list: 'clusters' },
  { key: 'gpus', title: texts.gpus, placeholder: texts.oneNode, about: texts.acceleratorsThatTheRunUses },
  { key: 'global-batch', title: texts.globalBatch, placeholder: texts.chosen, about: texts.sequencesPerStep },
  { key: 'sequence-length', title: texts.sequence, placeholder: texts.models, about: texts.tokensPerSequence },
  { key: 'tokens', title: texts.tokens, placeholder: texts.oneStep, about: texts.tokensToTrainOnAs },
]

/** Value of a parameter, under any of its names. */
export function runParameter(key: string): string {
  const entry = Object.entries(ofPrefix(location.value.parameters, '')).find(([name]) => canonicalName(name) === key)
  return entry?.[1] ?? ''
}

export function RunBar({ fields = FIELDS.map((field) => field.key) }: { fields?: readonly string[] }) {
  const lists = useCatalogue()
  return (
    <div class="run-bar" role="group" aria-label={texts.run}>
      {FIELDS.filter((field) => fields.includes(field.key)).map((field) => (
        <RunField key={field.key} field={field} options={field.list ? lists[field.list] : undefined} />
      ))}
    </div>
  )
}

function RunField({ field, options }: { field: Field; options: readonly string[] | undefined }) {
  const value = runParameter(field.key)
  const commit = (text: string) => {
    const trimmed = text.trim()
    if (trimmed === value) return
    const others = Object.keys(ofPrefix(location.value.parameters, '')).filter(
      (name) => name !== field.key && canonicalName(name) === field.key,
    )
    change({ ...Object.fromEntries(others.map((name) => [name, undefined])), [field.key]: trimmed })
  }
  return (
    <label class={field.wide ? 'entry wide' : 'entry'} title={field.about}>
      <span>{field.title}</span>
      <input
        key={value}
        class="input"
        defaultValue={value}
        placeholder={field.placeholder}
        title={value || field.about}
        spellcheck={false}
        autocomplete="off"
        list={options ? `run-bar-${field.key}` : undefined}
        onChange={(event) => commit(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit(event.currentTarget.value)
        }}
      />
      {options && (
        <datalist id={`run-bar-${field.key}`}>
          {options.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </label>
  )
}

interface Named {
  readonly name: string
}

/** Names of the catalogue, as suggestions. */
export function useCatalogue(): Record<'models' | 'clusters', readonly string[]> {
  const [lists, setLists] = useState<Record<'models' | 'clusters', readonly string[]>>({ models: [], clusters: [] })
  useEffect(() => {
    let here = true
    const models = askOnce<{ models: readonly Named[] }>('models/list').then((got) => got.answer.models.map((one) => one.name))
    const clusters = askOnce<{ clusters: readonly Named[] }>('clusters/list').then((got) => got.answer.clusters.map((one) => one.name))
    // Without the catalogue the fields still accept any name.
    Promise.all([models, clusters]).then(
      ([models, clusters]) => here && setLists({ models, clusters }),
      () => undefined,
    )
    return () => {
      here = false
    }
  }, [])
  return lists
}
