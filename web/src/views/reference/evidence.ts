// Bundled runs: measured step times, held-out predictions and fitted ones. Pure.

export interface Evidence {
  readonly publications: readonly string[]
  readonly models: readonly string[]
  readonly gpus: readonly string[]
  /** Publication, measured, fitted and held-out step time in seconds, mixture of experts; model, billions of parameters, GPU, GPUs,
   * sequence length. */
  readonly runs: readonly (readonly number[])[]
}

export interface Run {
  readonly publication: string
  readonly measured: number
  readonly fitted: number
  readonly heldOut: number
  readonly experts: boolean
  readonly model: string
  /** Billions of parameters. */
  readonly parameters: number
  readonly gpu: string
  readonly gpus: number
  readonly sequence: number
}

export type Kind = 'heldOut' | 'fitted'

export function runsOf(evidence: Evidence): readonly Run[] {
  return evidence.runs.map(
    ([at = 0, measured = 0, fitted = 0, heldOut = 0, experts = 0, model = 0, parameters = 0, gpu = 0, gpus = 0, sequence = 0]) => ({
      publication: evidence.publications[at] ?? '',
      measured,
      fitted,
      heldOut,
      experts: experts === 1,
      model: evidence.models[model] ?? '',
      parameters,
      gpu: evidence.gpus[gpu] ?? '',
      gpus,
      sequence,
    }),
  )
}

/** Predicted over measured step time, less 1. */
export const errorOf = (run: Run, kind: Kind): number => run[kind] / run.measured - 1

export interface Errors {
  readonly runs: number
  readonly median: number
  readonly ninth: number
  readonly bias: number
}

/** Median and 90% quantile of absolute errors, and median of signed errors, interpolated between neighbours. */
export function errors(runs: readonly Run[], kind: Kind): Errors {
  const signed = runs.map((run) => errorOf(run, kind))
  const absolute = signed.map(Math.abs)
  return { runs: runs.length, median: quantile(absolute, 0.5), ninth: quantile(absolute, 0.9), bias: quantile(signed, 0.5) }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = share * (sorted.length - 1)
  const low = sorted[Math.floor(at)] ?? 0
  const high = sorted[Math.ceil(at)] ?? low
  return low + (high - low) * (at - Math.floor(at))
}

export interface Group {
  readonly publication: string
  readonly heldOut: Errors
  readonly fitted: Errors
}

/** Errors by publication, those with most runs first. */
export function byPublication(runs: readonly Run[]): readonly Group[] {
  const lists = new Map<string, Run[]>()
  for (const run of runs) lists.set(run.publication, [...(lists.get(run.publication) ?? []), run])
  return [...lists]
    .map(([publication, list]) => ({ publication, heldOut: errors(list, 'heldOut'), fitted: errors(list, 'fitted') }))
    .sort((a, b) => b.heldOut.runs - a.heldOut.runs)
}

/** Properties of the user's run, to find similar measured ones. */
export interface Own {
  readonly parameters: number
  readonly experts: boolean
  /** Name in the catalogue: `H100 SXM5 80GB`. */
  readonly gpu: string
  readonly gpus: number
  readonly sequence: number
}

const generation = (gpu: string) => gpu.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** True if two names are of one GPU generation: `H100-80G-SXM` and `H100 SXM5 80GB`. */
function alike(one: string, other: string): boolean {
  const [a, b] = [generation(one.split(/[-\s]/)[0] ?? ''), generation(other)]
  return a !== '' && b.startsWith(a)
}

/** Distance to a measured run: logarithms of the ratios of model size, GPUs and sequence length. Another generation or kind of model counts
 * as a factor of four. */
export function distance(own: Own, run: Run): number {
  const factor = (a: number, b: number) => (a > 0 && b > 0 ? Math.abs(Math.log2(a / b)) : 2)
  return (
    factor(own.parameters, run.parameters) +
    factor(own.gpus, run.gpus) / 2 +
    factor(own.sequence, run.sequence) / 4 +
    (alike(run.gpu, own.gpu) ? 0 : 2) +
    (own.experts === run.experts ? 0 : 2)
  )
}

/** The `most` nearest measured runs, with only the nearest of each combination of publication, model and cluster. */
export function nearest(own: Own, runs: readonly Run[], most: number): readonly Run[] {
  const sorted = runs.map((run) => ({ run, far: distance(own, run) })).sort((a, b) => a.far - b.far)
  const found: Run[] = []
  const seen = new Set<string>()
  for (const { run } of sorted) {
    const kind = `${run.publication} ${run.model} ${run.gpu} ${run.gpus}`
    if (seen.has(kind)) continue
    seen.add(kind)
    if (found.push(run) === most) break
  }
  return found
}
