// The user's own prices instead of the catalogue's: a file that is uploaded, by its path in the address.
import { useRef } from 'preact/hooks'
import type { Arguments } from '../../api/ask'
import { Refusal } from '../../api/ask'
import { upload } from '../../api/uploads'
import { toast } from '../../state/toasts'
import { Removable } from '../../ui/amounts'
import { parameter, setParameter } from './state'
import * as texts from '../../words/network'

/** The price list as an argument, where there is one. */
export function priceList(): Arguments {
  const path = parameter('prices')
  return path ? { prices: path } : {}
}

export function PriceList() {
  const files = useRef<HTMLInputElement>(null)
  const path = parameter('prices')
  const open = async (file: File | undefined) => {
    if (!file) return
    try {
      setParameter('prices', (await upload(file)).path)
    } catch (error) {
      toast(error instanceof Refusal ? (error.problems[0]?.message ?? '') : String(error), { kind: 'refused' })
    }
  }
  return (
    <div class="entry" role="group" aria-label={texts.priceList} title={texts.ownPriceList}>
      <span>{texts.priceList}</span>
      {path ? (
        <Removable text={path.split('/').at(-1) ?? path} onRemove={() => setParameter('prices', undefined)} />
      ) : (
        <button type="button" class="button" onClick={() => files.current?.click()}>
          {texts.openAPriceList}
        </button>
      )}
      <input ref={files} type="file" hidden accept=".csv,text/csv" onChange={(event) => void open(event.currentTarget.files?.[0])} />
    </div>
  )
}
