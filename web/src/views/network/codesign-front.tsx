// Step time against dollars of the network, every network with its best strategy, and the front of what nothing beats.
import { ChartFrame } from '../../charts/frame'
import { count, dollars, power, seconds } from '../../charts/format'
import { front } from '../../charts/scatter/model'
import { Scatter } from '../../charts/scatter/scatter'
import { Ticked } from '../../ui/states'
import { commandItem } from '../parts/command'
import type { DesignAnswer, DesignRow } from './answer'
import { stepOf } from './codesign-answer'
import { UNPRICED } from './codesign-scope'
import { Swatch } from './fields'
import { gigabits, kindOf } from './names'
import * as texts from '../../words/network'

function identify(row: DesignRow): string {
  return `${row.topology} ${row.domain} ${row.oversubscription} ${row.speed}`
}

function lines(answer: DesignAnswer, row: DesignRow): { name: string; value: string }[] {
  const step = stepOf(row)
  return [
    { name: 'step', value: step === null ? '–' : seconds(step) },
    { name: 'network', value: texts.aDevice2(dollars(row.dollars), dollars(row.dollars_per_device)) },
    { name: 'power', value: power(row.watts) },
    ...(row.share?.cluster?.dollars_per_million_tokens
      ? [{ name: texts.perMillionTokens, value: `$${row.share.cluster?.dollars_per_million_tokens.toPrecision(3)}` }]
      : []),
    { name: 'strategy', value: answer.classes[row.class]?.layout.split(' --').slice(0, 4).join(' ').replaceAll('--', '') ?? '' },
  ]
}

interface Props {
  readonly answer: DesignAnswer
  readonly line: string | undefined
  /** Domain sizes whose extra price is not known: they are shown, and compared with none. */
  readonly unpriced: readonly number[]
  readonly onLoad: (row: DesignRow) => void
}

export function Front({ answer, line, unpriced, onLoad }: Props) {
  const placed = answer.rows.flatMap((row) => {
    const step = stepOf(row)
    return step === null ? [] : [{ row, x: row.dollars_per_device, y: step }]
  })
  // A step in closed form is a lower bound: it is not compared with simulated ones.
  const isSimulated = placed.some(({ row }) => row.simulated !== null)
  const edge = front(placed.filter(({ row }) => !unpriced.includes(row.domain) && (row.simulated !== null || !isSimulated)))
  const isEdge = new Set(edge.map((at) => at.row))
  const kinds = [...new Set(placed.map((at) => at.row.topology))]
  return (
    <ChartFrame
      title={texts.stepTimeAgainstDollars}
      about={texts.networksEachWithTheBest(placed.length)}
      name="network-front"
      menu={commandItem(line)}
      rows={() => ({
        columns: ['topology', 'domain', 'oversubscription', 'speed_bytes_s', 'dollars_per_device', 'step_s', 'on_front'],
        rows: placed.map(({ row }) => [
          row.topology,
          row.domain,
          row.oversubscription,
          row.speed,
          row.dollars_per_device,
          stepOf(row),
          isEdge.has(row) ? 1 : 0,
        ]),
      })}
    >
      {(width) => (
        <>
          <Scatter
            width={width}
            height={width > 900 ? 460 : 400}
            title={texts.stepTimeAgainstDollars}
            points={placed.map(({ row, x, y }) => ({
              id: identify(row),
              x,
              y,
              label: isEdge.has(row) ? `${row.domain} × ${gigabits(row.speed).replace(' Gbit/s', 'G')}` : undefined,
              weight: isEdge.has(row) ? 1 : 0,
              mark: isEdge.has(row) ? 'front' : 'faint',
              shape: kindOf(row.topology).shape,
              colour: kindOf(row.topology).colour,
              tip: {
                title: `${kindOf(row.topology).title}, domains of ${row.domain}, ${gigabits(row.speed)}${row.oversubscription > 1 ? `, ${row.oversubscription}:1` : ''}`,
                lines: lines(answer, row),
                hint: 'Click or Enter loads the strategy',
              },
            }))}
            x={{
              title: texts.networkDollarsPerDevice,
              format: (value) => `$${count(Number(value.toPrecision(3)))}`,
              log: true,
            }}
            y={{ title: texts.stepTimeS, format: (value) => String(Number(value.toPrecision(4))) }}
            front={edge.map((at) => identify(at.row))}
            onPick={(id) => {
              const found = placed.find((at) => identify(at.row) === id)
              if (found) onLoad(found.row)
            }}
          />
          <ul class="chart-keys">
            {kinds.map((id) => (
              <li key={id}>
                <Swatch id={id} /> {kindOf(id).title}
              </li>
            ))}
            <li class="muted">{texts.labelsDomainNicSpeedOf}</li>
            {unpriced.length > 0 && <li class="muted">{texts.notOnTheFront(unpriced.join(', '))}</li>}
          </ul>
          <ul class="remarks">
            {/* The answer above has the sizes without a price, and the way to set them. */}
            {answer.warnings
              .filter((warning) => warning.id !== UNPRICED)
              .map((warning) => (
                <li key={warning.message} class="warn">
                  <Ticked text={warning.message} />
                </li>
              ))}
            {!answer.complete && <li class="warn">{texts.stoppedEarlyResultsSoFar}</li>}
          </ul>
        </>
      )}
    </ChartFrame>
  )
}
