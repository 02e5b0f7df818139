// Sensitivity: a tornado of its change when a figure of hardware or software is a tenth more or less. Picking a
// figure that can be bought rehearses twice of it.
import type { Live } from '../../api/live'
import { ChartFrame } from '../../charts/frame'
import { bytes, digits, percent, seconds } from '../../charts/format'
import { Tornado } from '../../charts/tornado/tornado'
import { own } from '../../state/location'
import { Loading, Problems } from '../../ui/states'
import { Segments, set } from '../parts/controls'
import type { Sensitivity } from './answer'
import { PREFIX, setChanges, changes } from './changes'
import { commandItem } from '../parts/command'

const COLOURS = { hardware: 'var(--accent)', software: 'var(--class-optimizer)', host: 'var(--class-host)' } as const

/** Figures whose best is worth nothing are left out of the first look. */
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
      title="Sensitivity"
      about={`change of ${seconds(answer.step_time)} when a figure is ${swing} more or less`}
      name="sensitivity"
      menu={commandItem(live.commandLine)}
      stale={live.stale}
      tools={
        <Segments
          label="Figures"
          value={kind}
          options={[
            ['most', `first ${FIRST}`],
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
            title="Sensitivity"
            axis="change of the step"
            format={(value) => signed(value)}
            figureTitle="elasticity"
            moreTitle={`${swing} more`}
            lessTitle={`${swing} less`}
            onPick={(id) => {
              const figure = answer.figures.find((one) => one.id === id)
              if (figure && changeOf(figure.id, figure.greater_is_faster))
                setChanges([...changes(), changeOf(figure.id, figure.greater_is_faster) ?? ''])
            }}
            rows={figures.map((one) => ({
              id: one.id,
              label: one.title,
              now: one.now.length > 22 ? undefined : one.now,
              more: one.more,
              less: one.less,
              figure: digits(one.elasticity, 2).replace('-', '−'),
              colour: COLOURS[one.kind],
              tip: {
                title: `${one.title}: ${one.now}`,
                lines: [
                  { name: `${swing} more`, value: signed(one.more) },
                  { name: `${swing} less`, value: signed(one.less) },
                  { name: 'at its best', value: signed(one.best) },
                  ...(one.through ? [{ name: 'mostly through', value: one.through }] : []),
                ],
                hint: changeOf(one.id, one.greater_is_faster)
                  ? `Enter or click applies ${changeOf(one.id, one.greater_is_faster)}`
                  : `${one.kind === 'software' ? 'A figure of the software: measured, not bought' : ''}`,
              },
            }))}
          />
          <ul class="chart-keys">
            <li>
              <span class="swatch" style={{ background: COLOURS.hardware }} /> hardware
            </li>
            <li>
              <span class="swatch" style={{ background: COLOURS.software }} /> software
            </li>
            <li>
              <span class="swatch" style={{ background: COLOURS.host }} /> host
            </li>
            <li>
              <span>
                Memory capacity changes nothing until the run no longer fits: {bytes(answer.capacity.peak)} of{' '}
                {bytes(answer.capacity.device)}
                {answer.capacity.fit === 'does_not_fit' && <span class="tone-bad">, does not fit now</span>}
              </span>
            </li>
          </ul>
        </>
      )}
    </ChartFrame>
  )
}

/** The change that doubles (or halves) a figure, where it is one of the machine. */
function changeOf(id: string, greaterIsFaster: boolean): string | null {
  return id.startsWith('cluster.') ? `${id.slice('cluster.'.length)}=${greaterIsFaster ? 'x2' : 'x0.5'}` : null
}
