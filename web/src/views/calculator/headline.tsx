// Key figures: time, utilization, throughput, memory, days, money, energy. With two scenarios, both and their difference. Every number
// shows its origin on hover.
import type { ComponentChildren } from 'preact'
import type { Estimate } from '../../api/answers'
import { report } from '../../api/report'
import * as format from '../../charts/format'
import { Explained } from '../../ui/why'
import { FIT } from '../parts/fit'
import * as texts from '../../words/calculator'

interface Shown {
  readonly text: ComponentChildren
  readonly note?: ComponentChildren
  readonly value: number | null
}

interface Headline {
  readonly title: string
  readonly why: string
  /** True if it derives from the step time, so that the step-time interval applies. */
  readonly follows: boolean
  /** Preferred direction of change, if any. */
  readonly better: 'more' | 'less' | 'neither'
  readonly of: (estimate: Estimate) => Shown
}

const HFU_MORE = texts.executedArithmeticRecomputeIncludedIn
/** Ratio of executed to model FLOPs above which recompute is shown. */
const RECOMPUTED = 1.01

/** A duration that no line break separates from its unit. */
const whole = (value: number) => format.seconds(value).replaceAll(' ', '\u00a0')

const HEADLINES: readonly Headline[] = [
  {
    title: texts.stepTime,
    follows: true,
    why: 'step_time',
    better: 'less',
    of: ({ step_time, step_time_interval: interval }) => ({
      text: format.seconds(step_time),
      value: step_time,
      note: interval && (
        <span title={texts.intervalOf(Math.round(interval.coverage * 100), interval.source.replaceAll('`', ''))}>
          50%: {whole(interval.half_low)} {texts.to} {whole(interval.half_high)}
          <br />
          {Math.round(interval.coverage * 100)}%: {whole(interval.low)} {texts.to} {whole(interval.high)}
        </span>
      ),
    }),
  },
  {
    title: texts.mfu,
    follows: true,
    why: 'mfu.causal_attention',
    better: 'more',
    of: ({ efficiency, why }) => {
      const full = efficiency.model_flop.find((one) => one.convention === 'full_attention')?.utilisation[0]
      const causal = efficiency.model_flop.find((one) => one.convention === 'causal_attention')?.utilisation[0]
      const hardware = efficiency.hardware[0]
      return {
        text: causal ? format.percent(causal.share) : '–',
        value: causal?.share ?? null,
        note: (
          <>
            {full && (
              <Explained id="mfu.full_attention" list={why}>
                {format.percent(full.share)} {texts.countingFullAttention}
              </Explained>
            )}
            {hardware && causal && hardware.share > causal.share * RECOMPUTED && (
              <>
                <br />
                <Explained id="hfu" list={why} more={HFU_MORE}>
                  {texts.hfu} {format.percent(hardware.share)}
                </Explained>
              </>
            )}
          </>
        ),
      }
    },
  },
  {
    title: texts.tokensPerSecond,
    follows: true,
    why: 'tokens_per_second',
    better: 'more',
    of: ({ throughput, why }) => ({
      text: large(throughput.tokens_per_second),
      value: throughput.tokens_per_second,
      note: (
        <Explained id="tokens_per_second_per_device" list={why}>
          {format.digits(throughput.tokens_per_second_per_device)} {texts.perDevice}
        </Explained>
      ),
    }),
  },
  {
    title: texts.memory,
    follows: false,
    why: 'memory.peak',
    better: 'less',
    of: ({ memory, why }) => ({
      text: format.bytes(memory.peak),
      value: memory.peak,
      note: (
        <>
          <span class={`verdict ${FIT[memory.fit].verdict}`}>{FIT[memory.fit].words}</span>{' '}
          {memory.margin >= 0 ? texts.free(format.bytes(memory.margin)) : texts.over(format.bytes(-memory.margin))}
          <br />
          <Explained id="memory.probability_of_fitting" list={why}>
            {texts.chance} {format.chance(memory.probability_of_fitting)}
          </Explained>
        </>
      ),
    }),
  },
  {
    title: texts.training,
    follows: true,
    why: 'device_hours',
    better: 'less',
    of: ({ money }) =>
      money
        ? {
            text: format.seconds(money.calendar),
            value: money.calendar,
            note: (
              <>
                {format.amount(money.tokens)} {texts.tokens2}
                <br />
                {format.count(money.steps)} {texts.steps}
              </>
            ),
          }
        : MISSING,
  },
  {
    title: texts.cost,
    follows: true,
    why: 'rent',
    better: 'less',
    of: ({ money }) =>
      money && money.rent !== null
        ? {
            text: format.dollars(money.rent),
            value: money.rent,
            note: (
              <span title={money.device_price?.source}>
                {hours(money.device_hours)}
                <br />
                {texts.at}
                {money.device_price?.amount.toFixed(2)} {texts.each}
              </span>
            ),
          }
        : money
          ? { text: '–', value: null, note: texts.noPriceKnown }
          : MISSING,
  },
  {
    title: texts.energy,
    follows: true,
    why: 'energy',
    better: 'less',
    of: ({ money }) =>
      money && money.energy !== null
        ? {
            text: format.energy(money.energy),
            value: money.energy,
            note: (
              <>
                {money.power === null ? '' : format.power(money.power)}
                <br />
                {money.electricity === null ? '' : texts.ofPower(format.dollars(money.electricity))}
              </>
            ),
          }
        : money
          ? { text: '–', value: null, note: texts.noPowerKnown }
          : MISSING,
  },
]

