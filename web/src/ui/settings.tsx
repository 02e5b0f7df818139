// Settings by name: rows that can be added and removed, each with the control of its kind.
// Responsible for: name and value. Which names there are, and which values are valid, comes with the options.
import { type Control, type Form, type Operator, type Pair, changeOf, changeText, formOf } from '../state/settings'
import { NUMBER, NUMBER_FROM_0, PERCENT, plain, quantityOf } from '../state/amounts'
import { Amounts, NumberInput, Removable } from './amounts'
import { Combobox } from './combobox'
import { RemoveButton } from './remove'
import * as texts from '../words/ui'

export interface Setting {
  readonly name: string
  readonly title: string
  readonly about?: string
  readonly group?: string
  /** What holds without it. */
  readonly auto?: string
  readonly control: Control
}

interface Props {
  readonly title: string
  readonly about?: string
  readonly pairs: readonly Pair[]
  readonly options: readonly Setting[]
  readonly onChange: (pairs: readonly Pair[]) => void
  /** Whether numbers may change by a factor or a percentage. */
  readonly relative?: boolean
  /** What the field for a further setting has in it. */
  readonly add?: string
  /** The option that an older name means. */
  readonly find?: (name: string) => Setting | undefined
}

export function Settings({ title, about, pairs, options, onChange, relative = false, add = texts.addASetting, find }: Props) {
  const settingOf = (name: string) => options.find((one) => one.name === name) ?? find?.(name)
  const taken = new Set(pairs.map(([name]) => settingOf(name)?.name ?? name))
  const open = options.filter((one) => !taken.has(one.name))
  return (
    <div class="settings" role="group" aria-label={title} title={about}>
      {pairs.map(([name, value], at) => {
        const setting = settingOf(name) ?? { name, title: name, control: { is: 'text' } as const }
        const change = (next: string) => onChange(pairs.map((one, place) => (place === at ? [name, next] : one)))
        return (
          <div key={name} class="setting" role="group" aria-label={setting.title} title={setting.about}>
            <span class="muted">{setting.title}</span>
            <Value setting={setting} value={value} relative={relative} onChange={change} />
            <RemoveButton label={texts.removeValue(setting.title)} onClick={() => onChange(pairs.filter((_, place) => place !== at))} />
          </div>
        )
      })}
      {open.length > 0 && (
        <div class="entry">
          <span>{title}</span>
          <Combobox
            label={title}
            value=""
            placeholder={add}
            options={open.map((one) => ({
              value: one.name,
              title: one.title,
              ...(one.auto && one.auto.length < 28 ? { note: one.auto } : {}),
              ...(one.group ? { group: one.group } : {}),
              words: one.about ?? '',
            }))}
            onChoose={(name) => onChange([...pairs, [name, '']])}
          />
        </div>
      )}
    </div>
  )
}

interface ValueProps {
  readonly setting: Setting
  readonly value: string
  readonly onChange: (value: string) => void
}

function Value({ relative, ...props }: ValueProps & { relative: boolean }) {
  const { setting, value, onChange } = props
  const isNumeric = ['number', 'quantity'].includes(setting.control.is) || isNumbers(setting.control)
  if (!relative || !isNumeric) return <Plain {...props} />
  const now = changeOf(value)
  const operators: readonly (readonly [Operator, string])[] = [
    ['=', texts.setTo],
    ['x', texts.byFactor],
    ['%', texts.changeByPercent],
  ]
  return (
    <>
      <Select
        label={texts.howItChanges(setting.title)}
        value={now.operator}
        options={operators}
        // A value of another operator means something else: the factor 2 begins where nothing is chosen yet.
        onChange={(operator) => onChange(changeText(operator as Operator, operator === '=' ? '' : operator === 'x' ? '2' : '10'))}
      />
      {now.operator === '=' ? (
        <Plain {...props} />
      ) : (
        <NumberInput
          key={value}
          unit={now.operator === 'x' ? { ...NUMBER, least: 0 } : NUMBER}
          initial={now.value}
          label={setting.title}
          onDone={(amount) => onChange(amount === null ? '' : changeText(now.operator, plain(amount)))}
        />
      )}
      {now.operator === '%' && <span class="unit">%</span>}
    </>
  )
}

