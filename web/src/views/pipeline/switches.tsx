// Above the timeline: schedule, virtual stages, detail, and the trace to show with the prediction. Responsible for: writing the arguments
// of the run and of the view, so that a link has them. Settings that are auto show the plan of the answer.
import type { Estimate } from '../../api/answers'
import { playground } from '../../api/playground/marker'
import { report } from '../../api/report'
import { change, own } from '../../state/location'
import { run, runText } from '../../state/run'
import { copy } from '../../ui/clipboard'
import { FileButton } from '../../ui/file-button'
import { ofSchedule, withHeld } from '../calculator/holding'
import { heldMark } from '../calculator/scenarios'
import * as texts from '../../words/pipeline'

const SCHEDULES = [
  ['1f1b', '1F1B'],
  ['gpipe', 'GPipe'],
  ['zb-h1', texts.zeroBubbleH1],
  ['zb-h2', texts.zeroBubbleH2],
  ['zb-v', texts.zeroBubbleV],
  ['dualpipe', 'DualPipe'],
] as const

interface Props {
  readonly hasRun: boolean
  readonly estimate: Estimate | null
  readonly traces: readonly string[]
  readonly commandLine: string
}

export function Switches(props: Props) {
  const values = run.value
  const plan = props.estimate?.plan
  const chunks = runText.value.vp ?? String(plan?.virtual_stages ?? '')
  const schedule = runText.value.schedule ?? plan?.schedule ?? ''
  /** Another schedule or other chunks of the plan that is shown, not of another one. */
  const hold = (own: Readonly<Record<string, string | undefined>>) => {
    const { all, held } = withHeld(own, runText.value, props.estimate)
    change({ ...all, ...heldMark(all, held) })
  }
  const { detail, trace, step } = own('p')
  const set = (key: string) => (event: { currentTarget: { value: string } }) => change({ [key]: event.currentTarget.value || undefined })
  const text = (key: string) => (values[key] === undefined ? '' : String(values[key]))
  return (
    <div class="pipeline-switches" role="group" aria-label={texts.optionsOfTheTimeline}>
      {props.hasRun && (
        <>
          <label>
            {texts.schedule}
            <select class="select" value={schedule} onChange={(event) => hold(ofSchedule(event.currentTarget.value, runText.value.vp))}>
              {schedule === '' && <option value="">{texts.automatic}</option>}
              {SCHEDULES.map(([id, title]) => (
                <option key={id} value={id}>
                  {id === '1f1b' && Number(chunks) > 1 ? 'Interleaved 1F1B' : title}
                </option>
              ))}
            </select>
          </label>
          <label>
            {texts.virtualStages}
            <input
              class="input"
              type="number"
              min="1"
              max="32"
              value={chunks}
              onChange={(event) => hold({ vp: event.currentTarget.value || undefined })}
            />
          </label>
          <label>
            {texts.globalBatch}
            <input
              class="input"
              type="number"
              min="1"
              value={text('global-batch') || text('gbs')}
              placeholder={plan ? String(plan.global_batch) : texts.defaultText}
              onChange={set(text('gbs') ? 'gbs' : 'global-batch')}
            />
          </label>
          <label>
            {texts.detail}
            <select class="select" value={detail ?? 'automatic'} onChange={set('p.detail')}>
              <option value="automatic">{texts.automatic}</option>
              <option value="passes">{texts.passes}</option>
              <option value="operators">{texts.operators}</option>
              <option value="layers">{texts.layers}</option>
            </select>
          </label>
        </>
      )}
      <label class="pipeline-trace">
        {texts.measured}
        <input
          class="input"
          type="text"
          list="pipeline-traces"
          value={(trace ?? '').replaceAll('\n', ', ')}
          placeholder={texts.aTraceShownAboveThe}
          onChange={(event) => change({ 'p.trace': event.currentTarget.value.split(/,\s*/).filter(Boolean).join('\n') || undefined })}
        />
        <datalist id="pipeline-traces">
          {props.traces.map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
      </label>
      {!playground && !report && (
        <FileButton title={texts.chooseAFile} onPath={(path) => change({ 'p.trace': path, 'p.step': undefined })} />
      )}
      {trace && (
        <label>
          {texts.step}
          <input class="input" type="number" min="0" value={step ?? ''} placeholder={texts.slowest} onChange={set('p.step')} />
        </label>
      )}
      {props.commandLine && (
        <button type="button" class="button quiet" title={props.commandLine} onClick={() => void copy(props.commandLine, texts.theCommand)}>
          {texts.copyAsCommand}
        </button>
      )}
    </div>
  )
}