const MISSING: Shown = {
  text: '–',
  value: null,
  note: report ? (
    texts.noTokensSet
  ) : (
    <button type="button" class="link" onClick={toTokens}>
      {texts.setTokens}
    </button>
  ),
}

/** Moves the focus to the missing field. */
function toTokens(): void {
  const rail = document.querySelector<HTMLButtonElement>('.rail-toggle[aria-expanded=false]')
  if (rail?.offsetParent) rail.click()
  requestAnimationFrame(() => {
    const field = [...document.querySelectorAll<HTMLElement>('.controls .field')]
      .find((one) => one.querySelector('label')?.textContent === 'Tokens')
      ?.querySelector('input')
    field?.scrollIntoView({ block: 'center' })
    field?.focus()
  })
}

export function Headlines(props: { a: Estimate; b: Estimate | null; stale: boolean; staleB: boolean }) {
  const doubt = props.b && doubtOf(props.a, props.b)
  return (
    <section class={`headlines panel ${props.b ? 'two' : ''}`} aria-label={texts.headlineNumbers}>
      <dl>
        {HEADLINES.map((headline) => {
          const a = headline.of(props.a)
          const b = props.b ? headline.of(props.b) : null
          return (
            <div key={headline.title} class="headline">
              <dt>{headline.title}</dt>
              <dd class={props.stale ? 'stale' : ''}>
                <span class="lettered">
                  {b && <span class="letter">A</span>}
                  <Explained id={headline.why} list={props.a.why} class="value">
                    {a.text}
                  </Explained>
                </span>
              </dd>
              {b && props.b && (
                <dd class={props.staleB ? 'stale' : ''}>
                  <span class="lettered">
                    <span class="letter">B</span>
                    <Explained id={headline.why} list={props.b.why} class="value">
                      {b.text}
                    </Explained>
                  </span>
                  <Difference a={a.value} b={b.value} better={headline.better} unless={headline.follows ? doubt : null} />
                </dd>
              )}
              <dd class="note">
                {b && <span class="letter">B</span>}
                {b ? b.note : a.note}
              </dd>
            </div>
          )
        })}
      </dl>
    </section>
  )
}

/** Reason without a judgement if one of the runs does not fit. */
export function unfitOf(a: Estimate, b: Estimate): Doubt | null {
  const letters = [a.memory.fit === 'does_not_fit' ? 'A' : '', b.memory.fit === 'does_not_fit' ? 'B' : ''].filter(Boolean)
  return letters.length === 0 ? null : { mark: '', why: texts.notFitSoThereIs(letters.join(' and '), letters.length > 1 ? 'do' : 'does') }
}

/** Reason why a difference derived from step times is not significant; null if it is. */
export function doubtOf(a: Estimate, b: Estimate): Doubt | null {
  const unfit = unfitOf(a, b)
  if (unfit) return unfit
  const [p, q] = [a.step_time_interval, b.step_time_interval]
  if (p && q && p.low <= q.high && q.low <= p.high) {
    return {
      mark: texts.withinTheInterval,
      why: texts.intervalsOfTheStepTime(
        Math.round(p.coverage * 100),
        format.seconds(p.low),
        format.seconds(p.high),
        format.seconds(q.low),
        format.seconds(q.high),
      ),
    }
  }
  return null
}

interface Doubt {
  /** Mark next to the difference. */
  readonly mark: string
  readonly why: string
}

/** Relative difference of step times below which there is no judgement: no measurement would show it. */
const UNSEEN = 5e-4
/** In seconds. */
const UNSEEN_TIME = 1e-6

/** A signed difference. Its tooltip and its text for screen readers state whether it is an improvement, in addition to the colour. `step`
 * is the step time that times are parts of. */
export function Difference(props: {
  a: number | null | undefined
  b: number | null | undefined
  better: 'more' | 'less' | 'neither'
  step?: number
  unless?: Doubt | null
}) {
  if (props.a == null || props.b == null) return null
  const apart = Math.abs(props.b - props.a)
  const unseen = props.step !== undefined && apart > 0 && (apart < UNSEEN_TIME || apart < UNSEEN * props.step)
  const text = unseen ? '≈' : format.relative(props.b, props.a)
  if (text === '=' || text === '≈')
    return (
      <span class="difference" title={text === '≈' ? texts.noDifferenceThatARun : ''}>
        {text}
      </span>
    )
  if (props.unless) {
    return (
      <span class="difference" title={props.unless.why}>
        {text}
        {props.unless.mark && <span class="in-doubt"> {props.unless.mark}</span>}
      </span>
    )
  }
  const up = props.b > props.a
  const good = props.better === 'neither' ? null : up === (props.better === 'more')
  return (
    <span
      class={`difference ${good === null ? '' : good ? 'good' : 'bad'}`}
      title={good === null ? '' : good ? texts.betterThanA : texts.worseThanA}
    >
      {text}
      {good !== null && <span class="hidden-visually">{good ? texts.better : texts.worse}</span>}
    </span>
  )
}

function large(value: number): string {
  if (value >= 1e6) return `${format.digits(value / 1e6)} M`
  return value >= 1e4 ? `${format.digits(value / 1e3)} k` : format.digits(value)
}

function hours(value: number): string {
  return value >= 1e6 ? texts.mDeviceH(format.digits(value / 1e6)) : texts.deviceH(format.count(value))
}
