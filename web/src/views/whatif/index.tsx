// What-if view: sensitivity of the step time, changes applied alone and combined, and two solvers as actions.
import { useFollow } from '../../api/live'
import { bytes, seconds } from '../../charts/format'
import { run } from '../../state/run'
import { go } from '../../state/location'
import { Empty } from '../../ui/states'
import { Figure } from '../parts/controls'
import { FIT } from '../parts/fit'
import { NoRun } from '../parts/no-run'
import { RunBar } from '../parts/run-bar'
import type { Sensitivity, WhatIf } from './answer'
import { changes } from './changes'
import { Picker } from './picker'
import { Rehearsals } from './rehearsals'
import { SensitivityPanel } from './sensitivity'
import { BalanceSolver, RecomputeSolver } from './solvers'
import '../parts/layout.css'
import './whatif.css'
import { RunProblems } from '../parts/run-problems'
import * as texts from '../../words/whatif'

const LAYOUTS = {
  'llama-3.1-405b': { tp: '8', pp: '16', 'uneven-stages': 'true', 'global-batch': '512' },
  'llama-3.1-8b': { tp: '2', 'global-batch': '512' },
  'mixtral-8x7b': { tp: '2', pp: '4', ep: '8', 'global-batch': '512' },
}

export default function WhatIfView() {
  const ready = Boolean(run.value.model && run.value.cluster)
  const sensitivity = useFollow<Sensitivity>('sensitivity', () => (run.value.model && run.value.cluster ? run.value : null)).value
  const rehearsed = useFollow<WhatIf>('whatif', () => {
    const list = changes()
    return list.length > 0 && run.value.model && run.value.cluster ? { ...run.value, change: list } : null
  }).value
  const now = sensitivity.answer
  if (!ready) {
    return (
      <div class="view whatif">
        <h1 class="hidden-visually">{texts.whatIf}</h1>
        <section class="panel scope" aria-label={texts.run}>
          <RunBar />
        </section>
        <NoRun title={texts.noRunYet} text={texts.whatIfChangesARun} layouts={LAYOUTS} />
      </div>
    )
  }
  return (
    <div class="view whatif">
      <h1 class="hidden-visually">{texts.whatIf}</h1>
      <section class="panel scope" aria-label={texts.run}>
        <RunBar />
        {now && (
          <div class={`baseline ${sensitivity.stale ? 'stale' : ''}`}>
            <dl class="figures">
              <Figure title={texts.step} note={now.plan}>
                {seconds(now.step_time)}
              </Figure>
              <Figure
                title={texts.memory}
                tone={now.capacity.fit === 'does_not_fit' ? 'bad' : undefined}
                note={
                  now.capacity.fit === 'fits'
                    ? `of ${bytes(now.capacity.device)}`
                    : `of ${bytes(now.capacity.device)}: ${FIT[now.capacity.fit].words}`
                }
              >
                {bytes(now.capacity.peak)}
              </Figure>
            </dl>
            <button type="button" class="button" onClick={() => go('calculator')}>
              {texts.changeThePlanInThe}
            </button>
          </div>
        )}
      </section>
      {sensitivity.problems.length > 0 ? (
        <RunProblems problems={sensitivity.problems} />
      ) : (
        <div class="columns two">
          <SensitivityPanel live={sensitivity} />
          <section class="panel" aria-label={texts.changesToCompare}>
            <div class="panel-head">
              <h2>
                {texts.whatIf} <span class="about">{texts.layoutBatchAndNumberOf}</span>
              </h2>
            </div>
            <div class="panel-body">
              <Picker />
            </div>
          </section>
        </div>
      )}
      {sensitivity.problems.length === 0 &&
        (changes().length > 0 ? (
          <Rehearsals live={rehearsed} />
        ) : (
          <section class="panel" aria-label={texts.results}>
            <Empty title={texts.noChangeSelected} text={texts.selectAChangeOrPress} />
          </section>
        ))}
      {sensitivity.problems.length === 0 && (
        <div class="columns solvers">
          <RecomputeSolver run={run.value} />
          <BalanceSolver run={run.value} />
        </div>
      )}
    </div>
  )
}
