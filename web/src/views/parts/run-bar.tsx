// The run of the view in one line: model, cluster, devices, tokens, batch, sequence. Every field is a parameter of the URL, common to all
// views, and can be set back to auto. Layouts are in the calculator; another model or cluster sets them back, as there.
import { useEffect, useState } from 'preact/hooks'
import { askOnce } from '../../api/live'
import { withoutHandle } from '../../api/uploads'
import { ofPrefix } from '../../state/fragment'
import { change, location } from '../../state/location'
import { runText } from '../../state/run'
import { Combobox, type Option } from '../../ui/combobox'
import { replan } from './replan'
import { canonicalName } from './strategy'
import * as texts from '../../words/parts'
import * as common from '../../words/ui'

interface Field {
  readonly key: string
  readonly title: string
  readonly placeholder: string
  readonly list?: 'models' | 'clusters'
  readonly about?: string
}

const FIELDS: readonly Field[] = [
  { key: 'model', title: texts.model, placeholder: texts.llama31405b, list: 'models' },
  { key: 'cluster', title: texts.cluster, placeholder: texts.dgxH100, list: 'clusters' },
  { key: 'gpus', title: texts.gpus, placeholder: texts.oneNode, about: texts.acceleratorsThatTheRunUses },
  { key: 'global-batch', title: texts.globalBatch, placeholder: common.auto, about: texts.sequencesPerStep },
  { key: 'sequence-length', title: texts.sequence, placeholder: common.auto, about: texts.tokensPerSequence },
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
      {FIELDS.filter((field) => fields.includes(field.key)).map((field) =>
        field.list ? <NameField key={field.key} field={field} names={lists[field.list]} /> : <NumberField key={field.key} field={field} />,
      )}
    </div>
  )
}

/** Options for a name of the catalogue; a value that is not in it, such as a file, is listed first. Pure. */
export function optionsOf(names: readonly string[], value: string): readonly Option[] {
  const listed = names.map((name) => ({ value: name, title: name }))
  return value === '' || names.includes(value) ? listed : [{ value, title: withoutHandle(value) }, ...listed]
}

/** A model or a cluster. Its change sets the plan back to auto, because it was made for the previous one. */
function NameField({ field, names }: { field: Field; names: readonly string[] }) {
  const value = runParameter(field.key)
  const file = field.key === 'model' ? (runText.value.run ?? runText.value.launch) : undefined
  return (
    <div class={field.key === 'model' ? 'entry wide' : 'entry named'} title={field.about}>
      <span>{field.title}</span>
      <Combobox
        label={field.title}
        value={value}
        options={optionsOf(names, value)}
        placeholder={file === undefined ? field.placeholder : withoutHandle(file)}
        free={(text) => ({ value: text.trim(), title: text.trim(), note: texts.asTyped })}
        onChoose={(name) => replan(runText.value, change, field.key === 'model' ? 'model' : 'cluster', name)}
      />
    </div>
  )
}

function NumberField({ field }: { field: Field }) {
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
    <div class="entry" title={field.about}>
      <span>
        {field.title}{' '}
        {value !== '' && (
          <button type="button" class="to-auto" aria-label={common.resetToAuto(field.title)} onClick={() => commit('')}>
            {common.reset}
          </button>
        )}
      </span>
      <input
        key={value}
        class="input"
        aria-label={field.title}
        defaultValue={value}
        placeholder={field.placeholder}
        title={value || field.about}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => commit(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit(event.currentTarget.value)
        }}
      />
    </div>
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
