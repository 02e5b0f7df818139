// Change of model or cluster in the edited scenario.
import { replan } from '../parts/replan'
import { edited, set } from './scenarios'

/** Sets a model or a cluster for the edited scenario, and resets its plan to auto. */
export function choose(changed: 'model' | 'cluster', value: string): void {
  replan(edited.value, set, changed, value)
}
