// What to offer beside a refusal: the numbers and flags that the program's own hint names. Refuses to invent advice.
import type { Problem } from '../../api/ask'
import { normalise } from '../../state/run'

export interface Offer {
  readonly title: string
  readonly values: Readonly<Record<string, string | undefined>>
}

/** Offers read from a hint such as ``use 14 or 18, or pass --uneven-stages`` or ``use 896 or 1008 devices``. */
export function suggestions(problem: Problem): Offer[] {
  const hint = problem.hint ?? ''
  const flag = flagAt(problem)
  const offers: Offer[] = []
  const use = /\buse (?:at most |at least )?([\d,]+(?: or [\d,]+)*)( or more)?( devices)?/.exec(hint)
  if (use) {
    const target = use[3] ? 'gpus' : flag
    if (target) for (const number of (use[1] ?? '').split(' or ')) offers.push(offer(target, number.replaceAll(',', '')))
  }
  const devices = /set cluster\.devices to ([\d,]+)/.exec(hint)
  if (devices?.[1]) offers.push(offer('gpus', devices[1].replaceAll(',', '')))
  const word = /\buse (1f1b|zb-v|bf16|fp16|fp8)\b/.exec(hint)
  if (word?.[1] && flag) offers.push(offer(flag, word[1]))
  if (/--uneven-stages|uneven_stages = true/.test(hint)) offers.push({ title: 'allow uneven stages', values: { 'uneven-stages': 'true' } })
  // Nearest names: each is one click away.
  const meant = /did you mean ([^?]+)\?/.exec(hint)?.[1] ?? ''
  const about = flag ?? namedKind(problem)
  if (about) for (const [, name] of meant.matchAll(/`([^`]+)`/g)) offers.push({ title: name ?? '', values: { [about]: name } })
  return offers
}

function offer(flag: string, value: string): Offer {
  return { title: `${flag.replaceAll('-', ' ')} ${value}`, values: { [flag]: value } }
}

/** What an unknown name was to name, where no flag says it: the model stands without one. */
function namedKind(problem: Problem): string | null {
  const kind = /\bunknown (model|cluster|accelerator)\b|\bno (model|cluster|accelerator) is called\b/.exec(problem.message)
  return kind?.[1] ?? kind?.[2] ?? null
}

/** The flag that a problem is about: from its place (`--pipeline-parallel`, `plan.pipeline_parallel`) or its message. */
function flagAt(problem: Problem): string | null {
  const place =
    typeof problem.place === 'string'
      ? problem.place
      : [problem.place?.file, problem.place?.key, problem.place?.flag].filter(Boolean).join(' ')
  const text = `${place} ${problem.message}`
  const found = /--([a-z][a-z-]+)/.exec(text)?.[1] ?? /\bplan\.([a-z_.]+)/.exec(text)?.[1]?.replace(/[._]/g, '-')
  return found ? (Object.keys(normalise({ [found]: '1' }))[0] ?? null) : null
}
