// Above the timeline: schedule, virtual stages, detail, and the trace to show with the prediction. Responsible for: writing the arguments
// of the run and of the view, so that a link has them.
import { change, own } from '../../state/location'
import { run } from '../../state/run'
import { copy } from '../../ui/clipboard'
import * as texts from '../../words/pipeline'

const SCHEDULES = [
  ['1f1b', '1F1B'],
  ['gpipe', 'GPipe'],
  ['zb-h1', texts.zeroBubbleH1],
  ['zb-h2', texts.zeroBubbleH2],
  ['zb-v', texts.zeroBubbleV],
  ['dualpipe', 'DualPipe'],
] as const

export function Switches(props: { hasRun: boolean; traces: readonly string[]; commandLine: string }) {
  const values = run.value
  const { detail, trace, step } = own('p')
  const set = (key: string) => (event: { currentTarget: { value: string } }) => change({ [key]: event.currentTarget.value || undefined })
  const text = (key: string) => (values[key] === undefined ? '' : String(values[key]))
  return (
    <div class="pipeline-switches" role="group" aria-label={texts.optionsOfTheTimeline}>
      {props.hasRun && (
        <>
          <label>
            {texts.schedule}
            <select class="select" value={text('schedule') || '1f1b'} onChange={set('schedule')}>
              {SCHEDULES.map(([id, title]) => (
                <option key={id} value={id}>
                  {id === '1f1b' && Number(text('vp') || 1) > 1 ? 'Interleaved 1F1B' : title}
                </option>
              ))}
            </select>
          </label>
          <label>
            {texts.chunksPerStage}
            <input
              class="input"
              type="number"
              min="1"
              max="32"
              value={text('vp') || text('virtual-pipeline') || '1'}
              onChange={(event) => change({ vp: event.currentTarget.value === '1' ? undefined : event.currentTarget.value })}
            />
          </label>
          <label>
            {texts.globalBatch}
            <input
              class="input"
              type="number"
              min="1"
              value={text('global-batch') || text('gbs')}
              placeholder={texts.defaultText}
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
