// Above the timeline: schedule, virtual stages, detail, and the trace that is shown over what is expected.
// Responsible for: writing the run's own arguments and the view's, so that a link holds them.
import { change, own } from '../../state/location'
import { run } from '../../state/run'
import { copy } from '../../ui/clipboard'

const SCHEDULES = [
  ['1f1b', '1F1B'],
  ['gpipe', 'GPipe'],
  ['zb-h1', 'Zero bubble H1'],
  ['zb-h2', 'Zero bubble H2'],
  ['zb-v', 'Zero bubble V'],
  ['dualpipe', 'DualPipe'],
] as const

export function Switches(props: { hasRun: boolean; traces: readonly string[]; commandLine: string }) {
  const values = run.value
  const { detail, trace, step } = own('p')
  const set = (key: string) => (event: { currentTarget: { value: string } }) => change({ [key]: event.currentTarget.value || undefined })
  const text = (key: string) => (values[key] === undefined ? '' : String(values[key]))
  return (
    <div class="pipeline-switches" role="group" aria-label="What is shown">
      {props.hasRun && (
        <>
          <label>
            Schedule
            <select class="select" value={text('schedule') || '1f1b'} onChange={set('schedule')}>
              {SCHEDULES.map(([id, title]) => (
                <option key={id} value={id}>
                  {id === '1f1b' && Number(text('vp') || 1) > 1 ? 'Interleaved 1F1B' : title}
                </option>
              ))}
            </select>
          </label>
          <label>
            Chunks per stage
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
            Global batch
            <input
              class="input"
              type="number"
              min="1"
              value={text('global-batch') || text('gbs')}
              placeholder="default"
              onChange={set(text('gbs') ? 'gbs' : 'global-batch')}
            />
          </label>
          <label>
            Detail
            <select class="select" value={detail ?? 'automatic'} onChange={set('p.detail')}>
              <option value="automatic">Automatic</option>
              <option value="passes">Passes</option>
              <option value="operators">Operators</option>
            </select>
          </label>
        </>
      )}
      <label class="pipeline-trace">
        Measured
        <input
          class="input"
          type="text"
          list="pipeline-traces"
          value={(trace ?? '').replaceAll('\n', ', ')}
          placeholder="a trace, to show beneath it what was expected"
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
          Step
          <input class="input" type="number" min="0" value={step ?? ''} placeholder="slowest" onChange={set('p.step')} />
        </label>
      )}
      {props.commandLine && (
        <button type="button" class="button quiet" title={props.commandLine} onClick={() => void copy(props.commandLine, 'the command')}>
          Copy as command
        </button>
      )}
    </div>
  )
}
