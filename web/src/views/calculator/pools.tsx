// Devices of other kinds in the cluster: each a system or an accelerator with a number of devices, on the last ranks. Responsible for: the
// setting `pools`. The program places the ranks, and rejects what does not fit.
import type { Estimate } from '../../api/answers'
import { report } from '../../api/report'
import { count } from '../../charts/format'
import { NUMBER } from '../../state/amounts'
import { NumberInput } from '../../ui/amounts'
import { Combobox, type Option } from '../../ui/combobox'
import { RemoveButton } from '../../ui/remove'
import { type Pool, poolsOf, poolsText } from './facts'
import { edited, set } from './scenarios'
import * as texts from '../../words/calculator'

/** Devices of a kind when it is added: half of all, which leaves as many of the main kind. */
const half = (all: number): string => String(Math.max(1, Math.floor(all / 2)))

export function Pools({ options, estimate, devices }: { options: readonly Option[]; estimate: Estimate | null; devices: number }) {
  const pools = poolsOf(edited.value.pools ?? '')
  const write = (next: readonly Pool[]) => set({ pools: next.length > 0 ? poolsText(next) : undefined })
  const known = estimate?.cluster.pools ?? []
  return (
    <details class="pools" open={pools.length > 0}>
      <summary>
        {texts.devicesOfOtherKinds} <span class="muted">{pools.length > 0 ? String(pools.length) : texts.none}</span>
      </summary>
      {pools.map((pool, at) => (
        <div key={`${at} ${pool.name}`} class="pool" role="group" aria-label={pool.name}>
          <span class="pool-name">{pool.name}</span>
          <NumberInput
            key={pool.devices}
            unit={{ ...NUMBER, least: 1 }}
            initial={pool.devices}
            label={texts.devicesOf(pool.name)}
            onDone={(amount) =>
              amount !== null && write(pools.map((one, place) => (place === at ? { ...one, devices: String(Math.round(amount)) } : one)))
            }
          />
          <RemoveButton label={texts.removeKind(pool.name)} onClick={() => write(pools.filter((_, place) => place !== at))} />
        </div>
      ))}
      <Combobox
        label={texts.devicesOfOtherKinds}
        value=""
        placeholder={texts.addDevicesOfAnotherKind}
        options={options}
        onChoose={(name) => write([...pools, { name, devices: half(devices) }])}
        disabled={report !== null}
      />
      {pools.length > 0 &&
        known.map((pool) => (
          <p key={pool.first_rank} class="muted line">
            {texts.ranksOfKind(count(pool.first_rank), count(pool.first_rank + pool.devices - 1), pool.accelerator_name)}
          </p>
        ))}
    </details>
  )
}
