// "Narrow to": the dimensions of a search that are restricted, each with the values that are valid with the run.
// Responsible for: adding and removing dimensions and choosing values. Refuses to hold a value of its own: the program offers them.
import type { Arguments } from '../../api/ask'
import { type Dimension, useDimensions } from './dimensions'
import { type Restriction, isRange, restrictionsOf, textOf, toggled } from './narrowing'
import { planName } from './strategy'
import { RemoveButton } from '../../ui/remove'
import * as texts from '../../words/parts'

/** Number of values above which only the ends are chosen. */
const MOST = 12

interface Props {
  readonly title: string
  /** `tp=2,4 vp=1..4` */
  readonly value: string
  readonly onChange: (value: string | undefined) => void
  /** Run whose valid values are offered, without the searched layout. */
  readonly run: Arguments | null
  /** Settings fixed by the run, which the search cannot vary. */
  readonly fixed?: readonly string[]
}

export function Narrow({ title, value, onChange, run, fixed = [] }: Props) {
  const dimensions = useDimensions(run)
  const of = (flag: string) => dimensions.find((one) => one.flag === flag)
  const restrictions = restrictionsOf(value.split(' ').filter(Boolean), planName, (flag) => of(flag)?.values ?? [])
  const set = (next: readonly Restriction[]) => onChange(next.length > 0 ? textOf(next) : undefined)
  const change = (at: number, next: Restriction) => set(restrictions.map((one, place) => (place === at ? next : one)))
  const open = dimensions.filter((one) => !fixed.includes(one.flag) && !restrictions.some((other) => other.name === one.flag))
  return (
    <div class="narrow" role="group" aria-label={title}>
      <label class="entry">
        <span>{title}</span>
        <select
          class="select"
          value=""
          onChange={(event) => {
            const flag = event.currentTarget.value
            event.currentTarget.value = ''
            if (flag) set([...restrictions, { name: flag, values: [] }])
          }}
        >
          <option value="">{texts.addASetting}</option>
          {open.map((one) => (
            <option key={one.flag} value={one.flag}>
              {one.flag}: {one.title}
            </option>
          ))}
        </select>
      </label>
      {restrictions.map((one, at) => (
        <Values
          key={one.name}
          restriction={one}
          dimension={of(one.name) ?? { flag: one.name, about: '', values: [] }}
          onChange={(next) => change(at, next)}
          onRemove={() => set(restrictions.filter((_, place) => place !== at))}
        />
      ))}
    </div>
  )
}

interface ValuesProps {
  readonly restriction: Restriction
  readonly dimension: Pick<Dimension, 'flag' | 'about' | 'values'>
  readonly onChange: (next: Restriction) => void
  readonly onRemove: () => void
}

/** Values of one dimension: buttons for few, first and last for many. */
function Values({ restriction, dimension, onChange, onRemove }: ValuesProps) {
  const offered = dimension.values
  const extra = restriction.values.filter((value) => !offered.includes(value))
  const many = offered.length > MOST && offered.every((value) => /^\d+$/.test(value))
  // A list with gaps is not described by its ends, so its values can be removed one by one.
  const hasGaps = many && !isRange(restriction.values, offered)
  return (
    <div class="narrow-row" role="group" aria-label={dimension.flag} title={dimension.about}>
      <span class="muted">{dimension.flag}</span>
      {many && !hasGaps ? (
        <Range restriction={restriction} offered={offered} onChange={onChange} />
      ) : (
        (hasGaps ? restriction.values : [...offered, ...extra]).map((value) => (
          <button
            key={value}
            type="button"
            class="pick"
            aria-pressed={restriction.values.includes(value)}
            onClick={() => onChange(toggled(restriction, value, offered))}
          >
            {value}
          </button>
        ))
      )}
      {restriction.values.length === 0 && <span class="muted">{texts.anyValueUntilOneIsChosen}</span>}
      <RemoveButton label={texts.removeSetting(dimension.flag)} onClick={onRemove} />
    </div>
  )
}

function Range({
  restriction,
  offered,
  onChange,
}: {
  restriction: Restriction
  offered: readonly string[]
  onChange: ValuesProps['onChange']
}) {
  const { values } = restriction
  const [low, high] = [values[0] ?? offered[0]!, values.at(-1) ?? offered.at(-1)!]
  const set = (from: string, to: string) =>
    onChange({ ...restriction, values: offered.filter((value) => Number(value) >= Number(from) && Number(value) <= Number(to)) })
  const known = [...new Set([...offered, low, high])].sort((a, b) => Number(a) - Number(b))
  const select = (label: string, value: string, choose: (value: string) => void, can: (value: string) => boolean) => (
    <select class="select" aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      {known.filter(can).map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  )
  return (
    <>
      {select(
        texts.from,
        low,
        (value) => set(value, high),
        (value) => Number(value) <= Number(high),
      )}
      <span class="muted">{texts.to}</span>
      {select(
        texts.to,
        high,
        (value) => set(low, value),
        (value) => Number(value) >= Number(low),
      )}
    </>
  )
}
