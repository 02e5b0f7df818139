// Strategies by their settings, `tp=8,pp=4 tp=4` in the address: each a row of settings with the values that are valid with the run.
import type { Arguments } from '../../api/ask'
import { type Pair, chosenPairs, controlOf, pairsOf, pairsText } from '../../state/settings'
import { type Setting, Settings } from '../../ui/settings'
import { useDimensions } from '../parts/dimensions'
import { planName } from '../parts/strategy'
import * as texts from '../../words/search'

/** Each strategy's settings; a blank separates strategies. */
export const strategiesOf = (text: string): readonly (readonly Pair[])[] =>
  text
    .split(/\s+/)
    .filter(Boolean)
    .map((one) => pairsOf(one))

const textOf = (strategies: readonly (readonly Pair[])[]): string =>
  strategies
    .map((one) => pairsText(one))
    .filter(Boolean)
    .join(' ')

/** What the question takes: strategies with at least one value. */
export const named = (text: string): string[] =>
  strategiesOf(text)
    .map((one) => pairsText(chosenPairs(one)))
    .filter(Boolean)

interface Props {
  readonly value: string
  /** The layout of the calculator, which may be asked about as it is. */
  readonly mine: Readonly<Record<string, string>>
  readonly run: Arguments | null
  readonly onChange: (value: string) => void
}

export function Strategies({ value, mine, run, onChange }: Props) {
  const dimensions = useDimensions(run)
  const options: readonly Setting[] = dimensions.map(({ flag, title, about, values, key }) => ({
    name: flag,
    title: flag,
    about,
    auto: title,
    control: controlOf(key, values),
  }))
  const find = (name: string) => options.find((one) => one.name === planName(name))
  const strategies = strategiesOf(value)
  const set = (at: number, pairs: readonly Pair[]) =>
    onChange(textOf(at < strategies.length ? strategies.map((one, place) => (place === at ? pairs : one)) : [...strategies, pairs]))
  const own = Object.entries(mine).filter(([name]) => options.some((one) => one.name === name))
  return (
    <div class="strategies">
      {[...strategies, []].map((pairs, at) => (
        <Settings
          key={at}
          title={at < strategies.length ? texts.strategyNumber(at + 1) : strategies.length > 0 ? texts.anotherStrategy : texts.strategy}
          pairs={pairs}
          options={options}
          find={find}
          onChange={(next) => set(at, next)}
        />
      ))}
      {own.length > 0 && !strategies.some((one) => pairsText(one) === pairsText(own)) && (
        <button type="button" class="button" onClick={() => set(strategies.length, own)}>
          {texts.theCalculatorsLayout}
        </button>
      )}
    </div>
  )
}
