// The state in which nothing fits: what comes nearest and by how much it misses, and what would help, each a button.
import { bytes, count, seconds } from '../../charts/format'
import { change } from '../../state/location'
import { loadStrategy } from '../parts/load'
import type { Remedy, SearchAnswer } from './answer'
import { PREFIX } from './question'

const WORDS: Readonly<Record<string, string>> = {
  more_devices: 'more GPUs',
  offload_optimizer: 'optimizer states on the host',
  offload_activations: 'activations on the host',
  offload_parameters: 'parameters on the host',
  offload_both: 'optimizer states and activations on the host',
  free_all: 'free what was kept',
}

export function remedyWords(remedy: Remedy): string {
  return remedy.change === 'more_devices' ? `${count(remedy.devices)} GPUs` : (WORDS[remedy.change] ?? remedy.change.replaceAll('_', ' '))
}

export function NothingFits({ answer, cluster }: { answer: SearchAnswer; cluster: string }) {
  const nothing = answer.nothing_fits
  if (!nothing && !answer.complete && answer.candidates.length === 0) {
    return (
      <section class="panel" aria-label="Stopped">
        <p class="panel-body warn">Stopped early: no layout that fits was found so far.</p>
      </section>
    )
  }
  if (!nothing) return null
  const nearest = nothing.nearest_misses[0]
  return (
    <section class="panel" aria-label="Nothing fits">
      <div class="panel-head">
        <h2 class="tone-bad">Nothing fits</h2>
      </div>
      <div class="panel-body">
        {nearest && (
          <p>
            The nearest of {count(answer.counters.enumerated)} strategies needs {bytes(nearest.miss.memory.device)} of{' '}
            {bytes(nearest.miss.device_memory)} on stage {nearest.miss.memory.stage}: a device would have to hold{' '}
            <strong>{bytes(nearest.miss.missing)} more</strong>.
          </p>
        )}
        {nothing.remedies.length > 0 ? (
          <>
            <h3>What would help</h3>
            <ul class="remedies">
              {nothing.remedies.map((remedy) => (
                <li key={`${remedy.change}${remedy.devices}`}>
                  <div>
                    <strong>{remedyWords(remedy)}</strong>
                    <span class="muted">
                      step of {seconds(remedy.step_time)} with <code>{remedy.layout}</code>
                    </span>
                  </div>
                  <span class="actions">
                    {remedy.change === 'more_devices' && (
                      <button
                        type="button"
                        class="button primary"
                        onClick={() => change({ gpus: String(remedy.devices), [`${PREFIX}.gpus`]: undefined })}
                      >
                        Search on {count(remedy.devices)} GPUs
                      </button>
                    )}
                    <button
                      type="button"
                      class="button"
                      onClick={() =>
                        loadStrategy(remedy.layout, { gpus: String(remedy.devices), ...(cluster.includes(',') ? {} : { cluster }) })
                      }
                    >
                      Load it into the calculator
                    </button>
                  </span>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <p class="muted">
            None of {nothing.remedies_tried} remedies that were tried makes it fit. Use more or larger GPUs, a shorter sequence, or a
            narrower number format.
          </p>
        )}
        <details>
          <summary>Nearest misses</summary>
          <ul class="remarks">
            {nothing.nearest_misses.map((near) => (
              <li key={near.layout}>
                <code>{near.layout}</code> lacks {bytes(near.miss.missing)}
              </li>
            ))}
          </ul>
        </details>
      </div>
    </section>
  )
}
