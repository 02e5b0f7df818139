// "Why not this one?": the best strategy with the given settings, compared with the winner.
import { bytes, percent, seconds, tickIn, timeUnit } from '../../charts/format'
import { Tornado } from '../../charts/tornado/tornado'
import { ChartFrame } from '../../charts/frame'
import { Problems } from '../../ui/states'
import { set } from '../parts/controls'
import { loadStrategy } from '../parts/load'
import { ProgressLine } from '../parts/progress'
import type { Named } from './answer'
import { PREFIX, type Scope, keepable, question, searchedRun, whyNot } from './question'
import { spentColour } from './ranking'
import { Strategies, named } from './strategies'
import * as texts from '../../words/search'

export function WhyNotPanel({ scope }: { scope: Scope }) {
  const state = whyNot.state.value
  const wanted = named(scope.whyNot)
  const ask = () => {
    const asked = question(scope)
    if (asked && wanted.length > 0) whyNot.start({ ...asked, objective: scope.objective, top: 1, 'why-not': wanted })
  }
  const answers = scope.whyNot ? (state.answer?.answer.why_not ?? []) : []
  return (
    <section class="panel" aria-label={texts.whyNot}>
      <div class="panel-head">
        <h2>
          {texts.whyNotMine} <span class="about">{texts.namedSettingsAreFixedThe}</span>
        </h2>
      </div>
      <div class="panel-body">
        <form class="entries" onSubmit={(event) => event.preventDefault()}>
          <Strategies
            value={scope.whyNot}
            mine={keepable()}
            run={searchedRun(scope)}
            onChange={(text) => set(PREFIX, 'why', text || undefined)}
          />
          <button type="button" class="button" disabled={wanted.length === 0} onClick={ask}>
            {texts.explain}
          </button>
        </form>
        <ProgressLine state={state} unit="layouts" onStop={() => whyNot.stop()} />
        {state.problems.length > 0 && <Problems problems={state.problems} />}
        {answers.map((one) => (
          <Verdict key={one.named} one={one} />
        ))}
      </div>
    </section>
  )
}

function Verdict({ one }: { one: Named }) {
  const { why_not: verdict } = one
  const title = <code>{one.named}</code>
  if (verdict.verdict === 'unanswered')
    return (
      <p class="muted">
        {title} {texts.wasNotEvaluatedTheSearch}
      </p>
    )
  if (verdict.verdict === 'best')
    return (
      <p class="tone-good">
        {title} {texts.isTheBestLayout}
      </p>
    )
  if (verdict.verdict === 'impossible') {
    return (
      <div>
        <p>
          {title} {texts.isNotAValidLayout}
        </p>
        <Problems problems={verdict.problems} />
      </div>
    )
  }
  if (verdict.verdict === 'too_large') {
    return (
      <p>
        {title} <span class="tone-bad">{texts.doesNotFit}</span>
        {texts.stage} {verdict.stage} {texts.lacks} {bytes(verdict.lacks)} {texts.evenWith} <code>{one.layout}</code>.
      </p>
    )
  }
  const rows = verdict.differences
    .filter((part) => Math.abs(part.more) > 1e-9)
    .map((part) => ({
      id: part.on,
      label: part.on,
      more: part.more,
      figure: `${part.more > 0 ? '+' : '−'}${seconds(Math.abs(part.more))}`,
      colour: spentColour(part.on),
      tip: { title: part.on, lines: [{ name: part.more > 0 ? 'loses' : 'wins', value: seconds(Math.abs(part.more)) }] },
    }))
  const unit = timeUnit(Math.max(...rows.map((row) => Math.abs(row.more))))
  return (
    <div class="against">
      <div>
        <p>
          {title}{' '}
          {verdict.is_tie ? (
            <>
              {texts.is} {percent(Math.abs(verdict.behind))} {verdict.behind < 0 ? texts.faster2 : texts.slower2}{' '}
              <strong>{texts.aTie}</strong>
              {texts.withinTheModelErrorOfTwo}
            </>
          ) : (
            <>
              {texts.is}{' '}
              <strong>
                {percent(verdict.behind)} {texts.slower}
              </strong>
              .
            </>
          )}{' '}
          {texts.itsStepTakes} {seconds(verdict.candidate.step_time)}.
        </p>
        <p>
          <code>{one.layout}</code>
        </p>
        <div class="actions">
          <button type="button" class="button" onClick={() => loadStrategy(one.layout)}>
            {texts.loadItIntoTheCalculator}
          </button>
        </div>
      </div>
      <ChartFrame
        title={texts.againstTheBest3}
        about={texts.timeLostAndGainedBy}
        name="why-not"
        rows={() => ({ columns: ['part', 'more_s'], rows: verdict.differences.map((part) => [part.on, part.more]) })}
      >
        {(width) => (
          <Tornado
            width={width}
            title={texts.againstTheBest2(one.named)}
            rows={rows}
            axis={texts.perStepIn(unit.sign)}
            format={(value) => tickIn(value, unit.scale)}
            figureTitle="difference"
          />
        )}
      </ChartFrame>
    </div>
  )
}
