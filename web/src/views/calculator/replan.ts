// Another model or cluster: the plan was made for the one before, so it goes back to auto. What stays is named, and so is what was reset.
import { split, statement } from '../../state/replan'
import { toast } from '../../state/toasts'
import { edited, set } from './scenarios'
import * as texts from '../../words/calculator'

/** Chooses a model or a cluster for the scenario that is edited; its plan becomes auto. */
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
