// State in which nothing fits: the closest layouts with their missing memory, and remedies with a button each.
import { bytes, count, percent, seconds } from '../../charts/format'
import { change } from '../../state/location'
import { withoutFlags } from '../../state/program-text'
import { loadStrategy } from '../parts/load'
import type { Remedy, SearchAnswer } from './answer'
import { PREFIX } from './question'
import * as texts from '../../words/search'

const WORDS: Readonly<Record<string, string>> = {
  more_devices: texts.moreGpus,
  offload_optimizer: texts.optimizerStatesOnTheHost,
  offload_activations: texts.activationsOnTheHost,
  offload_parameters: texts.parametersOnTheHost,
  offload_both: texts.optimizerStatesAndActivationsOn,
  free_all: texts.searchTheSettingsKeptFrom,
}

export function remedyWords(remedy: Remedy): string {
  return remedy.change === 'more_devices'
    ? texts.gpus2(count(remedy.devices))
    : (WORDS[remedy.change] ?? remedy.change.replaceAll('_', ' '))
}

export function NothingFits({ answer, cluster }: { answer: SearchAnswer; cluster: string }) {
  const nothing = answer.nothing_fits
  if (!nothing && !answer.complete && answer.candidates.length === 0) {
    return (
      <section class="panel" aria-label={texts.stopped}>
        <p class="panel-body warn">{texts.stoppedEarlyNoLayoutThat}</p>
      </section>
    )
  }
  if (!nothing) return null
  const nearest = nothing.nearest_misses[0]
  return (
    <section class="panel" aria-label={texts.nothingFits}>
      <div class="panel-head">
        <h2 class="tone-bad">{texts.nothingFits}</h2>
      </div>
      <div class="panel-body">
        {nearest && (
          <p>
            {texts.theNearestNeeds(
              count(answer.counters.enumerated),
              bytes(nearest.miss.device_memory + nearest.miss.missing),
              nearest.miss.memory.stage,
              percent(answer.fit_probability),
            )}{' '}
            <strong>{texts.moreThan(bytes(nearest.miss.missing))}</strong> {texts.thanADeviceHas(bytes(nearest.miss.device_memory))}
          </p>
        )}
        {nothing.remedies.length > 0 ? (
          <>
            <h3>{texts.changesThatHelp}</h3>
            <ul class="remedies">
              {nothing.remedies.map((remedy) => (
                <li key={`${remedy.change}${remedy.devices}`}>
                  <div>
                    <strong>{remedyWords(remedy)}</strong>
                    <span class="muted">
                      {texts.stepOf} {seconds(remedy.step_time)} {texts.withText} <code>{withoutFlags(remedy.layout)}</code>
                    </span>
                  </div>
                  <span class="actions">
                    {remedy.change === 'more_devices' && (
                      <button
                        type="button"
                        class="button primary"
                        onClick={() => change({ gpus: String(remedy.devices), [`${PREFIX}.gpus`]: undefined })}
                      >
                        {texts.searchOn} {count(remedy.devices)} {texts.gpus}
                      </button>
                    )}
                    <button
                      type="button"
                      class="button"
                      onClick={() =>
                        loadStrategy(remedy.layout, { gpus: String(remedy.devices), ...(cluster.includes(',') ? {} : { cluster }) })
                      }
                    >
                      {texts.loadItIntoTheCalculator}
                    </button>
                  </span>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <p class="muted">
            {texts.noneOf} {nothing.remedies_tried} {texts.remediesThatWereTriedMakes}
          </p>
        )}
        <details>
          <summary>{texts.nearestMisses}</summary>
          <ul class="remarks">
            {nothing.nearest_misses.map((near) => (
              <li key={near.layout}>
                <code>{withoutFlags(near.layout)}</code> {texts.lacks} {bytes(near.miss.missing)}
              </li>
            ))}
          </ul>
        </details>
      </div>
    </section>
  )
}
