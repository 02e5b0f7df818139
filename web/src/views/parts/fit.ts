// Texts and colours of the three memory verdicts of the program.
import type { Fit } from '../../api/answers'
import * as texts from '../../words/parts'

export const FIT: Readonly<Record<Fit, { readonly words: string; readonly verdict: string; readonly badge: string }>> = {
  fits: { words: 'fits', verdict: 'yes', badge: 'good' },
  at_risk: { words: texts.atRisk, verdict: 'near', badge: 'warn' },
  does_not_fit: { words: texts.doesNotFit, verdict: 'no', badge: 'bad' },
}
