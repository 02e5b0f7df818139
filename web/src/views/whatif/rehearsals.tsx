// Applied changes, alone and combined: a bar and a line for each, and the changed parts of the step for the selected one.
import type { Live } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { bytes, digits, dollars, percent, relative, seconds, tickIn, timeUnit } from '../../charts/format'
import { classColour } from '../../charts/colours'
import { Tornado } from '../../charts/tornado/tornado'
import { go, own } from '../../state/location'
import { withoutFlags } from '../../state/program-text'
import { Loading, Problems, Ticked } from '../../ui/states'
import { set } from '../parts/controls'
import type { Change, RunState, WhatIf } from './answer'
import { PREFIX, asOverrides, titleOf } from './changes'
import { Scroll } from '../parts/scroll'
import { NumberHead } from '../parts/table-panel'
import { commandItem } from '../parts/command'
import { FIT } from '../parts/fit'
import * as texts from '../../words/whatif'

export function Rehearsals({ live }: { live: Live<WhatIf> }) {
  const { answer } = live
  if (live.problems.length > 0) return <Problems problems={live.problems} />
  if (!answer) return <Loading heights={[160, 120]} />
  const all = [...answer.alone, ...(answer.together && answer.alone.length > 1 ? [answer.together] : [])]
  const at = all.find((one) => one.name === own(PREFIX).at) ?? all[all.length - 1]
  const possible = all.flatMap((one) => (one.outcome.outcome === 'possible' ? [{ one, outcome: one.outcome }] : []))
  const signed = (share: number) => (Math.abs(share) < 1e-9 ? '0%' : `${share > 0 ? '+' : '−'}${digits(Math.abs(share) * 100, 2)}%`)
  return (
    <div class={`columns rehearsed ${live.stale ? 'stale' : ''}`}>
      <div class="columns">
        <ChartFrame
          title={texts.aloneAndTogether}
          about={texts.againstAStepOf(seconds(answer.before.step_time))}
          name="what-if"
          menu={commandItem(live.commandLine)}
          rows={() => ({
            columns: ['change', 'step_s', 'share'],
            rows: possible.map(({ one, outcome }) => [one.name, outcome.after.step_time, outcome.difference.share]),
          })}
        >
          {(width) => (
            <Tornado
              width={width}
              title={texts.changesOfTheStep}
              axis={texts.changeOfTheStep}
              format={signed}
              figureTitle="step"
              picked={at?.name}
              onPick={(name) => set(PREFIX, 'at', name)}
              rows={possible.map(({ one, outcome }) => ({
                id: one.name,
                label: titleOf(one.name),
                more: outcome.difference.share,
                figure: `${signed(outcome.difference.share)}  ${seconds(outcome.after.step_time)}`,
                colour: outcome.difference.share > 0 ? 'var(--class-data)' : one === answer.together ? 'var(--text)' : 'var(--accent)',
                tip: { title: titleOf(one.name), lines: linesOf(answer.before, outcome.after), hint: one.notes.join(' ') || undefined },
              }))}
            />
          )}
        </ChartFrame>
        {answer.interaction && answer.alone.length > 1 && (
          <p class="interaction panel">
            <strong>
              {texts.speedupCombined} {digits(answer.interaction.together)}×
            </strong>
            {texts.productOfTheSingleChanges} {digits(answer.interaction.product_alone)}× ({answer.interaction.verdict}).
          </p>
        )}
      </div>
      {at && <Parts change={at} />}
      <Lines all={all} before={answer.before} at={at} />
    </div>
  )
}

function linesOf(before: RunState, after: RunState): { name: string; value: string }[] {
  return [
    { name: 'step', value: `${seconds(after.step_time)} (${relative(after.step_time, before.step_time)})` },
    { name: 'tokens/s', value: `${digits(after.tokens_per_second)} (${relative(after.tokens_per_second, before.tokens_per_second)})` },
    { name: 'MFU', value: percent(after.model_flop_utilisation) },
    { name: 'memory', value: texts.ofText(bytes(after.memory), bytes(after.device_memory)) },
  ]
}

