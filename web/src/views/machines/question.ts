// From the address to the question of `size`. The job lives here, so that it goes on while another view is open.
import type { Arguments, Value } from '../../api/ask'
import { toArguments } from '../../state/run'
import { own } from '../../state/location'
import { LongJob } from '../parts/long-job'
import { withoutLayout } from '../parts/strategy'
import { runSaid } from '../search/question'
import type { SizeAnswer } from './answer'

export const PREFIX = 'm'

export const sizing = new LongJob<SizeAnswer>('size')

/** Arguments of `size`; `null` while model, cluster or tokens are missing. The layout is searched, so that the run's own is left out. */
export function question(): Arguments | null {
  const said = own(PREFIX)
  const { gpus: _, ...run } = withoutLayout(runSaid())
  const cluster = said.clusters || run.cluster
  if (!run.model || !cluster || !run.tokens) return null
  const values: Record<string, Value> = { ...toArguments(run), cluster }
  if (said.gpus) values.gpus = said.gpus
  if (said.deadline) values.deadline = said.deadline
  if (said.budget) values.budget = said.budget
  if (said.worth) values.worth = said.worth
  if (said.growing === 'true') values['growing-batch'] = true
  if (said.space) values.space = said.space.split(' ').filter(Boolean)
  return values
}
