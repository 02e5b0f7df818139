// State of the network view in the URL: the open desk, the design, the options of each desk.
import type { Arguments, Value } from '../../api/ask'
import { own } from '../../state/location'
import { set } from '../parts/controls'
import { runParameters } from '../search/question'
import { toArguments } from '../../state/run'
import { ownCluster, speedOf } from './own-cluster'
import * as texts from '../../words/network'

export const PREFIX = 'n'

export const DESKS = [
  ['topology', 'Topology'],
  ['traffic', 'Traffic'],
  ['cost', 'Cost'],
  ['simulate', 'Simulate'],
  ['failures', 'Failures'],
  ['design', 'Co-design'],
  ['paper', texts.railOnlyPaper],
] as const

export type Desk = (typeof DESKS)[number][0]

export function parameter(key: string): string {
  return own(PREFIX)[key] ?? ''
}

export function setParameter(key: string, value: string | undefined, history: 'push' | 'replace' = 'push'): void {
  set(PREFIX, key, value, history)
}

export function desk(): Desk {
  const open = parameter('desk')
  return DESKS.some(([id]) => id === open) ? (open as Desk) : 'topology'
}

/** Keys of a design with a field of their own. */
export const DESIGN_FIELDS = [
  { key: 'gpus', title: texts.gpus, placeholder: '1024', about: texts.acceleratorsThatTheNetworkJoins },
  { key: 'domain', title: texts.domain, placeholder: '8', about: texts.acceleratorsInOneScaleUp },
  { key: 'speed', title: texts.nicSpeed, placeholder: texts.n400GbitS, about: texts.networkBandwidthOfOneDevice },
  { key: 'radix', title: texts.switchPorts2, placeholder: '64', about: texts.portsOfASwitchCounted },
  { key: 'leaf-oversubscription', title: texts.oversubscription, placeholder: '1', about: texts.bandwidthBelowALeafOver },
] as const

/** Further keys as `tiers=2 routing=spray`, in a field of their own. */
export function furtherKeys(): string[] {
  return parameter('more')
    .split(/\s+/)
    .filter((part) => part.includes('='))
}

/** Values from the run's own cluster for empty fields of a design. */
export function ofOwnCluster(): Readonly<Record<string, string>> {
  const cluster = ownCluster()
  if (!cluster) return {}
  const { domain_size: size, bandwidth } = cluster.scale_up
  return {
    domain: String(size),
    ...(size > 1 ? { 'domain-bandwidth': texts.gbS(Number((bandwidth / 1e9).toPrecision(6))) } : {}),
    speed: speedOf(cluster),
  }
}

/** Design as flags; open ones are the run's number of devices, and its cluster's domain and NIC speed. */
export function designFlags(): Record<string, Value> {
  const flags: Record<string, Value> = {}
  for (const { key } of DESIGN_FIELDS) {
    const value = parameter(key)
    if (value) flags[key] = value
  }
  const devices = runParameters().gpus
  if (!flags.gpus && devices && /^\d+$/.test(devices)) flags.gpus = devices
  for (const [key, value] of Object.entries(ofOwnCluster())) flags[key] ??= value
  // A network joins whole domains; the run's devices may fill the last one partly.
  if (!parameter('gpus') && !parameter('domain') && flags.gpus !== undefined)
    flags.gpus = String(wholeDomains(Number(flags.gpus), Number(flags.domain ?? 1)))
  for (const part of furtherKeys()) {
    const [name = '', ...rest] = part.split('=')
    flags[name.replaceAll('_', '-')] = rest.join('=')
  }
  return flags
}

/** Devices of the domains that these devices need. */
export function wholeDomains(devices: number, domain: number): number {
  return domain > 1 && Number.isFinite(devices) ? Math.ceil(devices / domain) * domain : devices
}

/** Design as `KEY=VALUE` for commands that place a run on a network; devices, domain and speed are then those of the cluster. */
export function networkKeys(): string[] {
  const keys = DESIGN_FIELDS.filter(({ key }) => key === 'radix' || key === 'leaf-oversubscription').flatMap(({ key }) =>
    parameter(key) ? [`${key.replaceAll('-', '_')}=${parameter(key)}`] : [],
  )
  return [...keys, ...furtherKeys()]
}

/** Run as arguments; null while model or cluster are missing. */
export function runArguments(): Arguments | null {
  const run = runParameters()
  return run.model && run.cluster ? toArguments(run) : null
}

export function kind(): string {
  return parameter('kind') || USUAL
}

/** Default topology, also the baseline of comparisons. */
export const USUAL = 'rail-optimized'

export function chosenDesigns(): string[] {
  const list = parameter('designs').split(',').filter(Boolean)
  return list.length > 0 ? list : [USUAL, 'clos', 'trimmed', 'rail-only', 'dual-plane', 'dragonfly']
}
