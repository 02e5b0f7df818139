// Above the timeline: schedule, virtual stages, detail, and the trace to show with the prediction. Responsible for: writing the arguments
// of the run and of the view, so that a link has them. Settings that are auto show the plan of the answer; those that are set can be set back.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { Estimate } from '../../api/answers'
import { playground } from '../../api/playground/marker'
import { report } from '../../api/report'
import { ofPrefix } from '../../state/fragment'
import { change, location, own as ownOf } from '../../state/location'
import { run, runText, toArguments } from '../../state/run'
import { numbersOf } from '../../state/valid'
import { copy } from '../../ui/clipboard'
import { Combobox, type Option } from '../../ui/combobox'
import { Label } from '../../ui/fields'
import { FileButton } from '../../ui/file-button'
import { HOLDING, heldPlan, ofSchedule, withHeld } from '../calculator/holding'
import { heldMark } from '../calculator/scenarios'
import { optionsOf } from '../calculator/wording'
import { useValid } from '../parts/dimensions'
import { shortened } from '../parts/open'
import { canonicalName } from '../parts/strategy'
import * as others from '../../words/parts'
import * as texts from '../../words/pipeline'
import * as common from '../../words/ui'

interface Props {
  readonly hasRun: boolean
  readonly estimate: Estimate | null
  readonly traces: readonly string[]
  readonly commandLine: string
}

export function Switches(props: Props) {
  const plan = props.estimate?.plan
  const asks = props.hasRun && !report
  const free = useValid(asks ? run.value : null)
  // Another schedule or other virtual stages hold the sizes of an auto plan: their values are those valid with the plan that is shown.
  const held = useValid(asks ? { ...run.value, ...toArguments(heldPlan(runText.value, props.estimate)) } : null)
  const chunks = runText.value.vp ?? String(plan?.virtual_stages ?? '')
  const schedule = runText.value.schedule ?? plan?.schedule ?? ''
  /** Valid values, and the current one. */
  const offered = (flag: string, current: string) => {
    const valid = HOLDING.includes(flag) ? held : free
    const numbers = numbersOf(valid, flag)
    const listed = numbers.every(Number.isFinite) ? numbers.map(String) : (valid.get(flag) ?? [])
    return current === '' || listed.includes(current) ? listed : [current, ...listed]
  }
  /** Another schedule or other chunks of the plan that is shown, not of another one. */
  const hold = (values: Readonly<Record<string, string | undefined>>) => {
    const { all, held } = withHeld(values, runText.value, props.estimate)
    change({ ...all, ...heldMark(all, held) })
  }
  const { detail, trace, step } = ownOf('p')
  const set = (key: string) => (event: { currentTarget: { value: string } }) => change({ [key]: event.currentTarget.value || undefined })
  const own = (key: string) => runText.value[key] !== undefined
  return (
    <div class="pipeline-switches" role="group" aria-label={texts.optionsOfTheTimeline}>
      {props.hasRun && (
        <>
          <Setting label={texts.schedule} own={own('schedule')} onAuto={() => change({ schedule: undefined })}>
            {(id) => (
              <select id={id} class="select" value={schedule} onChange={(event) => hold(ofSchedule(event.currentTarget.value))}>
                {schedule === '' && <option value="">{texts.automatic}</option>}
                {optionsOf(offered('schedule', schedule), Number(chunks)).map(([name, title]) => (
                  <option key={name} value={name}>
                    {title}
                  </option>
                ))}
              </select>
            )}
          </Setting>
          <Setting label={texts.virtualStages} own={own('vp')} onAuto={() => setTo('vp')}>
            {(id) => (
              <select id={id} class="select" value={chunks} onChange={(event) => hold({ vp: event.currentTarget.value || undefined })}>
                {offered('vp', chunks).map((one) => (
                  <option key={one} value={one}>
                    {one}
                  </option>
                ))}
              </select>
            )}
          </Setting>
          <Setting label={texts.globalBatch} own={own('global-batch')} onAuto={() => setTo('global-batch')}>
            {(id) => (
              <>
                <input
                  id={id}
                  class="input"
                  type="number"
                  list={`${id}-valid`}
                  value={runText.value['global-batch'] ?? ''}
                  placeholder={plan ? String(plan.global_batch) : texts.defaultText}
                  onChange={(event) => setTo('global-batch', event.currentTarget.value)}
                />
                <datalist id={`${id}-valid`}>
                  {offered('global-batch', '').map((one) => (
                    <option key={one} value={one} />
                  ))}
                </datalist>
              </>
            )}
          </Setting>
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
      <div class="pipeline-trace">
        <span>
          {texts.measured}{' '}
          {trace && (
            <button
              type="button"
              class="to-auto"
              aria-label={common.resetToAuto(texts.measured)}
              onClick={() => change({ 'p.trace': undefined, 'p.step': undefined })}
            >
              {common.reset}
            </button>
          )}
        </span>
        <Combobox
          label={texts.measured}
          value={trace ?? ''}
          placeholder={texts.aTraceShownAboveThe}
          options={tracesOf(props.traces, trace)}
          free={(path) => ({ value: path.trim(), title: path.trim(), note: others.asTyped })}
          onChoose={(path) => change({ 'p.trace': path.split(/,\s*/).filter(Boolean).join('\n') || undefined, 'p.step': undefined })}
        />
      </div>
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

/** Traces of the served folders, after the open one, if it is none of them. Pure. */
function tracesOf(paths: readonly string[], open: string | undefined): readonly Option[] {
  const listed = paths.map((path) => ({ value: path, title: shortened(path), words: path }))
  return open === undefined || paths.includes(open)
    ? listed
    : [{ value: open, title: open.split('\n').map(shortened).join(', ') }, ...listed]
}

/** A setting of the run above its control: auto, or set with a reset. */
function Setting(props: { label: string; own: boolean; onAuto: () => void; children: (id: string) => ComponentChildren }) {
  const id = useId()
  return (
    <div class="pipeline-setting">
      <Label id={id} label={props.label} own={props.own} onAuto={props.onAuto} />
      {props.children(id)}
    </div>
  )
}

/** Sets a setting under its own name, or back to auto, and removes it under its other names. */
function setTo(name: string, value = ''): void {
  const others = Object.keys(ofPrefix(location.value.parameters, '')).filter((key) => canonicalName(key) === name)
  change({ ...Object.fromEntries(others.map((key) => [key, undefined])), [name]: value || undefined })
}
