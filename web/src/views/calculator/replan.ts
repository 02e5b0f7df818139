// Change of model or cluster: the plan was made for the previous one, so it is reset to auto. A message lists kept and reset settings.
import { split, statement } from '../../state/replan'
import { toast } from '../../state/toasts'
import { edited, set } from './scenarios'
import * as texts from '../../words/calculator'

/** Sets a model or a cluster for the edited scenario, and resets its plan to auto. */
export function choose(changed: 'model' | 'cluster', value: string): void {
  const { kept, reset } = split(edited.value, changed)
  const before = Object.fromEntries(reset.map((key) => [key, edited.value[key]]))
  set({ ...Object.fromEntries(reset.map((key) => [key, undefined])), [changed]: value })
  if (reset.length === 0) return
  toast(changed === 'model' ? texts.model2(value) : texts.cluster2(value), {
    hint: statement(kept, reset),
    action: { title: texts.keepThePlan, run: () => set(before) },
  })
}