function Lines({ all, before, at }: { all: readonly Change[]; before: RunState; at: Change | undefined }) {
  return (
    <section class="panel" aria-label={texts.changesInFigures}>
      <Scroll label={texts.changesInFiguresTable}>
        <table class="table">
          <caption class="hidden-visually">{texts.changesInFigures}</caption>
          <thead>
            <tr>
              <th scope="col">{texts.change}</th>
              <NumberHead>{texts.step}</NumberHead>
              <NumberHead>{texts.speedUp}</NumberHead>
              <NumberHead>{texts.mfu}</NumberHead>
              <NumberHead>{texts.memory}</NumberHead>
              <NumberHead>{texts.mTokens}</NumberHead>
              <th scope="col">{texts.fits}</th>
              <th scope="col">
                <span class="hidden-visually">{texts.actions}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <Row name={texts.asItIs} state={before} before={before} />
            {all.map((one) =>
              one.outcome.outcome === 'possible' ? (
                <Row key={one.name} name={one.name} state={one.outcome.after} before={before} change={one} chosen={one === at} />
              ) : (
                <tr key={one.name}>
                  <th scope="row">
                    <span title={one.name}>{titleOf(one.name)}</span>
                  </th>
                  <td colSpan={7} class="wrap">
                    <span class="badge bad">{texts.impossible}</span>{' '}
                    {withoutFlags(one.outcome.problems.map((problem) => problem.message).join('; '))}
                    {one.outcome.problems[0]?.hint && <span class="muted"> {withoutFlags(one.outcome.problems[0].hint)}</span>}
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

function Row({
  name,
  state,
  before,
  change,
  chosen = false,
}: {
  name: string
  state: RunState
  before: RunState
  change?: Change
  chosen?: boolean
}) {
  const overrides = change && asOverrides(change)
  return (
    <tr class={chosen ? 'chosen' : ''}>
      <th scope="row">
        {change ? (
          <button type="button" class="link" aria-pressed={chosen} onClick={() => set(PREFIX, 'at', name)}>
            <span title={name}>{titleOf(name)}</span>
          </button>
        ) : (
          <span class="muted">{name}</span>
        )}
      </th>
      <td class="right">{seconds(state.step_time)}</td>
      <td class="right">{change ? `${(before.step_time / state.step_time).toFixed(2)}×` : ''}</td>
      <td class="right">{percent(state.model_flop_utilisation)}</td>
      <td class="right">{bytes(state.memory)}</td>
      <td class="right">{state.dollars_per_million_tokens === null ? '–' : dollars(state.dollars_per_million_tokens)}</td>
      <td>
        <span class={`badge ${FIT[state.fit].badge}`}>{FIT[state.fit].words}</span>
      </td>
      <td class="right">
        {overrides && (
          <button type="button" class="button quiet" onClick={() => go('calculator', overrides)}>
            {texts.openAsScenarioB}
          </button>
        )}
      </td>
    </tr>
  )
}

/** Parts of the step affected by a change; they add up to the difference. */
function Parts({ change }: { change: Change }) {
  const { outcome } = change
  if (outcome.outcome !== 'possible') return <Problems problems={outcome.problems} />
  const moved = outcome.difference.parts
    .filter((part) => Math.abs(part.change) > 1e-6 * outcome.after.step_time)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
  const unit = timeUnit(Math.abs(moved[0]?.change ?? 0))
  return (
    <ChartFrame
      title={texts.effectByPart}
      about={texts.partsOfTheStageThat(titleOf(change.name))}
      name="what-moves"
      rows={() => ({
        columns: ['part', 'before_s', 'after_s', 'change_s'],
        rows: outcome.difference.parts.map((part) => [part.title, part.before, part.after, part.change]),
      })}
    >
      {(width) => (
        <>
          {moved.length === 0 ? (
            <p class="muted">
              {texts.noEffect} {change.notes.join(' ')}
            </p>
          ) : (
            <Tornado
              width={width}
              title={texts.whatMoves(titleOf(change.name))}
              axis={texts.perStepIn(unit.sign)}
              format={(value) => tickIn(value, unit.scale)}
              figureTitle="difference"
              rows={moved.map((part) => ({
                id: part.id,
                label: part.title,
                more: part.change,
                figure: `${part.change > 0 ? '+' : '−'}${seconds(Math.abs(part.change))}`,
                colour: partColour(part.id),
                tip: {
                  title: part.title,
                  lines: [
                    { name: 'before', value: seconds(part.before) },
                    { name: 'after', value: seconds(part.after) },
                  ],
                },
              }))}
            />
          )}
          <ul class="remarks">
            {change.notes.map((note) => (
              <li key={note}>
                <Ticked text={note} />
              </li>
            ))}
            {change.evidence && (
              <li>
                {texts.accuracyOf} {change.evidence.pairs} {texts.measuredPairsThatDifferIn} {change.evidence.what}{' '}
                {texts.aloneHalfWerePredictedWithin} {percent(change.evidence.median)}
                {texts.nineOfTenWithin} {percent(change.evidence.ninth)}.
              </li>
            )}
            {outcome.resolved.map((id) => (
              <li key={id} class="tone-good">
                {texts.solves} {id.replaceAll('-', ' ')}.
              </li>
            ))}
            {outcome.warnings.map((warning) => (
              <li key={warning.id} class="warn">
                {warning.message}
              </li>
            ))}
            {change.moved.length > 0 && (
              <li>{change.moved.map((one) => `${one.key} ${one.before ?? '–'} → ${one.after ?? '–'}`).join('; ')}</li>
            )}
          </ul>
        </>
      )}
    </ChartFrame>
  )
}

function partColour(id: string): string {
  if (id.startsWith('compute')) return classColour('forward')
  const last = id.split('.').pop() ?? ''
  return classColour(last === 'data_parallel' ? 'data' : last)
}
