// The settings: model, cluster and plan as sliders, steppers and choices with the valid values listed by the program. Each setting is auto,
// with its resolved value, or set by the user with a reset.
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Accelerator, ClusterEntry, Estimate, ModelEntry } from '../../api/answers'
import { report } from '../../api/report'
import { withoutHandle } from '../../api/uploads'
import * as format from '../../charts/format'
import { type Valid, isRefused, numbersOf } from '../../state/valid'
import { Combobox, type Option } from '../../ui/combobox'
import { openFiles } from '../../ui/drop'
import { Choice, Switch, TextField } from '../../ui/fields'
import { Stepper } from '../../ui/stepper'
import { BestLayout } from './best-layout'
import { ASSUMED, type Degrees, degreesOf } from './facts'
import { hold, ofSchedule } from './holding'
import { type Back, moveBack } from './last-valid'
import { OtherSettings } from './other-settings'
import { Pools } from './pools'
import { choose } from './replan'
import { edited, heldKeys, lastSet, set } from './scenarios'
import { OVERLAPS, optionsOf, recomputeText, shardingText } from './wording'
import { isClosed, isDefault, isOwn, toAuto } from './to-auto'
import * as texts from '../../words/calculator'

interface Props {
  readonly estimate: Estimate | null
  readonly models: readonly ModelEntry[]
  readonly clusters: readonly ClusterEntry[]
  readonly accelerators: readonly Accelerator[]
  /** Valid values of each setting, given the others. */
  readonly valid: Valid
  /** True if the current run is rejected. */
  readonly refused: boolean
  /** Way back from a rejected run; null without one. */
  readonly back: Back | null
}

type Values = Readonly<Record<string, string | undefined>>

/** Sets values; on a rejected run those of a setting that alone cannot make it valid are set on a valid plan. */
function put(values: Values, { back, estimate }: Pick<Props, 'back' | 'estimate'>, history: 'push' | 'replace' = 'push'): void {
  if (back && Object.keys(values).some((key) => back.keys.has(key))) moveBack(values, back, estimate, history)
  else hold(values, estimate, history)
}

export function Controls(props: Props) {
  const text = edited.value
  const { estimate } = props
  const shown = estimate !== null || props.valid.size > 0
  const fixed = report !== null
  const { models, clusters, accelerators } = props
  const [model, cluster] = [text.model ?? '', text.cluster ?? '']
  const [modelName, clusterName] = [estimate?.model.name, estimate?.cluster.name]
  // Hundreds of options, which a moving slider does not change.
  const modelPicker = useMemo(() => <ModelPicker models={models} value={model} name={modelName} />, [models, model, modelName])
  const systems = useMemo(() => clusterOptions(clusters, accelerators), [clusters, accelerators])
  const clusterPicker = useMemo(
    () => (
      <Combobox
        label={texts.cluster}
        value={cluster}
        options={systems}
        placeholder={clusterName ?? texts.aSystemOrAnAccelerator}
        onChoose={(chosen) => choose('cluster', chosen)}
        disabled={fixed}
      />
    ),
    [systems, cluster, clusterName],
  )
  return (
    <form class="controls" aria-label={texts.run} onSubmit={(event) => event.preventDefault()}>
      <fieldset disabled={fixed}>
        <Section title={texts.model}>
          {modelPicker}
          <ModelLine estimate={estimate} />
        </Section>
        <Section title={texts.cluster}>
          {clusterPicker}
          {shown && (
            <Degree name="gpus" label={texts.devices} about={texts.acceleratorsThatTheRunUses} {...props} wide format={format.count} />
          )}
          {shown && <Pools options={systems} estimate={estimate} devices={degreesOf(text, estimate).gpus} />}
        </Section>
        {shown && <Plan {...props} />}
      </fieldset>
    </form>
  )
}

