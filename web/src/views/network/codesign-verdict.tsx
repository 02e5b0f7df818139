// The answer of a co-design in a sentence, above its front.
import { dollars, percent } from '../../charts/format'
import { Ticked } from '../../ui/states'
import type { DesignAnswer } from './answer'
import { type Group, nameOf, verdictOf } from './codesign-answer'
import { gigabits } from './names'
import * as texts from '../../words/network'

interface Props {
  readonly answer: DesignAnswer
  /** Domain sizes that have no price. */
  readonly unpriced: readonly number[]
  /** Adds a row for the price of each. */
  readonly onPrice: () => void
  readonly onLoad: (group: Group) => void
}

export function DesignVerdict({ answer, unpriced, onPrice, onLoad }: Props) {
  const verdict = verdictOf(answer)
  return (
    <section class="panel design-verdict" aria-label={texts.answer}>
      <div class="panel-body">
        {verdict.is === 'stopped' && <p>{texts.stoppedNoNetworkIsRecommended}</p>}
        {verdict.is === 'nothing' && (
          <p>
            <strong>{texts.theModelFitsOnNoNetwork}</strong> <Ticked text={verdict.reason} />
          </p>
        )}
        {verdict.is === 'unpriced' && <p>{texts.noNetworkHasACostPerToken}</p>}
        {verdict.is === 'cheapest' && <Cheapest verdict={verdict} onLoad={onLoad} />}
        {unpriced.length > 0 && (
          <p class="muted">
            {texts.domainsWithoutAPrice(unpriced.join(', '))}{' '}
            <button type="button" class="button" onClick={onPrice}>
              {texts.addTheirPrices}
            </button>
          </p>
        )}
      </div>
    </section>
  )
}

function Cheapest({
  verdict,
  onLoad,
}: {
  verdict: Extract<ReturnType<typeof verdictOf>, { is: 'cheapest' }>
  onLoad: (group: Group) => void
}) {
  const { best, tied, token, dearer, next } = verdict
  const [row] = best.rows
  const place = texts.withDomainsOfAt(row.domain, gigabits(row.speed))
  const cost = texts.perMTokens(token.toPrecision(3))
  const buy = texts.forTheNetwork(dollars(row.dollars), dollars(row.dollars_per_device))
  return (
    <>
      <p class="verdict-line">
        {texts.lowestCostPerToken} <strong>{best.rows.map(nameOf).join(', ')}</strong> {place}: {cost}, {buy}
        {best.rows.length > 1 && <> {texts.theseCannotBeDistinguished}</>}
      </p>
      <p class="muted">
        {tied > best.rows.length &&
          dearer !== null &&
          texts.equalWithinTheIntervals(tied, Math.round(dearer) > 0 ? texts.more(dollars(dearer)) : texts.theSame)}{' '}
        {next
          ? texts.theNextCosts(nameOf(next.row), next.row.domain, gigabits(next.row.speed), percent(next.by))
          : texts.noOtherWasSimulated}
      </p>
      <div class="actions">
        <button type="button" class="button" onClick={() => onLoad(best)}>
          {texts.loadItsStrategy}
        </button>
      </div>
    </>
  )
}
