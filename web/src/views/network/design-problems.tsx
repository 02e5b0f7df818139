// Why a design is refused, with the program's remedies as buttons that set its fields.
import type { Problem } from '../../api/ask'
import type { Live } from '../../api/live'
import { pairsOf, pairsText } from '../../state/settings'
import type { Suggestion } from '../../ui/states'
import { RunProblems } from '../parts/run-problems'
import { DESIGN_FIELDS, parameter, setParameter } from './state'

export function DesignProblems({ live }: { readonly live: Pick<Live<unknown>, 'problems' | 'answer'> }) {
  return <RunProblems problems={live.problems} also={remediesOfDesign} kept={live.answer !== null} />
}

function remediesOfDesign(problem: Problem): readonly Suggestion[] | null {
  const found = (problem.remedies ?? []).flatMap(({ key, value }) => {
    const [, name] = /^design\.(.+)$/.exec(key) ?? []
    return name === undefined ? [] : [{ name, value }]
  })
  if (found.length === 0) return null
  return found.map(({ name, value }) => {
    const field = DESIGN_FIELDS.find((one) => one.key === name.replaceAll('_', '-'))
    const number = Number(value)
    return {
      title: `${field?.title ?? name.replaceAll('_', ' ')} ${Number.isFinite(number) ? number.toLocaleString('en') : value}`,
      run: () => (field ? setParameter(field.key, value) : setFurther(name, value)),
    }
  })
}

function setFurther(name: string, value: string): void {
  const others = pairsOf(parameter('more'), ' ').filter(([one]) => one !== name)
  setParameter('more', pairsText([...others, [name, value]], ' '))
}