function Plan(props: Props) {
  const { estimate, valid } = props
  const plan = estimate?.plan ?? ASSUMED
  const text = edited.value
  const now = degreesOf(text, estimate)
  const dp = now.gpus / (now.tp * now.pp * now.cp)
  const isUneven = text['uneven-stages'] === 'true' || text['layers-per-stage'] !== undefined
  const isSequenceParallel = text['sequence-parallel'] ? text['sequence-parallel'] === 'true' : plan.sequence_parallel
  const hasExperts = now.ep > 1 || numbersOf(valid, 'ep').length > 1
  /** Choices that are valid with the other settings, and the current one. */
  const choices = (key: string, current: string) => {
    const listed = valid.get(key) ?? []
    return optionsOf(listed.includes(current) ? listed : [current, ...listed], now.vp)
  }
  const own = (key: string) => text[key] !== undefined
  /** Resets settings to auto, unless the first of them is needed by the others. */
  const auto = (...keys: readonly [string, ...string[]]) =>
    valid.closed?.has(keys[0]) ? undefined : () => put(Object.fromEntries(keys.map((key) => [key, undefined])), props)
  /** A switch whose other position is not valid with the other settings. */
  const fixed = (key: string, value: boolean) => isRefused(valid, key, String(!value))
  const flag = (key: string, value: boolean) => put({ [key]: value ? 'true' : 'false' }, props)
  return (
    <>
      <Section title={texts.parallelism} note={Number.isInteger(dp) ? texts.dataParallel(format.count(dp)) : ''}>
        {!report && (
          <BestLayout
            estimate={estimate}
            ready={text.model !== undefined && (text.cluster !== undefined || text.accelerator !== undefined)}
          />
        )}
        <Degree name="tp" label={texts.tensorParallel} about={texts.ranksThatShareEachMatrix} {...props} />
        <Degree name="pp" label={texts.pipelineStages} about={texts.stagesThatShareTheLayers} {...props} />
        {(now.pp > 1 || now.vp > 1) && (
          <Degree name="vp" label={texts.virtualStages} about={texts.modelChunksPerStageInterleaving} {...props} />
        )}
        <Degree name="cp" label={texts.contextParallel} about={texts.ranksThatShareEachSequence} {...props} />
        {hasExperts && (
          <>
            <Degree name="ep" label={texts.expertParallel} about={texts.ranksThatShareTheRouted} {...props} />
            <Degree name="etp" label={texts.expertTensorParallel} about={texts.ranksThatShareEachExpert} {...props} />
          </>
        )}
        <Switch
          label={texts.unevenStages}
          about={texts.spreadLayersUnevenlyIfThey}
          own={own('uneven-stages')}
          kept={heldKeys.value.includes('uneven-stages')}
          onAuto={auto('uneven-stages', 'layers-per-stage')}
          fixed={fixed('uneven-stages', isUneven)}
          value={isUneven}
          onChange={(value) => put({ 'uneven-stages': value ? 'true' : undefined, 'layers-per-stage': undefined }, props)}
        />
        <Switch
          label={texts.sequenceParallel}
          about={texts.shardNormsDropoutAndResiduals}
          own={own('sequence-parallel')}
          onAuto={auto('sequence-parallel')}
          fixed={fixed('sequence-parallel', isSequenceParallel)}
          value={isSequenceParallel}
          onChange={(value) => flag('sequence-parallel', value)}
        />
        <Choice
          label={texts.schedule}
          about={texts.theOrderOfPassesIn}
          own={own('schedule')}
          onAuto={auto('schedule', 'vp')}
          value={text.schedule ?? plan.schedule}
          options={choices('schedule', text.schedule ?? plan.schedule)}
          onChange={(schedule) => put(ofSchedule(schedule), props)}
        />
      </Section>
      <Section title={texts.batch} note={estimate ? texts.microBatches(format.count(estimate.throughput.micro_batches)) : ''}>
        <Degree name="global-batch" label={texts.globalBatch} about={texts.sequencesPerStep} {...props} wide format={format.count} />
        <Degree name="micro-batch" label={texts.microBatch} about={texts.sequencesPerMicroBatchAnd} {...props} />
        <Degree name="sequence-length" label={texts.sequenceLength} about={texts.tokensPerSequence} {...props} wide format={format.count} />
      </Section>
      <Section title={texts.memoryAndPrecision}>
        <Choice
          label={texts.sharding}
          about={texts.statesShardedOverDataParallel}
          own={own('sharding')}
          onAuto={auto('sharding')}
          value={text.sharding ?? shardingText(plan.sharding)}
          options={choices('sharding', text.sharding ?? shardingText(plan.sharding))}
          onChange={(sharding) => put({ sharding }, props)}
        />
        <Choice
          label={texts.recompute}
          about={texts.activationsThatTheBackwardPass}
          own={own('recompute')}
          onAuto={auto('recompute', 'stage-recompute')}
          value={text.recompute ?? recomputeText(plan.recompute)}
          options={choices('recompute', text.recompute ?? recomputeText(plan.recompute))}
          onChange={(recompute) => put({ recompute, 'stage-recompute': undefined }, props)}
        />
        <Choice
          label={texts.precision}
          about={texts.allNumberFormatsAtOnce}
          own={own('precision')}
          onAuto={auto('precision')}
          value={text.precision ?? plan.precision.compute}
          options={choices('precision', text.precision ?? plan.precision.compute)}
          onChange={(precision) => put({ precision }, props)}
        />
      </Section>
      <details class="section">
        <summary>{texts.overlap}</summary>
        {OVERLAPS.filter(([name]) => name !== 'expert' || hasExperts).map(([name, title, about]) => {
          const key = `overlap-${name.replaceAll('_', '-')}`
          return (
            <Switch
              key={name}
              label={title}
              about={about}
              own={own(key)}
              onAuto={auto(key)}
              fixed={fixed(key, plan.overlap[name])}
              value={plan.overlap[name]}
              onChange={(value) => flag(key, value)}
            />
          )
        })}
      </details>
      <Section title={texts.training}>
        <TextField
          label={texts.tokens}
          about={texts.tokensToTrainOn15}
          own={own('tokens')}
          value={text.tokens ?? ''}
          placeholder="15T"
          onChange={(tokens) => set({ tokens: tokens || undefined })}
        />
        <TextField
          label={texts.perDeviceHour}
          about={texts.priceOfOneDeviceFor}
          own={own('price-per-device-hour')}
          value={text['price-per-device-hour'] ?? ''}
          placeholder={estimate?.money?.device_price?.amount.toFixed(2) ?? ''}
          onChange={(price) => set({ 'price-per-device-hour': price || undefined })}
        />
      </Section>
      <OtherSettings valid={valid} />
    </>
  )
}

