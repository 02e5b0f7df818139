// "Why not this one?": the best strategy that has what is named, against the winner.
import { bytes, percent, seconds } from '../../charts/format'
import { Tornado } from '../../charts/tornado/tornado'
import { ChartFrame } from '../../charts/frame'
import { Problems } from '../../ui/states'
import { Text, set } from '../parts/controls'
import { loadStrategy } from '../parts/load'
import { ProgressLine } from '../parts/progress'
import type { Named } from './answer'
import { PREFIX, type Scope, question, whyNot } from './question'
import { spentColour } from './ranking'

export function WhyNotPanel({ scope }: { scope: Scope }) {
  const state = whyNot.state.value
  const ask = (text: string) => {
    set(PREFIX, 'why', text)
    const asked = question(scope)
    if (asked && text) whyNot.start({ ...asked, objective: scope.objective, top: 1, 'why-not': named(text) })
  }
  const answers = scope.whyNot ? (state.answer?.answer.why_not ?? []) : []
  return (
    <section class="panel" aria-label="Why not">
      <div class="panel-head">
        <h2>
          Why not mine? <span class="about">what it names is fixed, the rest searched</span>
        </h2>
      </div>
      <div class="panel-body">
        <form class="entries" onSubmit={(event) => event.preventDefault()}>
          <Text
            title="Strategy"
            wide
            placeholder="tp=8,pp=4"
            about="Choices with commas; several strategies with spaces"
            value={scope.whyNot}
            onChange={ask}
          />
          <button type="button" class="button" disabled={!scope.whyNot} onClick={() => ask(scope.whyNot)}>
            Explain
          </button>
        </form>
        <ProgressLine state={state} unit="strategies" onStop={() => whyNot.stop()} />
        {state.problems.length > 0 && <Problems problems={state.problems} />}
        {answers.map((one) => (
          <Verdict key={one.named} one={one} />
        ))}
      </div>
    </section>
  )
}

function named(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

function Verdict({ one }: { one: Named }) {
  const { why_not: verdict } = one
  const title = <code>{one.named}</code>
  if (verdict.verdict === 'unanswered') return <p class="muted">{title} was not looked at: the search was stopped.</p>
  if (verdict.verdict === 'best') return <p class="tone-good">{title} is the best there is.</p>
  if (verdict.verdict === 'impossible') {
    return (
      <div>
        <p>{title} is no strategy here.</p>
        <Problems problems={verdict.problems} />
      </div>
    )
  }
  if (verdict.verdict === 'too_large') {
    return (
      <p>
        {title} <span class="tone-bad">does not fit</span>: stage {verdict.stage} lacks {bytes(verdict.lacks)} even with{' '}
        <code>{one.layout}</code>.
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
  return (
    <div class="against">
      <div>
        <p>
          {title}{' '}
          {verdict.is_tie ? (
            <>
              is {percent(verdict.behind)} slower: <strong>a tie</strong>, nearer than the model can tell two layouts apart.
            </>
          ) : (
            <>
              is <strong>{percent(verdict.behind)} slower</strong>.
            </>
          )}{' '}
          Its step takes {seconds(verdict.candidate.step_time)}.
        </p>
        <p>
          <code>{one.layout}</code>
        </p>
        <div class="actions">
          <button type="button" class="button" onClick={() => loadStrategy(one.layout)}>
            Load it into the calculator
          </button>
        </div>
      </div>
      <ChartFrame
        title="Against the best"
        about="where its time is lost and won"
        name="why-not"
        rows={() => ({ columns: ['part', 'more_s'], rows: verdict.differences.map((part) => [part.on, part.more]) })}
      >
        {(width) => (
          <Tornado
            width={width}
            title={`${one.named} against the best`}
            rows={rows}
            axis="seconds a step"
            format={(value) => String(value)}
            figureTitle="difference"
          />
        )}
      </ChartFrame>
    </div>
  )
}
