// Another model or cluster: the plan was made for the one before, so it goes back to auto. What stays is named, and so is what was reset.
import { split, statement } from '../../state/replan'
import { toast } from '../../state/toasts'
import { edited, set } from './scenarios'

/** Chooses a model or a cluster for the scenario that is edited; its plan becomes auto. */
export function choose(changed: 'model' | 'cluster', value: string): void {
  const { kept, reset } = split(edited.value, changed)
  const before = Object.fromEntries(reset.map((key) => [key, edited.value[key]]))
  set({ ...Object.fromEntries(reset.map((key) => [key, undefined])), [changed]: value })
  if (reset.length === 0) return
  toast(changed === 'model' ? `Model: ${value}` : `Cluster: ${value}`, {
    hint: statement(kept, reset),
    action: { title: 'Keep the plan', run: () => set(before) },
  })
}
