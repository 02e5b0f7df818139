// Changes of a what-if: stored in the URL, offered as presets, converted to overrides of scenario B. Pure, except for reading the URL. The
// program judges changes.
import { own } from '../../state/location'
import { set } from '../parts/controls'
import { canonicalName } from '../parts/strategy'
import type { Change } from './answer'
import * as texts from '../../words/whatif'

export const PREFIX = 'w'

/** Changes in the URL, separated by semicolons, because a change may contain commas. */
export function changes(): string[] {
  return (own(PREFIX).change ?? '')
    .split(';')
    .map((one) => one.trim())
    .filter(Boolean)
}

export function setChanges(list: readonly string[]): void {
  set(PREFIX, 'change', [...new Set(list)].join(';'))
}

export function toggle(one: string): void {
  const list = changes()
  setChanges(list.includes(one) ? list.filter((other) => other !== one) : [...list, one])
}

export interface Preset {
  readonly change: string
  readonly title: string
}

export const PRESETS: readonly { readonly group: string; readonly presets: readonly Preset[] }[] = [
  {
    group: 'Buy',
    presets: [
      { change: 'nic=x2', title: texts.n2Network },
      { change: 'nvlink=x2', title: texts.n2ScaleUp },
      { change: 'hbm=x1.5', title: texts.n15MemoryBandwidth },
      { change: 'cluster=dgx-b200', title: 'B200' },
    ],
  },
  {
    group: 'Tune',
    presets: [
      { change: 'precision=fp8', title: texts.fp8Gemms },
      { change: 'overlap.tensor=true', title: texts.overlapTpCommunication },
      { change: 'recompute=full', title: texts.fullRecompute },
      { change: 'recompute=none', title: texts.noRecompute },
      { change: 'micro_batch=2', title: texts.microBatch2 },
      { change: 'schedule=zb-h1', title: texts.zeroBubble },
    ],
  },
  {
    group: 'Break',
    presets: [
      { change: 'slow.rank=0.8', title: texts.oneGpuAt80 },
      { change: 'slow.nic=0.5', title: texts.oneNicAtHalf },
      { change: 'slow.host=0.5', title: texts.oneSlowHost },
    ],
  },
]

/** Overrides of scenario B for a change; `null` if no flag expresses it (a slowdown). */
export function asOverrides(change: Change): Record<string, string> | null {
  const found: Record<string, string> = {}
  for (const part of change.name.split(',')) {
    const [key = '', value = ''] = part.split('=')
    if (key.startsWith('slow.')) return null
    if (key === 'cluster' || key === 'model') found[`b.${key}`] = value
  }
  if (Object.keys(found).length > 0 && !change.name.includes(',')) return found
  for (const { key, after } of change.moved) {
    if (after === null) continue
    const flag = flagOf(key)
    if (flag === 'dp') continue
    found[`b.${flag}`] = after
  }
  return Object.keys(found).length > 0 ? found : null
}

/** `plan.tensor_parallel` to `tp`, `cluster.network.bandwidth` to `network-bandwidth`. */
export function flagOf(key: string): string {
  return canonicalName(key.replace(/^(plan|cluster|model|training|cost)\./, '').replaceAll(/[._]/g, '-'))
}
