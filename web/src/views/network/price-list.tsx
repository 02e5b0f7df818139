// The user's own prices instead of the catalogue's: a file that is uploaded, by its path in the address.
import type { Arguments } from '../../api/ask'
import { Removable } from '../../ui/amounts'
import { FileButton } from '../../ui/file-button'
import { parameter, setParameter } from './state'
import * as texts from '../../words/network'

/** The price list as an argument, where there is one. */
export function priceList(): Arguments {
  const path = parameter('prices')
  return path ? { prices: path } : {}
}

export function PriceList() {
  const path = parameter('prices')
  return (
    <div class="entry" role="group" aria-label={texts.priceList} title={texts.ownPriceList}>
      <span>{texts.priceList}</span>
      {path ? (
        <Removable text={path.split('/').at(-1) ?? path} onRemove={() => setParameter('prices', undefined)} />
      ) : (
        <FileButton title={texts.openAPriceList} accept=".csv,text/csv" onPath={(sent) => setParameter('prices', sent)} />
      )}
    </div>
  )
}