function Degree(props: Props & { name: keyof Degrees; label: string; about: string; wide?: boolean; format?: (value: number) => string }) {
  const text = edited.value
  // The data-parallel size follows: one set for other devices would contradict them.
  const hasReplicas = text.dp !== undefined && text.dp !== ''
  const own = isOwn(props.name, text)
  const byDefault = isDefault(props.name, text)
  const kept = heldKeys.value.includes(props.name)
  const value = degreesOf(text, props.estimate)[props.name]
  const values = useMemo(() => numbersOf(props.valid, props.name), [props.valid, props.name])
  const blame = props.refused && lastSet.value.includes(props.name)
  const closed = isClosed(props.valid, props.name, text)
  const current = useRef(props)
  current.current = props
  // While one slider moves, the other steppers stay as they are.
  return useMemo(() => {
    const follows = hasReplicas ? { dp: undefined } : {}
    return (
      <Stepper
        label={props.label}
        about={props.about}
        wide={props.wide}
        format={props.format}
        own={own}
        byDefault={byDefault}
        onAuto={closed ? undefined : () => put({ ...toAuto(props.name, edited.value, heldKeys.value), ...follows }, current.current)}
        value={value}
        values={values}
        kept={kept}
        onChange={(next, final) => put({ [props.name]: String(next), ...follows }, current.current, final ? 'push' : 'replace')}
        blame={blame}
        disabled={report !== null}
      />
    )
  }, [hasReplicas, own, byDefault, kept, value, values, blame, closed, props.label, props.about, props.wide, props.format])
}

function Section(props: { title: string; note?: string; children: ComponentChildren }) {
  return (
    <section class="section" aria-label={props.title}>
      <h2>
        {props.title}
        {props.note && <span class="muted">{props.note}</span>}
      </h2>
      {props.children}
    </section>
  )
}

function ModelPicker(props: { models: readonly ModelEntry[]; value: string; name: string | undefined }) {
  const options: Option[] = props.models.map((model) => ({
    value: model.name,
    title: model.name,
    note:
      model.parameters.active < model.parameters.total
        ? texts.active2(format.amount(model.parameters.total), format.amount(model.parameters.active))
        : format.amount(model.parameters.total),
    group: model.family,
    words: model.aliases.join(' '),
  }))
  const alias = props.models.find((model) => model.aliases.includes(props.value))?.name
  const known = alias ?? props.value
  if (known && !options.some((option) => option.value === known))
    options.unshift({ value: known, title: withoutHandle(known), note: props.name, group: 'yours' })
  return (
    <div class="model-picker">
      <Combobox
        label={texts.model}
        value={known}
        options={options}
        placeholder={props.name ?? texts.aModelOfTheCatalogue}
        onChoose={(model) => choose('model', model)}
        disabled={report !== null}
      />
      {!report && (
        <label class="button icon open-file" title={texts.openAConfigJsonALaunch}>
          <span aria-hidden="true">↥</span>
          <span class="hidden-visually">{texts.openAConfigJsonA}</span>
          <input
            type="file"
            class="hidden-visually"
            multiple
            onChange={(event) => {
              const input = event.currentTarget
              void openFiles([...(input.files ?? [])]).finally(() => (input.value = ''))
            }}
          />
        </label>
      )}
    </div>
  )
}

function ModelLine(props: { estimate: Estimate | null }) {
  if (!props.estimate) return null
  const { model } = props.estimate
  const active = model.parameters.active < model.parameters.total ? texts.active(format.amount(model.parameters.active)) : ''
  return (
    <p class="muted line">
      {format.amount(model.parameters.total)} {texts.parameters}
      {active}, {model.layers} {texts.layers}
    </p>
  )
}

function clusterOptions(clusters: readonly ClusterEntry[], accelerators: readonly Accelerator[]): Option[] {
  const systems = clusters.map((cluster) => ({
    value: cluster.name,
    title: cluster.name,
    note: `${cluster.accelerator.name} × ${cluster.devices_per_node}, ${cluster.network.kind}`,
    group: 'systems',
    words: cluster.accelerator.vendor,
  }))
  const names = new Set(systems.map((system) => system.value))
  const single = [...new Map(accelerators.map((one) => [one.id, one])).values()].filter((one) => !names.has(one.id))
  return [
    ...systems,
    ...single.map((one) => ({
      value: one.id,
      title: one.id,
      note: `${one.name}, ${format.bytes(one.memory)}`,
      group: texts.acceleratorsOf(one.vendor),
      words: one.architecture,
    })),
  ].sort(
    (a, b) => (a.group === 'systems' ? 0 : 1) - (b.group === 'systems' ? 0 : 1) || (a.group === b.group ? 0 : a.group < b.group ? -1 : 1),
  )
}
