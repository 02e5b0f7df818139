// Which values of a plan go together: what a slider may offer. Mirrors the rules that the program checks (degrees divide
// devices, heads, layers, experts, widths), so that what is offered is not refused; the program has the last word.
// Refuses to choose: it lists. Pure.
import type { ModelShown } from '../api/answers'

/** What of a model and a plan the rules read. Unknown parts (a launch file's model) restrict nothing. */
export interface Facts {
  readonly devices: number
  readonly devicesPerNode: number
  readonly layers: number
  /** Query heads and key-value heads of each kind of layer. */
  readonly heads: readonly (readonly [number, number])[]
  /** Inner widths that tensor ranks divide. */
  readonly widths: readonly number[]
  /** Inner widths that expert-tensor ranks divide. */
  readonly expertWidths: readonly number[]
  readonly experts: number | null
  /** The longest sequence that learned positions allow. */
  readonly longest: number | null
  readonly formats: readonly string[]
}

export interface Degrees {
  readonly tp: number
  readonly pp: number
  readonly cp: number
  readonly vp: number
  readonly ep: number
  readonly etp: number
  readonly microBatch: number
  readonly globalBatch: number
  /** The batch follows from the rest, because nobody said it: then it restricts nothing. */
  readonly batchFollows?: boolean
  readonly sequence: number
  readonly sequenceParallel: boolean
  readonly uneven: boolean
  readonly schedule: string
  readonly ulysses: boolean
}

export type Offered = Readonly<Record<'gpus' | 'tp' | 'pp' | 'cp' | 'vp' | 'ep' | 'etp' | 'micro-batch' | 'global-batch' | 'sequence-length', readonly number[]>>

/** What the model's shapes say to the rules. */
export function modelFacts(shown: ModelShown['model']): Pick<Facts, 'layers' | 'heads' | 'widths' | 'expertWidths' | 'experts' | 'longest'> {
  const kinds = shown.layer_kinds
  return {
    layers: shown.layers.length,
    heads: kinds.flatMap(({ mixer }) => (mixer.heads ? [[mixer.heads, mixer.kv_heads ?? 0] as const] : [])),
    widths: kinds.flatMap(({ feed_forward: part }) => [part.intermediate_size, part.shared_intermediate_size].filter((width): width is number => !!width)),
    expertWidths: kinds.flatMap(({ feed_forward: part }) => (part.expert ? [part.expert.intermediate_size] : [])),
    experts: kinds.reduce<number | null>((most, { feed_forward: part }) => (part.experts ? Math.max(most ?? 0, part.experts) : most), null),
    longest: shown.position === 'learned' && shown.max_positions > 0 ? shown.max_positions : null,
  }
}

/** All divisors, ascending. */
export function divisors(n: number): number[] {
  const low: number[] = []
  const high: number[] = []
  for (let candidate = 1; candidate * candidate <= n; candidate += 1) {
    if (n % candidate !== 0) continue
    low.push(candidate)
    if (candidate !== n / candidate) high.unshift(n / candidate)
  }
  return [...low, ...high]
}

function sequenceFits(length: number, tp: number, cp: number, now: Degrees): boolean {
  const pieces = cp === 1 ? 1 : now.ulysses ? cp : 2 * cp
  return length % pieces === 0 && (!now.sequenceParallel || tp === 1 || (length / cp) % tp === 0)
}

function tensorFits(tp: number, facts: Facts): boolean {
  return facts.heads.every(([heads, shared]) => heads % tp === 0 && (shared === 0 || shared % tp === 0 || tp % shared === 0)) && facts.widths.every((width) => width % tp === 0)
}

function expertsFit(ep: number, etp: number, ranks: number): boolean {
  return ep === 1 || ranks % (ep * etp) === 0
}

function chunksFit(pp: number, vp: number, facts: Facts, now: Degrees): boolean {
  if (vp > 1 && pp === 1) return false
  if (now.schedule === 'dualpipe' && pp % 2 !== 0) return false
  return now.uneven ? pp * vp <= facts.layers : facts.layers % (pp * vp) === 0
}

