// What desks show that need a run to speak about.
import { RunBar } from '../parts/run-bar'
import { NoRun } from '../parts/no-run'

const LAYOUTS = {
  'llama-3.1-405b': { tp: '8', pp: '16', 'uneven-stages': 'true', 'global-batch': '512' },
  'llama-3.1-8b': { tp: '2', 'global-batch': '512' },
  'mixtral-8x7b': { tp: '2', pp: '4', ep: '8', 'global-batch': '512' },
}

export function NeedsRun() {
  return (
    <>
      <section class="panel scope" aria-label="Run">
        <RunBar fields={['model', 'cluster', 'gpus']} />
      </section>
      <NoRun
        title="No run yet"
        text="Traffic is that of a run: name one above, make it in the calculator, or begin with an example."
        layouts={LAYOUTS}
      />
    </>
  )
}