const isNumbers = (control: Control): boolean =>
  control.is === 'choice' && control.options.length > 0 && control.options.every((one) => /^\d+$/.test(one))

function Plain({ setting, value, onChange }: ValueProps) {
  const { control, title } = setting
  switch (control.is) {
    case 'choice': {
      const known = value === '' || control.options.includes(value)
      const list = known ? control.options : [value, ...control.options]
      return <Select label={title} value={value} open options={list.map((one) => [one, one])} onChange={onChange} />
    }
    case 'form':
      return <FormValue title={title} forms={control.forms} value={value} onChange={onChange} />
    case 'number':
    case 'share': {
      const unit = control.is === 'share' ? PERCENT : control.whole ? NUMBER_FROM_0 : NUMBER
      const read = unit.read(value)
      if (value && read === null) return <Removable text={value} onRemove={() => onChange('')} />
      return (
        <>
          <NumberInput
            key={value}
            unit={unit}
            initial={read === null ? '' : plain(read)}
            placeholder={setting.auto && /^[\d.]+$/.test(setting.auto) ? setting.auto : undefined}
            label={title}
            onDone={(amount) => onChange(amount === null ? '' : unit.write(amount))}
          />
          {unit.sign && <span class="unit">{unit.sign}</span>}
        </>
      )
    }
    case 'quantity':
      return <QuantityValue title={title} units={control.units} value={value} onChange={onChange} />
    case 'numbers':
      return <Amounts title={title} value={value} unit={NUMBER_FROM_0} ordered onChange={(next) => onChange(next ?? '')} />
    case 'text':
      return (
        <input
          key={value}
          class="input"
          aria-label={title}
          defaultValue={value}
          placeholder={setting.auto}
          spellcheck={false}
          autocomplete="off"
          onChange={(event) => onChange(event.currentTarget.value.trim())}
        />
      )
  }
}

function FormValue(props: { title: string; forms: readonly Form[]; value: string; onChange: (value: string) => void }) {
  const { title, forms, value, onChange } = props
  const now = formOf(value, forms)
  const id = (form: Form) => (form.hasNumber ? `${form.head}#` : form.head)
  const options: (readonly [string, string])[] = forms.map((form) => [
    id(form),
    form.hasNumber ? (form.head === '' ? texts.aNumber : `${form.head.replace(/:$/, '')}: ${texts.aNumber}`) : form.head,
  ])
  if (!now && value) options.unshift([value, value])
  return (
    <>
      <Select
        label={title}
        value={now ? id(now.form) : value}
        open
        options={options}
        onChange={(chosen) => {
          const form = forms.find((one) => id(one) === chosen)
          onChange(form?.hasNumber ? `${form.head}1` : chosen)
        }}
      />
      {now?.form.hasNumber && (
        <NumberInput
          key={value}
          unit={NUMBER_FROM_0}
          initial={now.number}
          label={texts.numberOf(title)}
          onDone={(amount) => onChange(amount === null ? '' : `${now.form.head}${plain(amount)}`)}
        />
      )}
    </>
  )
}

function QuantityValue(props: { title: string; units: readonly string[]; value: string; onChange: (value: string) => void }) {
  const { title, units, value, onChange } = props
  const now = quantityOf(value)
  if (value && !now) return <Removable text={value} onRemove={() => onChange('')} />
  const unit = now?.unit || (units[0] ?? '')
  const known = units.includes(unit) ? units : [unit, ...units]
  // Without a blank: settings of one text are separated by blanks.
  const write = (amount: number, of: string) => `${plain(amount)}${of}`
  return (
    <>
      <NumberInput
        key={value}
        unit={{ ...NUMBER, least: 0 }}
        initial={now ? plain(now.value) : ''}
        label={title}
        onDone={(amount) => onChange(amount === null ? '' : write(amount, unit))}
      />
      <Select
        label={texts.unitOf(title)}
        value={unit}
        options={known.map((one) => [one, one])}
        onChange={(next) => now && onChange(write(now.value, next))}
      />
    </>
  )
}

/** A list; `open` has an empty entry until something is chosen. */
function Select(props: {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  open?: boolean
  onChange: (value: string) => void
}) {
  return (
    <select class="select" aria-label={props.label} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
      {props.open && props.value === '' && <option value="">{texts.choose}</option>}
      {props.options.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  )
}
