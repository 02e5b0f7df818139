// Why a run is refused, with the program's remedies as buttons that set the run of all views.
import type { Problem } from '../../api/ask'
import { report } from '../../api/report'
import { ofPrefix } from '../../state/fragment'
import { change, location } from '../../state/location'
import { Problems, type Suggestion } from '../../ui/states'
import { suggestions } from '../calculator/suggestions'
import { canonicalName } from './strategy'

export function RunProblems({ problems }: { readonly problems: readonly Problem[] }) {
  if (problems.length === 0) return null
  const suggest = (problem: Problem): readonly Suggestion[] =>
    suggestions(problem).map((one) => ({ title: one.title, run: () => setRun(one.values) }))
  return <Problems problems={problems} suggest={report ? undefined : suggest} />
}

/** Sets settings of the run, under whatever name the address has them. */
function setRun(values: Readonly<Record<string, string | undefined>>): void {
  const others = Object.keys(ofPrefix(location.value.parameters, '')).filter(
    (name) => values[name] === undefined && values[canonicalName(name)] !== undefined,
  )
  change({ ...Object.fromEntries(others.map((name) => [name, undefined])), ...values })
}
