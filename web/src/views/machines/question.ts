// Question of `size` from the URL. The job is kept here, so that it continues while another view is open.
import type { Arguments, Value } from '../../api/ask'
import { toArguments } from '../../state/run'
import { own } from '../../state/location'
import { LongJob } from '../parts/long-job'
import { spaceArguments } from '../parts/narrowing'
import { withoutLayout } from '../parts/strategy'
import { runParameters } from '../search/question'
import type { SizeAnswer } from './answer'

export const PREFIX = 'm'

export const sizing = new LongJob<SizeAnswer>('size')

/** Arguments of `size`; `null` while model, cluster or tokens are missing. The layout is searched, so the run's own is omitted. */
export function question(): Arguments | null {
  const fields = own(PREFIX)
  const { gpus: _, ...run } = withoutLayout(runParameters())
  const cluster = fields.clusters || run.cluster
  if (!run.model || !cluster || !run.tokens) return null
  const values: Record<string, Value> = { ...toArguments(run), cluster }
  if (fields.gpus) values.gpus = fields.gpus
  if (fields.deadline) values.deadline = fields.deadline
  if (fields.budget) values.budget = fields.budget
  if (fields.worth) values.worth = fields.worth
  if (fields.growing === 'true') values['growing-batch'] = true
  const space = spaceArguments(fields.space)
  if (space.length > 0) values.space = space
  return values
}
