// Parts of the simulated network that fail: rows of a kind and a number, `nic:3 leaf:0 link:leaf-spine:5` in the address.
// Which kinds there are, and how many of each, is the program's count of the design.
import { useAnswer } from '../../api/live'
import { count } from '../../charts/format'
import { NUMBER_FROM_0, plain } from '../../state/amounts'
import { NumberInput, Removable } from '../../ui/amounts'
import type { ShowAnswer } from './answer'
import { type Failed, free, kindsOf, partsOf, textOf } from './failures-of-parts'
import { designFlags, kind } from './state'
import { RemoveButton } from '../../ui/remove'
import * as texts from '../../words/network'

export function FailedParts({ value, onChange }: { readonly value: string; readonly onChange: (value: string | undefined) => void }) {
  const { answer } = useAnswer<ShowAnswer>('network/show', { design: kind(), ...designFlags(true) })
  const kinds = answer ? kindsOf(answer) : []
  const rows = partsOf(value)
  const set = (next: readonly Failed[]) => onChange(next.length > 0 ? textOf(next) : undefined)
  return (
    <div class="settings" role="group" aria-label={texts.brokenParts} title={texts.partsThatAreBrokenSeparated}>
      {rows.map((row, at) => {
        const known = kinds.find((one) => one.name === row.kind)
        const remove = () => set(rows.filter((_, place) => place !== at))
        if (row.number !== '' && NUMBER_FROM_0.read(row.number) === null)
          return <Removable key={at} text={`${row.kind}:${row.number}`} onRemove={remove} />
        const title = known?.title ?? row.kind
        return (
          <div key={at} class="setting" role="group" aria-label={title}>
            <span class="muted">{title}</span>
            <NumberInput
              key={row.number}
              unit={known ? { ...NUMBER_FROM_0, most: known.count - 1 } : NUMBER_FROM_0}
              initial={row.number}
              label={texts.partOfKind(title)}
              onDone={(next) => set(rows.map((one, place) => (place === at ? { ...one, number: next === null ? '' : plain(next) } : one)))}
            />
            {known && <span class="unit">{texts.ofCount(count(known.count))}</span>}
            <RemoveButton label={texts.removePart(title, row.number)} onClick={remove} />
          </div>
        )
      })}
      <label class="entry">
        <span>{texts.brokenParts}</span>
        <select
          class="select"
          value=""
          onChange={(event) => {
            const name = event.currentTarget.value
            event.currentTarget.value = ''
            if (name) set([...rows, { kind: name, number: free(name, rows) }])
          }}
        >
          <option value="">{texts.failAPart}</option>
          {kinds.map((one) => (
            <option key={one.name} value={one.name}>
              {one.title}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}