/** Values that keep a plan valid while all else stays, replicas following the devices. */
export function offered(facts: Facts, now: Degrees): Offered {
  const { devices } = facts
  const replicas = (tp: number, cp: number, pp: number) => devices / (tp * cp * pp)
  const batchFits = (dp: number) => now.batchFollows === true || now.globalBatch % (now.microBatch * dp) === 0
  const world = (tp: number, cp: number, pp: number) => devices % (tp * cp * pp) === 0
  const fixed = now.schedule !== '1f1b'
  const all = divisors(devices)
  const dp = replicas(now.tp, now.cp, now.pp)
  const whole = Number.isInteger(dp)
  const unit = now.microBatch * dp
  return {
    gpus: deviceCounts(facts, now),
    tp: all.filter((tp) => world(tp, now.cp, now.pp) && tensorFits(tp, facts) && sequenceFits(now.sequence, tp, now.cp, now) && batchFits(replicas(tp, now.cp, now.pp)) && expertsFit(now.ep, now.etp, devices / now.pp)),
    pp: all.filter((pp) => world(now.tp, now.cp, pp) && chunksFit(pp, now.vp, facts, now) && batchFits(replicas(now.tp, now.cp, pp)) && expertsFit(now.ep, now.etp, devices / pp)),
    cp: all.filter((cp) => world(now.tp, cp, now.pp) && sequenceFits(now.sequence, now.tp, cp, now) && batchFits(replicas(now.tp, cp, now.pp))),
    vp: fixed ? [now.schedule === 'zb-v' ? 2 : 1] : upTo(Math.floor(facts.layers / now.pp)).filter((vp) => chunksFit(now.pp, vp, facts, now)),
    ep: facts.experts === null ? [1] : divisors(facts.experts).filter((ep) => expertsFit(ep, now.etp, devices / now.pp)),
    etp: divisors(now.tp).filter((etp) => expertsFit(now.ep, etp, devices / now.pp) && facts.expertWidths.every((width) => width % etp === 0)),
    // Without a whole number of replicas there is nothing to divide a batch by: the degrees come first.
    'micro-batch': whole ? divisors(Math.max(1, Math.floor(now.globalBatch / dp))).filter((size) => size <= 64 && batchFits(dp * (size / now.microBatch))) : [],
    'global-batch': whole ? batches(unit, now.globalBatch) : [],
    'sequence-length': lengths(facts, now),
  }
}

/** Device counts that the degrees divide: nodes doubled from one replica up, and the neighbours of what is. */
function deviceCounts(facts: Facts, now: Degrees): number[] {
  const inner = now.tp * now.cp * now.pp
  const counts = new Set<number>()
  for (let n = inner; n <= 262_144; n *= 2) counts.add(n)
  for (const factor of [3, 5, 6, 7, 9, 10, 12]) for (let n = inner * factor; n <= 131_072; n *= 2) counts.add(n)
  const around = Math.floor(facts.devices / inner)
  for (const step of [-2, -1, 0, 1, 2]) if (around + step > 0) counts.add((around + step) * inner)
  if (facts.devices % inner === 0) counts.add(facts.devices)
  const whole = facts.devicesPerNode
  return [...counts]
    .filter((n) => (n % whole === 0 || whole % n === 0) && (now.batchFollows === true || now.globalBatch % (now.microBatch * (n / inner)) === 0))
    .sort((a, b) => a - b)
}

function batches(unit: number, now: number): number[] {
  const found = new Set<number>()
  for (let multiple = 1; unit * multiple <= 65_536; multiple *= 2) {
    found.add(unit * multiple)
    if (unit * multiple * 3 <= 65_536) found.add(unit * multiple * 3)
  }
  const around = Math.floor(now / unit)
  for (const step of [-2, -1, 0, 1, 2]) if (around + step > 0) found.add((around + step) * unit)
  return [...found].sort((a, b) => a - b)
}

function lengths(facts: Facts, now: Degrees): number[] {
  const found: number[] = []
  for (let length = 512; length <= 1_048_576; length *= 2) found.push(length)
  if (!found.includes(now.sequence)) found.push(now.sequence)
  return found.filter((length) => sequenceFits(length, now.tp, now.cp, now) && (facts.longest === null || length <= facts.longest)).sort((a, b) => a - b)
}

function upTo(n: number): number[] {
  return Array.from({ length: Math.min(Math.max(n, 1), 64) }, (_, index) => index + 1)
}

/** The nearest below and above of what is offered. */
export function nearest(values: readonly number[], wanted: number): number[] {
  const below = values.filter((value) => value < wanted).at(-1)
  const above = values.find((value) => value > wanted)
  return [below, above].filter((value): value is number => value !== undefined)
}
