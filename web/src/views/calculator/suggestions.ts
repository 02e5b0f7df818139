// Remedies offered with a rejection: only those of the program.
import type { Problem } from '../../api/ask'
import { normalise } from '../../state/run'
import { count } from '../../charts/format'
import { flagOf } from './flags'
import { flagTitle } from './wording'
import * as texts from '../../words/calculator'

export interface Offer {
  readonly title: string
  readonly values: Readonly<Record<string, string | undefined>>
}

/** Remedies of a problem, one button each, and the nearest names of an unknown one. */
export function suggestions(problem: Problem): Offer[] {
  const offers: Offer[] = (problem.remedies ?? []).map(({ key, value }) => {
    const [section = '', ...name] = key.split('.')
    const flag = flagOf({ section, name: name.join('.') } as Parameters<typeof flagOf>[0])
    if (value === 'true') return { title: texts.allow(flagTitle(flag)), values: { [flag]: value } }
    return offer(flag, value)
  })
  // Another number of GPUs is another job, so the other remedies precede it.
  offers.sort((one, other) => Number('gpus' in one.values) - Number('gpus' in other.values))
  // An unknown key is in a file, which the web UI does not write: the hint has its nearest names.
  if (/\bunknown key\b/.test(problem.message)) return offers
  const flag = flagAt(problem)
  // Nearest names, one button each.
  const meant = /did you mean ([^?]+)\?/.exec(problem.hint ?? '')?.[1] ?? ''
  const about = flag ?? namedKind(problem)
  if (about) for (const [, name] of meant.matchAll(/`([^`]+)`/g)) offers.push({ title: name ?? '', values: { [about]: name } })
  return offers
}

function offer(flag: string, value: string): Offer {
  const number = Number(value)
  return { title: `${flagTitle(flag)} ${Number.isFinite(number) ? count(number) : value}`, values: { [flag]: value } }
}

/** Kind of an unknown name without a flag: the model is a positional argument. */
function namedKind(problem: Problem): string | null {
  const kind = /\bunknown (model|cluster|accelerator)\b|\bno (model|cluster|accelerator) is called\b/.exec(problem.message)
  return kind?.[1] ?? kind?.[2] ?? null
}

/** Flag of a problem: from its place (`--pipeline-parallel`, `plan.pipeline_parallel`) or its message. */
function flagAt(problem: Problem): string | null {
  const place =
    typeof problem.place === 'string'
      ? problem.place
      : [problem.place?.file, problem.place?.key, problem.place?.flag].filter(Boolean).join(' ')
  const text = `${place} ${problem.message}`
  const found = /--([a-z][a-z-]+)/.exec(text)?.[1] ?? /\bplan\.([a-z_.]+)/.exec(text)?.[1]?.replace(/[._]/g, '-')
  return found ? (Object.keys(normalise({ [found]: '1' }))[0] ?? null) : null
}
