// From the address to the question: what the search varies, what it keeps, what is best. The jobs live here, so that
// they go on while another view is open.
import type { Arguments, Value } from '../../api/ask'
import { toArguments } from '../../state/run'
import { ofPrefix, type Parameters } from '../../state/fragment'
import { location, own } from '../../state/location'
import { LongJob } from '../parts/long-job'
import { canonicalName, saidLayout, withoutLayout } from '../parts/strategy'
import type { SearchAnswer } from './answer'

export const PREFIX = 's'

/** Layouts that the table and the plot get. */
export const MOST = 200

export interface Scope {
  readonly objective: string
  /** The plot's other axis. */
  readonly against: 'memory' | 'cost'
  /** Parts of the layout that stay as the run says. */
  readonly kept: readonly string[]
  readonly gpus: string
  readonly clusters: string
  readonly space: readonly string[]
  readonly fit: string
  readonly unlimited: boolean
  readonly ran: boolean
  readonly filter: string
  readonly whyNot: string
}

export function scope(): Scope {
  const said = own(PREFIX)
  return {
    objective: said.objective ?? 'time',
    against: said.against === 'cost' ? 'cost' : 'memory',
    kept: list(said.keep, ','),
    gpus: said.gpus ?? '',
    clusters: said.clusters ?? '',
    space: list(said.space, ' '),
    fit: said.fit ?? '',
    unlimited: said.unlimited === 'true',
    ran: said.ran === '1',
    filter: said.filter ?? '',
    whyNot: said.why ?? '',
  }
}

function list(text: string | undefined, separator: string): string[] {
  return (text ?? '')
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean)
}

/** The run that the address says, under the page's names. */
export function runSaid(): Parameters {
  return Object.fromEntries(Object.entries(ofPrefix(location.value.parameters, '')).map(([name, value]) => [canonicalName(name), value]))
}

/** Degrees of the run that could be kept. */
export function keepable(): Record<string, string> {
  return saidLayout(runSaid())
}

/** Arguments without what only says how the answer is shown; `null` without a model. */
export function question(of: Scope): Arguments | null {
  const said = runSaid()
  if (!said.model || !(said.cluster || of.clusters)) return null
  const run: Record<string, Value> = { ...toArguments(withoutLayout(said, of.kept)) }
  if (of.gpus) run.gpus = of.gpus
  if (of.clusters) run.cluster = of.clusters
  if (of.space.length > 0) run.space = of.space
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

/** The best of each pair of TP and PP, or what it lacks in memory. */
export function mapQuestion(of: Scope): Arguments | null {
  const asked = question(of)
  return asked && { ...asked, map: true, all: true, top: 1 }
}
