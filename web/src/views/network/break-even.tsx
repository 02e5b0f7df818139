// Break-even of designs: savings by the price of switch ports, with today's price marked, and the prices at which two designs cost the same.
import { ChartFrame } from '../../charts/frame'
import { percent } from '../../charts/format'
import { Lines } from '../../charts/lines/lines'
import type { CostAnswer } from './answer'
import { kindOf } from './names'
import * as texts from '../../words/network'

/** Saving below which a design is not drawn with the others: more than twice the price. */
const FAR = -1

/** Break-even prices, with designs that cost the same in one line. */
function breakEvens(answer: CostAnswer): { ratio: number; transceivers: string; ports: string[] }[] {
  const found: { ratio: number; transceivers: string; ports: string[] }[] = []
  for (const one of answer.break_even_by_port_price) {
    const [ports, transceivers] = [kindOf(one.expensive_ports).title, kindOf(one.expensive_transceivers).title]
    const same = found.find((other) => other.ratio === one.ratio && other.transceivers === transceivers)
    if (same) same.ports.push(ports)
    else found.push({ ratio: one.ratio, transceivers, ports: [ports] })
  }
  return found
}

export function BreakEven({ answer }: { answer: CostAnswer }) {
  const rows = answer.saving_by_port_price
  const against = kindOf(answer.names[0] ?? '').title
  if (rows.length === 0 || answer.names.length < 2) return null
  const others = answer.names.slice(1).map((name, index) => ({ name, index }))
  // A design of several times the price would hide the differences of the others.
  const isFar = (index: number) => rows.every((row) => (row.savings[index] ?? 0) < FAR)
  const far = others.filter(({ index }) => isFar(index))
  const near = others.filter(({ index }) => !isFar(index))
  const drawn = near.length > 0 ? near : others
  const factor = (value: number) => (value === 1 ? 'today' : `${Number(value.toPrecision(3))}×`)
  return (
    <ChartFrame
      title={texts.breakEven}
      about={texts.portsAndTransceiversSavedAgainst(against)}
      name="network-break-even"
      rows={() => ({ columns: ['port_price_factor', ...answer.names.slice(1)], rows: rows.map((row) => [row.ratio, ...row.savings]) })}
    >
      {(width) => (
        <>
          <Lines
            width={width}
            title={texts.savingByThePriceOf}
            x={{ title: texts.priceOfSwitchPortsOver, format: factor, log: true, ticks: rows.map((row) => row.ratio) }}
            y={{ title: texts.saved, format: (value) => `${Math.round(value * 100)}%`.replace('-', '−') }}
            marks={[{ x: 1, label: texts.today }]}
            series={drawn.map(({ name, index }) => ({
              id: name,
              label: kindOf(name).title,
              colour: kindOf(name).colour,
              dash: kindOf(name).dash,
              values: rows.map((row) => ({
                x: row.ratio,
                y: row.savings[index] ?? null,
                tip: {
                  title: kindOf(name).title,
                  lines: [
                    { name: texts.portPrices, value: factor(row.ratio) },
                    { name: 'saved', value: percent(row.savings[index] ?? 0).replace('-', '−') },
                  ],
                },
              })),
            }))}
          />
          <ul class="remarks">
            {near.length > 0 && far.length > 0 && <li>{texts.notDrawn(far.map(({ name }) => kindOf(name).title).join(', '))}</li>}
            {breakEvens(answer).map((one) => (
              <li key={`${one.ratio} ${one.transceivers}`}>
                {texts.breakEvenAt(`${Number(one.ratio.toPrecision(3))}×`, one.ports.join(', '), one.transceivers, one.ports.length > 1)}
              </li>
            ))}
            {answer.break_even_by_port_price.length === 0 && <li>{texts.theOrderOfTheseDesigns}</li>}
          </ul>
        </>
      )}
    </ChartFrame>
  )
}
