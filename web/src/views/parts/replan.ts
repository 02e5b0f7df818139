// Change of model or cluster: the plan was made for the previous one, so it is reset to auto. A message lists kept and reset settings.
import { split, statement } from '../../state/replan'
import { toast } from '../../state/toasts'
import * as texts from '../../words/parts'

type Values = Readonly<Record<string, string | undefined>>

/** Sets a model or a cluster in the settings of a run, and resets its plan to auto; `set` writes settings, `undefined` is auto. */
export function replan(
  settings: Readonly<Record<string, string>>,
  set: (values: Values) => void,
  changed: 'model' | 'cluster',
  value: string,
): void {
  const { kept, reset } = split(settings, changed)
  const before = Object.fromEntries(reset.map((key) => [key, settings[key]]))
  set({ ...Object.fromEntries(reset.map((key) => [key, undefined])), [changed]: value })
  if (reset.length === 0) return
  toast(changed === 'model' ? texts.model2(value) : texts.cluster2(value), {
    hint: statement(kept, reset),
    action: { title: texts.keepThePlan, run: () => set(before) },
  })
}
