// The recommended layout: step time, breakdown, interval, and actions.
import { bytes, count, dollars, percent, probability, relative, seconds } from '../../charts/format'
import { copy, download } from '../../ui/clipboard'
import { Figure } from '../parts/controls'
import type { Found, SearchAnswer } from './answer'
import { SpentBar, spentColour } from './ranking'
import * as texts from '../../words/search'

export function Winner({ answer, onLoad }: { answer: SearchAnswer; onLoad: (one: Found) => void }) {
  const best = answer.candidates[0]
  if (!best) return null
  const { ranked } = best
  const { candidate, bill, step_time_interval: interval } = ranked
  const { fastest } = answer
  const ties = answer.candidates.filter((one) => one.ranked.candidate.tied_with_best).length
  return (
    <section class="panel" aria-label={texts.bestStrategy}>
      <div class="panel-head">
        <h2>
          {texts.best}{' '}
          <span class="about" title={texts.theSimplestWithinTheTie}>
            {ranked.plan_summary}
          </span>
        </h2>
      </div>
      <div class="panel-body">
        <dl class="figures">
          <Figure
            title={texts.step}
            note={
              interval ? texts.toInOfRuns(seconds(interval.low), seconds(interval.high), percent(interval.coverage).replace('.0', '')) : ''
            }
          >
            {seconds(candidate.step_time)}
          </Figure>
          <Figure title={texts.mfu} note={texts.tokensS(count(candidate.tokens_per_second))}>
            {percent(ranked.mfu)}
          </Figure>
          <Figure title={texts.memory} note={texts.fitsWith2(probability(candidate.probability_of_fitting))}>
            {bytes(candidate.memory.device)}
          </Figure>
          {bill && (
            <Figure title={texts.training} note={dollars(bill.rent)}>
              {seconds(bill.calendar)}
            </Figure>
          )}
        </dl>
        <SpentBar spent={ranked.spent} wide />
        <ul class="chart-keys">
          {ranked.spent
            .filter((part) => part.share >= 0.0005)
            .map((part) => (
              <li key={part.on}>
                <span class="swatch" style={{ background: spentColour(part.on) }} />
                {part.on} {percent(part.share)}
              </li>
            ))}
        </ul>
        <div class="actions">
          <button type="button" class="button primary" onClick={() => onLoad(best)}>
            {texts.loadIntoTheCalculator}
          </button>
          {fastest && (
            <button type="button" class="button" onClick={() => onLoad(fastest)}>
              {texts.loadTheFastest} {seconds(fastest.ranked.candidate.step_time)},{' '}
              {relative(fastest.ranked.candidate.step_time, candidate.step_time)}
            </button>
          )}
          <button type="button" class="button" onClick={() => void copy(best.command, 'command')}>
            {texts.copyAsCommand}
          </button>
          <button type="button" class="button" onClick={() => download('best.toml', best.run_file, 'application/toml')}>
            {texts.saveRunFile}
          </button>
        </div>
        <ul class="remarks">
          {fastest && <li>{texts.theSimplestWithinTheTie}</li>}
          {answer.by_family && ties > 1 && (
            <li>
              {count(ties)} {texts.layoutsAreWithinTheModel}
            </li>
          )}
          {!answer.complete && <li class="warn">{texts.stoppedEarlyBestResultSo}</li>}
          {ranked.warnings.map((warning) => (
            <li key={warning.id} class="warn">
              {warning.message}
            </li>
          ))}
          {answer.doubts.map((doubt) => (
            <li key={doubt} class="warn">
              {doubt}
            </li>
          ))}
          {answer.chosen.length > 0 && (
            <li>
              {texts.defaults} {answer.chosen.join(', ')}
            </li>
          )}
        </ul>
      </div>
    </section>
  )
}
