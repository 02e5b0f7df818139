// State of the network view in the URL: the open desk, the design, the options of each desk.
import type { Value } from '../../api/ask'
import { COUNT, GIGABITS, RATIO } from '../../state/amounts'
import { own } from '../../state/location'
import { type Pair, chosenPairs, pairsOf } from '../../state/settings'
import { set } from '../parts/controls'
import { runParameters } from '../search/question'
import { ownCluster, speedOf, usedOfDomain } from './own-cluster'
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
  { key: 'gpus', title: texts.gpus, unit: COUNT, about: texts.acceleratorsThatTheNetworkJoins },
  { key: 'domain', title: texts.domain, unit: COUNT, about: texts.acceleratorsInOneScaleUp },
  { key: 'speed', title: texts.nicSpeed, unit: GIGABITS, about: texts.networkBandwidthOfOneDevice },
  { key: 'radix', title: texts.switchPorts2, unit: COUNT, about: texts.portsOfASwitchCounted },
  { key: 'leaf-oversubscription', title: texts.oversubscription, unit: RATIO, about: texts.bandwidthBelowALeafOver },
] as const

/** Further keys as `tiers=2 routing=spray`, behind the fields; those without a value are left out. */
export function furtherKeys(): readonly Pair[] {
  return chosenPairs(pairsOf(parameter('more'), ' '))
}

/** Values from the run's own cluster for empty fields of a design. */
export function ofOwnCluster(): Readonly<Record<string, string>> {
  const cluster = ownCluster()
  if (!cluster) return {}
  const { bandwidth } = cluster.scale_up
  const size = usedOfDomain(cluster)
  return {
    domain: String(size),
    ...(size > 1 ? { 'domain-bandwidth': texts.gbS(Number((bandwidth / 1e9).toPrecision(6))) } : {}),
    speed: speedOf(cluster),
  }
}

/** Fields of a design that hold where a run lies on it: devices, domain and speed are those of the run's cluster. */
export const ON_RUN = ['radix', 'leaf-oversubscription'] as const

/**
 * The design as flags; what is left open is the run's number of devices and its cluster's domain and NIC speed.
 * `onRun`: the design that a run lies on, whose devices, domain and speed no field changes.
 */
export function designFlags(onRun = false): Record<string, Value> {
  const flags: Record<string, Value> = {}
  const chosen = (key: string) => (onRun && !(ON_RUN as readonly string[]).includes(key) ? '' : parameter(key))
  for (const { key } of DESIGN_FIELDS) {
    const value = chosen(key)
    if (value) flags[key] = value
  }
  const devices = runParameters().gpus
  if (!flags.gpus && devices && /^\d+$/.test(devices)) flags.gpus = devices
  for (const [key, value] of Object.entries(ofOwnCluster())) flags[key] ??= value
  // A network joins whole domains: the run's devices fill the last one in part.
  if (!chosen('gpus') && !chosen('domain') && flags.gpus !== undefined)
    flags.gpus = String(wholeDomains(Number(flags.gpus), Number(flags.domain ?? 1)))
  for (const [name, value] of furtherKeys()) flags[name.replaceAll('_', '-')] = value
  return flags
}

/** Devices of the domains that these devices need. */
export function wholeDomains(devices: number, domain: number): number {
  return domain > 1 && Number.isFinite(devices) ? Math.ceil(devices / domain) * domain : devices
}

/** Design as `KEY=VALUE` for commands that place a run on a network; devices, domain and speed are then those of the cluster. */
export function networkKeys(): string[] {
  const keys = ON_RUN.flatMap((key) => (parameter(key) ? [`${key.replaceAll('-', '_')}=${parameter(key)}`] : []))
  return [...keys, ...furtherKeys().map(([name, value]) => `${name}=${value}`)]
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
