// The pipeline: all stages of the run's modelled step on one timeline, and a measured step with the prediction below it.
// Responsible for: the question, the schedule switch, and the numbers next to the timeline. The program computes the step.
import { useMemo } from 'preact/hooks'
import { type JobOnDisk, useJobsOnDisk, viewOf } from '../../api/jobs-on-disk'
import { change, own } from '../../state/location'
import type { Estimate } from '../../api/answers'
import { useAnswer } from '../../api/live'
import { report } from '../../api/report'
import { run } from '../../state/run'
import { Timeline } from '../../timeline/Timeline'
import { useColumns } from '../../timeline/ask'
import { beside } from '../../timeline/beside'
import { Empty, Loading } from '../../ui/states'
import { JobsBelow, shortened } from '../parts/open'
import { Bubbles, CriticalParts, Verdict } from './numbers'
import { Switches } from './switches'
import './pipeline.css'
import { RunProblems } from '../parts/run-problems'
import * as texts from '../../words/pipeline'

/** Example run for the view. */
const EXAMPLE = {
  model: 'llama-3.1-405b',
  cluster: 'dgx-h100',
  gpus: '1024',
  tp: '8',
  pp: '16',
  'uneven-stages': 'true',
  'global-batch': '512',
}

export default function View() {
  const { detail, trace, step } = own('p')
  const values = run.value
  const { jobs } = useJobsOnDisk()
  const isPipeline = (job: JobOnDisk) => Number(/pipeline|operator table|Megatron tracer/i.test(job.format))
  const given = jobs
    .filter((job) => viewOf(job) === 'traces' && job.paths.length === 1)
    .sort((one, other) => isPipeline(other) - isPipeline(one) || (other.ranks ?? 0) - (one.ranks ?? 0))
    .map((job) => job.paths[0]!)
  const hasRun = values.model !== undefined || values.run !== undefined || values.launch !== undefined
  const question = hasRun ? { ...values, detail: detail ?? 'automatic' } : null
  const estimate = useAnswer<Estimate>('estimate', hasRun && !report ? values : null).answer
  const modelled = useColumns('timeline', question)
  const measured = useColumns('pipeline', trace ? { paths: trace.split('\n'), ...(step ? { step } : {}) } : null)
  const columns = useMemo(() => {
    if (trace && measured.columns) {
      return modelled.columns && hasRun ? beside(measured.columns, modelled.columns, 'predicted') : measured.columns
    }
    return trace ? null : modelled.columns
  }, [trace, measured.columns, modelled.columns])
  const problems = [...(trace ? measured.problems : []), ...(hasRun ? modelled.problems : [])]
  const loading = (trace ? measured : modelled).loading
  if (!hasRun && !trace && report) return <Empty title={texts.notInThisReport} text={texts.theReportContainsNoStep} />
  if (!hasRun && !trace) {
    return (
      <Empty title={texts.noStepYet} text={texts.describeARunInThe}>
        <button type="button" class="button primary" onClick={() => change(EXAMPLE)}>
          {texts.showAnExample405bOn}
        </button>
        {given.slice(0, 6).map((path) => (
          <button key={path} type="button" class="button" title={path} onClick={() => change({ 'p.trace': path })}>
            {texts.open} {shortened(path)}
          </button>
        ))}
      </Empty>
    )
  }
  return (
    <div class="pipeline-view" aria-busy={loading}>
      <Switches hasRun={hasRun} estimate={estimate} traces={given} commandLine={(trace ? measured : modelled).commandLine} />
      <RunProblems problems={problems} />
      {trace && measured.problems.length > 0 && (
        <JobsBelow paths={trace.split('\n')} open={(job) => change({ 'p.trace': job.paths.join('\n'), 'p.step': undefined })} />
      )}
      {columns ? (
        <div class={loading ? 'stale pipeline-body' : 'pipeline-body'}>
          <Verdict
            columns={columns}
            step={(trace ? measured.columns : modelled.columns)?.duration_ns ?? columns.duration_ns}
            modelled={trace && hasRun ? modelled.columns : null}
          />
          <Timeline columns={columns} prefix="p" />
          <div class="pipeline-numbers">
            <Bubbles columns={columns} />
            <CriticalParts columns={columns} />
          </div>
        </div>
      ) : (
        loading && <Loading heights={[32, 420, 140]} label={texts.computingTheStep} />
      )}
    </div>
  )
}
