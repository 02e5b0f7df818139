// All other keys of a run file: found by name, set from the program's list of values, or as text. Set keys are listed and can be removed.
import { useState } from 'preact/hooks'
import { Combobox } from '../../ui/combobox'
import type { Valid } from '../../state/valid'
import { controlOf } from '../../state/settings'
import { Choice, TextField } from '../../ui/fields'
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

export function OtherSettings({ valid }: { valid: Valid }) {
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
        const control = key && controlOf(key, valid.get(flag))
        const common = {
          label: flag.replaceAll('-', ' '),
          about: key?.doc ?? '',
          own: true,
          value: text[flag] ?? '',
          onChange: (value: string) => set({ [flag]: value || undefined }),
        }
        const remove = () => {
          setAdded(added.filter((one) => one !== flag))
          set({ [flag]: undefined })
        }
        if (control?.is === 'choice') {
          const listed = control.options.map((one) => [one, one] as const)
          return <Choice key={flag} {...common} onAuto={remove} options={common.value === '' ? [['', texts.notSet], ...listed] : listed} />
        }
        return (
          <TextField
            key={flag}
            {...common}
            placeholder={(key && 'choices' in key ? key.choices.join(' | ') : undefined) ?? key?.default ?? ''}
            after={
              <button type="button" class="button quiet icon" aria-label={texts.takeBack(flag)} onClick={remove}>
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
