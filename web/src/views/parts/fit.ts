// The three states of memory, as the program decides them: words and colours.
import type { Fit } from '../../api/answers'

export const FIT: Readonly<Record<Fit, { readonly words: string; readonly verdict: string; readonly badge: string }>> = {
  fits: { words: 'fits', verdict: 'yes', badge: 'good' },
  at_risk: { words: 'at risk', verdict: 'near', badge: 'warn' },
  does_not_fit: { words: 'does not fit', verdict: 'no', badge: 'bad' },
}
