// Sensitivity: a tornado chart of the change of step time for a hardware or software parameter 10% larger or smaller. Selecting a hardware
// parameter adds its doubling as a change.
import type { Live } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { bytes, digits, percent, seconds } from '../../charts/format'
import { Tornado } from '../../charts/tornado/tornado'
import { own } from '../../state/location'
import { withUnits } from '../../state/program-text'
import { Loading, Problems } from '../../ui/states'
import { Segments, set } from '../parts/controls'
import type { Sensitivity } from './answer'
import { PREFIX, setChanges, changes } from './changes'
import { commandItem } from '../parts/command'
import { FIT } from '../parts/fit'
import * as texts from '../../words/whatif'

const COLOURS = { hardware: 'var(--accent)', software: 'var(--class-optimizer)', host: 'var(--class-host)' } as const

/** Number of parameters shown at first, without those that have no effect. */
const FIRST = 10

export function SensitivityPanel({ live }: { live: Live<Sensitivity> }) {
  const { answer } = live
  if (!answer) return live.problems.length > 0 ? <Problems problems={live.problems} /> : <Loading heights={[320]} />
  const kind = own(PREFIX).figures ?? 'most'
  const shown = answer.figures.filter((figure) => (kind === 'hardware' || kind === 'software' ? figure.kind === kind : true))
  const figures = kind === 'most' ? shown.slice(0, FIRST) : shown
  const signed = (value: number) => (value === 0 ? '0%' : `${value > 0 ? '+' : '−'}${digits(Math.abs(value) * 100, 2)}%`)
  const swing = percent(answer.swing).replace('.0', '')
  return (
    <ChartFrame
      title={texts.sensitivity}
      about={texts.changeOfWhenAFigure(seconds(answer.step_time), swing)}
      name="sensitivity"
      menu={commandItem(live.commandLine)}
      stale={live.stale}
      tools={
        <Segments
          label={texts.figures}
          value={kind}
          options={[
            ['most', texts.first(FIRST)],
            ['hardware', 'hardware'],
            ['software', 'software'],
            ['all', 'all'],
          ]}
          onChange={(value) => set(PREFIX, 'figures', value === 'most' ? undefined : value)}
        />
      }
      rows={() => ({
        columns: ['id', 'figure', 'kind', 'now', 'elasticity', 'step_when_less', 'step_when_more', 'step_at_best'],
        rows: answer.figures.map((one) => [one.id, one.title, one.kind, one.now, one.elasticity, one.less, one.more, one.best]),
      })}
    >
      {(width) => (
        <>
          <Tornado
            width={width}
            title={texts.sensitivity}
            axis={texts.changeOfTheStep}
            format={(value) => signed(value)}
            figureTitle="elasticity"
            moreTitle={texts.more(swing)}
            lessTitle={texts.less(swing)}
            onPick={(id) => {
              const figure = answer.figures.find((one) => one.id === id)
              if (figure && changeOf(figure.id, figure.greater_is_faster))
                setChanges([...changes(), changeOf(figure.id, figure.greater_is_faster) ?? ''])
            }}
            rows={figures.map((one) => ({
              id: one.id,
              label: one.title,
              now: one.now.length > 22 ? undefined : withUnits(one.now),
              more: one.more,
              less: one.less,
              figure: digits(one.elasticity, 2).replace('-', '−'),
              colour: COLOURS[one.kind],
              tip: {
                title: `${one.title}: ${withUnits(one.now)}`,
                lines: [
                  { name: texts.more(swing), value: signed(one.more) },
                  { name: texts.less(swing), value: signed(one.less) },
                  { name: texts.atItsBest, value: signed(one.best) },
                  ...(one.through ? [{ name: texts.mostlyThrough, value: one.through }] : []),
                ],
                hint: changeOf(one.id, one.greater_is_faster)
                  ? texts.enterOrClickApplies(changeOf(one.id, one.greater_is_faster))
                  : `${one.kind === 'software' ? texts.aConstantOfTheSoftware : ''}`,
              },
            }))}
          />
          <ul class="chart-keys">
            <li>
              <span class="swatch" style={{ background: COLOURS.hardware }} /> {texts.hardware}
            </li>
            <li>
              <span class="swatch" style={{ background: COLOURS.software }} /> {texts.software}
            </li>
            <li>
              <span class="swatch" style={{ background: COLOURS.host }} /> {texts.host}
            </li>
            <li>
              <span>
                {answer.capacity.least > answer.capacity.device ? (
                  <span class="tone-bad">
                    {texts.theRunNeedsMoreThan(bytes(answer.capacity.peak), bytes(answer.capacity.device), FIT[answer.capacity.fit].words)}
                  </span>
                ) : (
                  <>
                    {texts.memoryCapacityChangesNothingUntil} {bytes(answer.capacity.peak)} {texts.ofText2} {bytes(answer.capacity.device)}
                  </>
                )}
              </span>
            </li>
          </ul>
        </>
      )}
    </ChartFrame>
  )
}

/** Change that doubles (or halves) a parameter; null unless it is one of the hardware. */
function changeOf(id: string, greaterIsFaster: boolean): string | null {
  return id.startsWith('cluster.') ? `${id.slice('cluster.'.length)}=${greaterIsFaster ? 'x2' : 'x0.5'}` : null
}
