// The network view: desks for topology, traffic, costs, flows, failures, co-design and the rail-only paper. All state is in the URL.
import { useEffect } from 'preact/hooks'
import { useKeys } from '../../state/keys'
import { CodesignDesk } from './codesign'
import { CostDesk } from './cost'
import { FailuresDesk } from './failures'
import { PaperDesk } from './paper'
import { SimulateDesk } from './simulate'
import { DESKS, type Desk, desk, setParameter } from './state'
import { TopologyDesk } from './topology'
import { TrafficDesk } from './traffic'
import '../parts/layout.css'
import './network.css'
import * as texts from '../../words/network'

const BODIES: Readonly<Record<Desk, () => preact.JSX.Element>> = {
  topology: TopologyDesk,
  traffic: TrafficDesk,
  cost: CostDesk,
  simulate: SimulateDesk,
  failures: FailuresDesk,
  design: CodesignDesk,
  paper: PaperDesk,
}

export default function Network() {
  const open = desk()
  const Body = BODIES[open]
  const openDesk = (id: Desk) => setParameter('desk', id === 'topology' ? undefined : id)
  useKeys(
    DESKS.map(([id, title], index) => ({ keys: String(index + 1), title, group: 'Network', run: () => openDesk(id) })),
    [],
  )
  useEffect(() => document.getElementById(`desk-${open}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [open])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = DESKS.findIndex(([id]) => id === open)
    const next = DESKS[(at + step + DESKS.length) % DESKS.length]
    if (!next) return
    openDesk(next[0])
    document.getElementById(`desk-${next[0]}`)?.focus()
  }
  return (
    <div class="view network">
      <h1 class="hidden-visually">{texts.network}</h1>
      <div class="desks" role="tablist" aria-label={texts.partsOfTheNetworkView} onKeyDown={onKeyDown}>
        {DESKS.map(([id, title], index) => (
          <button
            key={id}
            id={`desk-${id}`}
            type="button"
            role="tab"
            aria-selected={id === open}
            aria-controls="desk"
            tabIndex={id === open ? 0 : -1}
            title={`${title} (${index + 1})`}
            onClick={() => openDesk(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="desk" class="desk" role="tabpanel" aria-labelledby={`desk-${open}`}>
        <Body key={open} />
      </div>
    </div>
  )
}
