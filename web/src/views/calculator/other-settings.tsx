// All other keys of a run file: found by name, set as text. Set keys are listed and can be removed.
import { useState } from 'preact/hooks'
import { Combobox } from '../../ui/combobox'
import { TextField } from '../../ui/fields'
import { useKeyList } from '../parts/dimensions'
import { flagOf } from './flags'
import { edited, set } from './scenarios'
import * as texts from '../../words/calculator'

/** Settings with a control of their own. */
const SHOWN = new Set([
  'model',
  'cluster',
  'gpus',
  'pools',
  'tp',
  'pp',
  'cp',
  'vp',
  'ep',
  'etp',
  'uneven-stages',
  'sequence-parallel',
  'schedule',
  'global-batch',
  'micro-batch',
  'sequence-length',
  'sharding',
  'recompute',
  'precision',
  'overlap-gradient-reduce',
  'overlap-parameter-gather',
  'overlap-tensor',
  'overlap-pipeline',
  'overlap-expert',
  'tokens',
  'price-per-device-hour',
  'on',
])

export function OtherSettings() {
  const keys = useKeyList()
  const [added, setAdded] = useState<readonly string[]>([])
  const text = edited.value
  const flags = keys.map((key) => ({ key, flag: flagOf(key) })).filter(({ flag }) => !SHOWN.has(flag))
  const rows = [...new Set([...Object.keys(text).filter((flag) => !SHOWN.has(flag)), ...added])]
  return (
    <section class="section" aria-label={texts.otherSettings}>
      <h2>{texts.otherSettings}</h2>
      {rows.map((flag) => {
        const key = flags.find((one) => one.flag === flag)?.key
        return (
          <TextField
            key={flag}
            label={flag.replaceAll('-', ' ')}
            about={key?.doc}
            own
            value={text[flag] ?? ''}
            placeholder={(key && 'choices' in key ? key.choices.join(' | ') : undefined) ?? key?.default ?? ''}
            onChange={(value) => set({ [flag]: value || undefined })}
            after={
              <button
                type="button"
                class="button quiet icon"
                aria-label={texts.takeBack(flag)}
                onClick={() => {
                  setAdded(added.filter((one) => one !== flag))
                  set({ [flag]: undefined })
                }}
              >
                ✕
              </button>
            }
          />
        )
      })}
      <Combobox
        label={texts.addASetting2}
        value=""
        placeholder={texts.addASetting}
        options={flags
          .filter(({ flag }) => !rows.includes(flag))
          .map(({ key, flag }) => ({
            value: flag,
            title: flag.replaceAll('-', ' '),
            note: key.default.length < 28 ? key.default : '',
            group: key.section,
            words: key.doc,
          }))}
        onChoose={(flag) => setAdded([...added, flag])}
      />
    </section>
  )
}
