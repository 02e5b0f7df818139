// An accelerator of the catalogue, found by typing; empty is auto.
import type { Accelerator } from '../../api/answers'
import { useListed } from '../../api/live'
import { Combobox, type Option } from '../../ui/combobox'
import * as texts from '../../words/ui'

interface Props {
  readonly title: string
  readonly about?: string
  readonly value: string
  /** What holds while none is chosen. */
  readonly auto: string
  readonly onChange: (value: string | undefined) => void
}

export function AcceleratorField({ title, about, value, auto, onChange }: Props) {
  const options = useAccelerators()
  return (
    <div class="entry" title={about}>
      <span>
        {title}{' '}
        {value && (
          <button type="button" class="to-auto" aria-label={texts.resetToAuto(title)} onClick={() => onChange(undefined)}>
            {texts.reset}
          </button>
        )}
      </span>
      <Combobox label={title} value={value} placeholder={auto} options={options} onChoose={onChange} />
    </div>
  )
}

const useAccelerators = (): readonly Option[] =>
  useListed<{ accelerators: readonly Accelerator[] }, readonly Option[]>(
    'gpus/list',
    ({ accelerators }) => accelerators.map(({ id, name }) => ({ value: id, title: id, note: name })),
    [],
  )
