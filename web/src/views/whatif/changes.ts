// Changes of a what-if: stored in the URL, offered as presets, converted to overrides of scenario B. Pure, except for reading the URL. The
// program judges changes.
import { own } from '../../state/location'
import { changeOf, pairsOf } from '../../state/settings'
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

/** A change in words: a preset's title, or each setting with its value. */
export function titleOf(name: string): string {
  const preset = PRESETS.flatMap((group) => group.presets).find((one) => one.change === name)
  if (preset) return preset.title
  const words = pairsOf(name).map(([key, value]) => `${SLOW.find((one) => one.name === key)?.title ?? nameOf(key)} ${wordsOf(value)}`)
  // `all together` has no setting.
  return name.includes('=') ? words.join(', ') : name
}

const nameOf = (key: string): string => key.replace(/^(plan|cluster|model|training|cost)\./, '').replaceAll(/[._]/g, ' ')

/** `x2` to `× 2`. */
const wordsOf = (value: string): string => {
  const change = changeOf(value)
  return change.operator === 'x' ? `× ${change.value}` : value
}

/** Parts that may run slowly, the most expensive of its kind; a change of an older link may name one by its number. */
export const SLOW: readonly { readonly name: string; readonly title: string }[] = [
  { name: 'slow.rank', title: texts.oneGpu },
  { name: 'slow.node', title: texts.oneServer },
  { name: 'slow.host', title: texts.oneHost },
  { name: 'slow.nic', title: texts.oneNic },
  { name: 'slow.scale_up', title: texts.oneScaleUpLink },
]

/** What scenario B would have to say for a change; `null` where no flag says it (something slow). */
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
