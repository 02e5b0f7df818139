// What a device costs more in a larger scale-up domain: a row for each size, `64=2500 256=6000` in the address.
// Refuses to know a price: vendors publish none.
import { COUNT, DOLLARS, plain } from '../../state/amounts'
import { type Pair, chosenPairs, pairsOf, pairsText } from '../../state/settings'
import { NumberInput, Removable } from '../../ui/amounts'
import { RemoveButton } from '../../ui/remove'
import * as texts from '../../words/network'

interface Props {
  readonly value: string
  /** Sizes of the answer without a price. */
  readonly unpriced: readonly number[]
  readonly onChange: (value: string | undefined) => void
}

/** Prices with commas or blanks between them, as older links have them. */
export const pricesOf = (text: string): readonly Pair[] => pairsOf(text.replace(/,\s*/g, ' '), ' ')

/** What the question takes: sizes that have a price. */
export const priceArguments = (text: string): readonly string[] =>
  chosenPairs(pricesOf(text)).flatMap(([size, price]) => (size === '' ? [] : [`${size}=${price}`]))

export function ScaleUpPrices({ value, unpriced, onChange }: Props) {
  const rows = pricesOf(value)
  const set = (next: readonly Pair[]) => onChange(next.length > 0 ? pairsText(next, ' ') : undefined)
  const change = (at: number, row: Pair) => set(rows.map((one, place) => (place === at ? row : one)))
  const missing = unpriced.filter((size) => !rows.some(([known]) => known === String(size)))
  return (
    <div class="settings" role="group" id={PRICES} aria-label={texts.scaleUpPrices} title={texts.addedPricePerDeviceOf}>
      {rows.map(([size, price], at) => {
        const remove = () => set(rows.filter((_, place) => place !== at))
        const isRead = (size === '' || COUNT.read(size) !== null) && (price === '' || DOLLARS.read(price) !== null)
        if (!isRead) return <Removable key={size} text={`${size}=${price}`} onRemove={remove} />
        return (
          <div key={`${size}${at}`} class="setting" role="group" aria-label={texts.domainsOfSize(size)}>
            <span class="muted">{texts.domainsOf3}</span>
            <NumberInput
              key={size}
              unit={COUNT}
              initial={size}
              label={texts.domain}
              onDone={(next) => change(at, [next === null ? '' : plain(next), price])}
            />
            <span class="muted">{texts.costPerDevice}</span>
            <NumberInput
              key={price}
              unit={DOLLARS}
              initial={price.replace(/^\$/, '')}
              label={texts.priceOfSize(size)}
              onDone={(next) => change(at, [size, next === null ? '' : plain(next)])}
            />
            <RemoveButton label={texts.removePrice(size)} onClick={remove} />
          </div>
        )
      })}
      <div class="entry">
        <span>{texts.scaleUpPrices}</span>
        <button type="button" class="button" onClick={() => set([...rows, ...priced(missing)])}>
          {missing.length > 0 ? texts.addPricesOf(missing.join(', ')) : texts.addAPrice}
        </button>
      </div>
    </div>
  )
}

/** Where the prices stand, for what leads there. */
export const PRICES = 'scale-up-prices'

/** New rows: the sizes that lack a price, or an empty one. */
export const priced = (sizes: readonly number[]): readonly Pair[] =>
  sizes.length > 0 ? sizes.map((size) => [String(size), ''] as const) : [['', '']]
