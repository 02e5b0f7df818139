// Content of desks that require a run, if there is none.
import { RunBar } from '../parts/run-bar'
import { NoRun } from '../parts/no-run'
import * as texts from '../../words/network'

const LAYOUTS = {
  'llama-3.1-405b': { tp: '8', pp: '16', 'uneven-stages': 'true', 'global-batch': '512' },
  'llama-3.1-8b': { tp: '2', 'global-batch': '512' },
  'mixtral-8x7b': { tp: '2', pp: '4', ep: '8', 'global-batch': '512' },
}

export function NeedsRun() {
  return (
    <>
      <section class="panel scope" aria-label={texts.run}>
        <RunBar fields={['model', 'cluster', 'gpus']} />
      </section>
      <NoRun title={texts.noRunYet} text={texts.trafficNeedsARunName} layouts={LAYOUTS} />
    </>
  )
}
