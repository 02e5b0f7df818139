// Loads a strategy from a search into the calculator. Back returns to the search.
import { ofPrefix } from '../../state/fragment'
import { location, replaceRun } from '../../state/location'
import { toast } from '../../state/toasts'
import { withStrategy } from './strategy'
import * as texts from '../../words/parts'

/** `flags` is a layout or a whole command line; `also` has additional settings. */
export function loadStrategy(flags: string, also: Record<string, string> = {}): void {
  const run = withStrategy(ofPrefix(location.value.parameters, ''), flags, also)
  replaceRun(run, 'calculator')
  toast(texts.strategyLoadedIntoTheCalculator, { hint: texts.pressBackToReturn })
}
