// The bundled runs: measured step times, predicted by constants that were fitted without their publication, and with it. Pure.

export interface Evidence {
  readonly publications: readonly string[]
  /** Publication, measured, fitted and held-out step time in seconds, mixture of experts. */
  readonly runs: readonly (readonly number[])[]
}

export interface Run {
  readonly publication: string
  readonly measured: number
  readonly fitted: number
  readonly heldOut: number
  readonly experts: boolean
}

export type Kind = 'heldOut' | 'fitted'

export function runsOf(evidence: Evidence): readonly Run[] {
  return evidence.runs.map(([at = 0, measured = 0, fitted = 0, heldOut = 0, experts = 0]) => ({
    publication: evidence.publications[at] ?? '',
    measured,
    fitted,
    heldOut,
    experts: experts === 1,
  }))
}

/** Predicted over measured, less one. */
export const errorOf = (run: Run, kind: Kind): number => run[kind] / run.measured - 1

export interface Errors {
  readonly runs: number
  readonly median: number
  readonly ninth: number
  readonly bias: number
}

/** Median and 90% of the absolute errors, and the median of the signed ones, interpolated between neighbours. */
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

/** Errors by publication, the most runs first. */
export function byPublication(runs: readonly Run[]): readonly Group[] {
  const lists = new Map<string, Run[]>()
  for (const run of runs) lists.set(run.publication, [...(lists.get(run.publication) ?? []), run])
  return [...lists]
    .map(([publication, list]) => ({ publication, heldOut: errors(list, 'heldOut'), fitted: errors(list, 'fitted') }))
    .sort((a, b) => b.heldOut.runs - a.heldOut.runs)
}
