// Every rank in every step: step time, compute time, and waits caused. Responsible for: the choice of the measure, and the place on the
// timeline of a cell. Shows all ranks and steps of the answer.
import { ChartFrame } from '../../charts/frame'
import { HeatTable } from '../../charts/heatmap/heat-table'
import { afresh } from '../../timeline/address'
import { change } from '../../state/location'
import { span } from '../../timeline/time'
import { Segments } from '../../ui/fields'
import { type Measure, MEASURE_OPTIONS, MEASURES, measureShown, showMeasure } from './measures'
import { FROM } from './rank-map'
import type { Profile, RankSteps } from './types'
import * as texts from '../../words/traces'

export function RanksOverSteps({ profile }: { profile: Profile }) {
  const heat = profile.rank_steps
  if (!heat || heat.ranks.length === 0 || heat.steps.length === 0) return null
  // With one step and many ranks, the map of the job shows the same as a grid.
  if (heat.steps.length === 1 && heat.ranks.length >= FROM) return null
  const [measure, title, about] = measureShown()
  const values = heat[`${measure}_ns`]
  return (
    <ChartFrame
      title={texts.ranksOverSteps2}
      about={about}
      name={`ranks-over-steps-${measure.replaceAll('_', '-')}`}
      class="traces-wide"
      rows={() => ({
        columns: ['rank', ...heat.steps.map((step) => texts.step(step))],
        rows: heat.ranks.map((rank, at) => [rank, ...values[at]!.map((value) => value ?? '')]),
      })}
      tools={<Segments label={texts.measureOfTheCells} value={measure} options={MEASURE_OPTIONS} onChange={showMeasure} />}
    >
      {(width) => (
        <HeatTable
          width={width}
          title={texts.ranksOverSteps(title.toLowerCase())}
          rows={heat.ranks.map((rank) => texts.rank3(rank))}
          columns={heat.steps.map((step) => texts.step(step))}
          values={values}
          nothing={texts.notRecordedInThisStep}
          from={measure.startsWith('waiting') ? 'zero' : 'least'}
          format={span}
          tip={(row, column) => tip(heat, row, column)}
          onChoose={(row, column) =>
            change({
              ...afresh('t'),
              't.tab': 'timeline',
              't.step': String(heat.steps[column]),
              't.rank': String(heat.ranks[row]),
              't.finding': undefined,
            })
          }
        />
      )}
    </ChartFrame>
  )
}

function tip(heat: RankSteps, row: number, column: number) {
  const value = (measure: Measure) => heat[`${measure}_ns`][row]?.[column] ?? null
  return {
    title: texts.rankStep(heat.ranks[row], heat.steps[column]),
    lines: [
      { name: texts.theStep, value: span(heat.step_time_ns[column] ?? 0) },
      ...MEASURES.map(([id, name]) => ({ name: name.toLowerCase(), value: value(id) === null ? texts.notRecorded : span(value(id)!) })),
    ],
    hint: texts.clickOrEnterShowsIt,
  }
}
