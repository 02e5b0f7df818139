// Measured runs nearest to the run, with the error of their held-out prediction. Responsible for: the nearest runs as text and rows. The
// prediction is not corrected by them.
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Estimate } from '../../api/answers'
import { count, percent, seconds } from '../../charts/format'
import { go } from '../../state/location'
import { type Column, Table } from '../../ui/table'
import { type Own, type Run, errorOf, nearest, runsOf } from '../reference/evidence'
import * as texts from '../../words/calculator'

const MOST = 6

let loaded: readonly Run[] | null = null

/** Bundled runs once loaded; other content does not wait for them. */
function useRuns(): readonly Run[] | null {
  const [runs, set] = useState(loaded)
  useEffect(() => {
    if (loaded) return
    const load = () =>
      void import('../reference/left-out.json').then((module) => {
        loaded = runsOf(module.default)
        set(loaded)
      })
    const idle = window.setTimeout(load, 400)
    return () => window.clearTimeout(idle)
  }, [])
  return runs
}

function ownOf(estimate: Estimate): Own {
  const { model, cluster, plan } = estimate
  return {
    parameters: model.parameters.total / 1e9,
    experts: model.parameters.routed_experts > 0,
    gpu: cluster.accelerator_name,
    gpus: cluster.devices,
    sequence: plan.sequence_length,
  }
}

const signed = (share: number) => `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`

const COLUMNS: readonly Column<Run>[] = [
  { key: 'model', title: texts.model, value: (run) => run.model, wrap: true },
  { key: 'on', title: texts.on, value: (run) => run.gpus, cell: (run) => `${count(run.gpus)} ${run.gpu}` },
  { key: 'sequence', title: texts.sequence, value: (run) => run.sequence, cell: (run) => count(run.sequence), align: 'right' },
  { key: 'measured', title: texts.measured, value: (run) => run.measured, cell: (run) => seconds(run.measured), align: 'right' },
  {
    key: 'predicted',
    title: texts.predicted,
    value: (run) => run.heldOut,
    cell: (run) => seconds(run.heldOut),
    align: 'right',
    about: texts.stepTimeByConstantsFitted,
  },
  {
    key: 'error',
    title: texts.error,
    value: (run) => errorOf(run, 'heldOut'),
    cell: (run) => signed(errorOf(run, 'heldOut')),
    align: 'right',
  },
  { key: 'source', title: texts.publication, value: (run) => run.publication, wrap: true },
]

export function NearRuns({ estimate }: { estimate: Estimate }) {
  const runs = useRuns()
  const own = ownOf(estimate)
  // Most sliders change none of these.
  const panel = useMemo(() => runs && <Nearest own={own} runs={runs} />, [runs, ...Object.values(own)])
  return panel
}

function Nearest({ own, runs }: { own: Own; runs: readonly Run[] }) {
  const found = nearest(own, runs, MOST)
  const shares = found.map((run) => errorOf(run, 'heldOut'))
  return (
    <section class="panel near-runs" aria-label={texts.measuredRunsNearThisOne}>
      <div class="panel-head">
        <h2>
          {texts.measuredRunsNearThisOne}{' '}
          <span class="about">
            {texts.bySizeGpuNumberOf} {signed(Math.min(...shares))} {texts.to} {signed(Math.max(...shares))}
          </span>
        </h2>
        <button type="button" class="button quiet" onClick={() => go('reference', { 'r.tab': 'validation' })}>
          {texts.allMeasuredRuns}
        </button>
      </div>
      <Table<Run> caption={texts.nearestMeasuredRuns} rows={found} columns={COLUMNS} identify={(run, at) => `${run.publication} ${at}`} />
    </section>
  )
}
