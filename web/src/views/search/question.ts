// Question of the search from the URL: varied and fixed settings, and the objective. The jobs are kept here, so that they continue while
// another view is open.
import type { Arguments, Value } from '../../api/ask'
import { toArguments } from '../../state/run'
import { ofPrefix, type Parameters } from '../../state/fragment'
import { location, own } from '../../state/location'
import { LongJob } from '../parts/long-job'
import { canonicalName, layoutOf, withoutLayout } from '../parts/strategy'
import { spaceArguments } from '../parts/narrowing'
import type { SearchAnswer } from './answer'

export const PREFIX = 's'

/** Number of layouts for the table and the plot. */
export const MOST = 200

export interface Scope {
  readonly objective: string
  /** Other axis of the plot. */
  readonly against: 'memory' | 'cost'
  /** Layout settings that are fixed to those of the run. */
  readonly kept: readonly string[]
  readonly gpus: string
  readonly clusters: string
  /** Restrictions, such as `tp=2,4 vp=1..4`. */
  readonly space: string
  readonly fit: string
  readonly unlimited: boolean
  readonly ran: boolean
  readonly filter: string
  readonly whyNot: string
}

export function scope(): Scope {
  const fields = own(PREFIX)
  return {
    objective: fields.objective ?? 'time',
    against: fields.against === 'cost' ? 'cost' : 'memory',
    kept: list(fields.keep, ','),
    gpus: fields.gpus ?? '',
    clusters: fields.clusters ?? '',
    space: fields.space ?? '',
    fit: fields.fit ?? '',
    unlimited: fields.unlimited === 'true',
    ran: fields.ran === '1',
    filter: fields.filter ?? '',
    whyNot: fields.why ?? '',
  }
}

function list(text: string | undefined, separator: string): string[] {
  return (text ?? '')
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean)
}

/** Run of the URL, under the names of the web UI. */
export function runParameters(): Parameters {
  return Object.fromEntries(Object.entries(ofPrefix(location.value.parameters, '')).map(([name, value]) => [canonicalName(name), value]))
}

/** Parallel sizes of the run that could be fixed. */
export function keepable(): Record<string, string> {
  return layoutOf(runParameters())
}

/** Run without the searched settings, for its valid values; null without a cluster of its own. */
export function searchedRun(of: Scope): Arguments | null {
  const parameters = runParameters()
  return parameters.model && parameters.cluster ? toArguments(withoutLayout(parameters, of.kept)) : null
}

/** Arguments without those that only affect display; `null` without a model. */
export function question(of: Scope): Arguments | null {
  const parameters = runParameters()
  if (!parameters.model || !(parameters.cluster || of.clusters)) return null
  const run: Record<string, Value> = { ...toArguments(withoutLayout(parameters, of.kept)) }
  if (of.gpus) run.gpus = of.gpus
  if (of.clusters) run.cluster = of.clusters
  const space = spaceArguments(of.space)
  if (space.length > 0) run.space = space
  if (of.fit) run['fit-probability'] = of.fit
  if (of.unlimited) run.unlimited = true
  return run
}

export const ranking = new LongJob<SearchAnswer>('search')
export const paretoFront = new LongJob<SearchAnswer>('search')
export const mapping = new LongJob<SearchAnswer>('search')
export const whyNot = new LongJob<SearchAnswer>('search')

export function rankingQuestion(of: Scope): Arguments | null {
  const asked = question(of)
  return asked && { ...asked, objective: of.objective, top: MOST }
}

export function frontQuestion(of: Scope): Arguments | null {
  const asked = question(of)
  return asked && { ...asked, pareto: of.against === 'cost' ? 'time,cost' : 'time,memory', top: 50 }
}

/** Best layout of each pair of TP and PP, or its missing memory. */
export function mapQuestion(of: Scope): Arguments | null {
  const asked = question(of)
  return asked && { ...asked, map: true, all: true, top: 1 }
}
