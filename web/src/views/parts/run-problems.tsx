// Why a run is refused, with the program's remedies as buttons that set the run of all views.
import type { Problem } from '../../api/ask'
import { report } from '../../api/report'
import { ofPrefix } from '../../state/fragment'
import { change, location } from '../../state/location'
import { Problems, type Suggestion } from '../../ui/states'
import { suggestions } from '../calculator/suggestions'
import { canonicalName } from './strategy'
import * as texts from '../../words/parts'

interface Props {
  readonly problems: readonly Problem[]
  /** Remedies that set something else than the run; null where they do. */
  readonly also?: (problem: Problem) => readonly Suggestion[] | null
  /** True if the answer of the settings before is shown below. */
  readonly kept?: boolean
}

export function RunProblems({ problems, also, kept = false }: Props) {
  if (problems.length === 0) return null
  const suggest = (problem: Problem): readonly Suggestion[] =>
    also?.(problem) ?? suggestions(problem).map((one) => ({ title: one.title, run: () => setRun(one.values) }))
  return (
    <>
      <Problems problems={problems} suggest={report ? undefined : suggest} />
      {kept && <p class="muted small">{texts.theAnswerBelowIsThat}</p>}
    </>
  )
}

/** Sets settings of the run, under whatever name the address has them. */
function setRun(values: Readonly<Record<string, string | undefined>>): void {
  const others = Object.keys(ofPrefix(location.value.parameters, '')).filter(
    (name) => values[name] === undefined && values[canonicalName(name)] !== undefined,
  )
  change({ ...Object.fromEntries(others.map((name) => [name, undefined])), ...values })
}
