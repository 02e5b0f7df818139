// Progress of a long question: amount, rate, best result so far, and a button to stop.
import { seconds } from '../../charts/format'
import type { State } from './long-job'
import * as texts from '../../words/parts'

interface Props {
  readonly state: State<unknown>
  /** Counted unit: `strategies`. */
  readonly unit: string
  readonly onStop: () => void
}

/** 676 M, 1.2 k: counts with a prefix, three digits. */
export function many(value: number): string {
  for (const [scale, letter] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (value >= scale) return `${(value / scale).toPrecision(3)} ${letter}`
  }
  return String(Math.round(value))
}

/** Best step time so far, in any form used by the program. */
export function bestSoFar(best: unknown): string {
  if (typeof best === 'number') return seconds(best)
  if (typeof best === 'string') return best
  if (best && typeof best === 'object') {
    const { step_time: time, layout, plan } = best as Record<string, unknown>
    const words = [
      typeof time === 'number' ? seconds(time) : '',
      typeof plan === 'string' ? plan : typeof layout === 'string' ? layout : '',
    ]
    return words.filter(Boolean).join(' with ')
  }
  return ''
}

export function ProgressLine({ state, unit, onStop }: Props) {
  if (!state.running) return null
  const { done, total, message, best } = state.progress ?? {}
  const share = done !== undefined && total ? Math.min(1, done / total) : null
  const found = bestSoFar(best)
  return (
    <div class="progress panel" role="group" aria-label={texts.progress2}>
      <progress max={1} value={share ?? undefined} aria-label={texts.progress} />
      <p aria-live="polite">
        {state.stopping
          ? 'Stopping'
          : (message && share !== null ? `${message}, ${Math.round(share * 100)}%` : message) ||
            (done !== undefined ? `${many(done)} ${total ? `of ${many(total)} ` : ''}${unit}` : 'Starting')}
        {state.rate !== null && !message && (
          <span class="muted">
            {' '}
            · {many(state.rate)} {texts.perSecond}
          </span>
        )}
        {found && (
          <span>
            {' '}
            {texts.bestSoFar} <strong>{found}</strong>
          </span>
        )}
      </p>
      <button type="button" class="button" disabled={state.stopping} onClick={onStop}>
        {texts.stop} <kbd>{texts.esc}</kbd>
      </button>
    </div>
  )
}
