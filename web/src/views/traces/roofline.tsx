// Operators and the roofline: achieved rate over arithmetic intensity, below the roofs of memory and compute. Responsible for: the chart,
// the table and the links between them. Shares and savings come from the program.
import { useState } from 'preact/hooks'
import type { Roofline as Answer, RooflineRow } from '../../api/schema/profile'
import { bandwidth, count, percent, seconds } from '../../charts/format'
import { ChartFrame } from '../../charts/frame'
import { type Roof, Scatter } from '../../charts/scatter/scatter'
import { span } from '../../timeline/time'
import { Empty } from '../../ui/states'
import { Table } from '../../ui/table'
import type { TabProps } from '.'
import * as texts from '../../words/traces'

const rate = (flops: number) =>
  flops >= 1e12 ? texts.tflopS(Number((flops / 1e12).toPrecision(3))) : texts.gflopS(Number((flops / 1e9).toPrecision(3)))

const intensity = (value: number) => texts.flopB(Number(value.toPrecision(3)))

const nameOf = (row: RooflineRow) => `${row.operator} ${row.shapes} ${row.data_type}`

/** Share of the roofline above which a row is in doubt; a little more is the error of the data sheet's rates. */
const ABOVE = 1.2

/** Compute roof of each format: reached rate over its share, for rows limited by compute. */
export function peaks(rows: readonly RooflineRow[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const row of rows) {
    if (row.bound !== 'compute' || row.share_of_roofline <= 0) continue
    found.set(row.data_type, Math.max(found.get(row.data_type) ?? 0, row.flop_per_s / row.share_of_roofline))
  }
  return found
}

/** Lines of the chart: memory bandwidth up to the highest roof, and one roof per format. */
export function roofs(answer: Pick<Answer, 'bytes_per_s' | 'rows'>): readonly Roof[] {
  const rows = answer.rows.filter((row) => row.flop > 0 && row.bytes > 0)
  if (rows.length === 0) return []
  const all = rows.map((row) => row.flop / row.bytes)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const tops = [...peaks(rows)]
  const top = Math.max(...tops.map(([, peak]) => peak), least * answer.bytes_per_s)
  const ridge = tops.length > 0 ? top / answer.bytes_per_s : most
  const memory = {
    label: texts.memory2(bandwidth(answer.bytes_per_s)),
    from: [least, least * answer.bytes_per_s],
    to: [ridge, ridge * answer.bytes_per_s],
  } as const
  return [
    memory,
    ...tops.map(
      ([format, peak]): Roof => ({
        label: `${format} ${rate(peak)}`,
        from: [peak / answer.bytes_per_s, peak],
        to: [Math.max(most, peak / answer.bytes_per_s), peak],
      }),
    ),
  ]
}

export function RooflineTab({ profile }: TabProps) {
  const { roofline } = profile
  const [picked, setPicked] = useState<string | null>(null)
  if (!roofline || roofline.rows.length === 0) return <Empty title={texts.noShapesWereRecorded} text={texts.recordTheTraceWithRecord} />
  const rows = roofline.rows
  const drawn = rows.filter((row) => row.flop > 0 && row.bytes > 0)
  const longest = Math.max(...rows.map((row) => row.mean_ns))
  return (
    <div class="traces-grid">
      <ChartFrame
        title={texts.roofline}
        about={texts.ofTheTimeOfArithmetic(roofline.accelerator, percent(roofline.covered_share))}
        name="roofline"
        class="traces-wide"
        rows={() => ({
          columns: [
            'operator',
            'shapes',
            'data_type',
            'calls',
            'mean_ns',
            'flop',
            'bytes',
            'flop_per_s',
            'bytes_per_s',
            'bound',
            'share_of_roofline',
          ],
          rows: rows.map((row) => [
            row.operator,
            row.shapes,
            row.data_type,
            row.calls,
            row.mean_ns,
            row.flop,
            row.bytes,
            row.flop_per_s,
            row.bytes_per_s,
            row.bound,
            row.share_of_roofline,
          ]),
        })}
      >
        {(width) => (
          <Scatter
            width={width}
            title={texts.operatorsAgainstTheRoofline}
            x={{ title: texts.arithmeticIntensityFlopPerByte, format: (value) => String(Number(value.toPrecision(2))), log: true }}
            y={{ title: texts.reached2, format: rate, log: true }}
            apart={40}
            picked={picked}
            onPick={setPicked}
            roofs={roofs(roofline)}
            points={drawn.map((row) => ({
              id: nameOf(row),
              x: row.flop / row.bytes,
              y: row.flop_per_s,
              label: row.operator.replace(/^aten::/, ''),
              weight: row.mean_ns,
              mark: row.mean_ns > longest / 20 ? ('front' as const) : ('plain' as const),
              shape: row.bound === 'memory' ? ('square' as const) : ('circle' as const),
              colour: row.bound === 'memory' ? 'var(--class-tensor)' : 'var(--class-backward)',
              tip: {
                title: nameOf(row),
                lines: [
                  { name: 'reached', value: rate(row.flop_per_s) },
                  { name: 'intensity', value: intensity(row.flop / row.bytes) },
                  { name: 'of the roofline', value: `${percent(row.share_of_roofline)}, ${row.bound} bound` },
                  { name: 'a step', value: span(row.mean_ns) },
                ],
              },
            }))}
          />
        )}
      </ChartFrame>
      <section class="panel traces-panel traces-wide" aria-label={texts.operators}>
        <h2>
          {texts.operators}{' '}
          <span class="muted">
            {texts.reaching} {percent(roofline.target_share)} {texts.ofTheRoofline2}
            {roofline.compute_target_share < roofline.target_share && texts.inCompute(percent(roofline.compute_target_share))}{' '}
            {texts.wouldSave} {span(roofline.saving_ns)} {texts.perRankAndStep}
          </span>
        </h2>
        <Table<RooflineRow>
          caption={texts.operatorsAgainstTheRoofline}
          rows={rows}
          identify={nameOf}
          first={30}
          onChoose={(row) => setPicked(nameOf(row))}
          sorting={{ key: 'saving', down: true }}
          columns={[
            { key: 'operator', title: texts.operator, value: (row) => row.operator, wrap: true },
            { key: 'shapes', title: texts.shapes, value: (row) => row.shapes, wrap: true },
            { key: 'type', title: texts.format, value: (row) => row.data_type },
            { key: 'mean', title: texts.perStep2, value: (row) => row.mean_ns, cell: (row) => span(row.mean_ns), align: 'right' },
            { key: 'calls', title: texts.calls, value: (row) => row.calls, cell: (row) => count(row.calls), align: 'right' },
            { key: 'reached', title: texts.reached, value: (row) => row.flop_per_s, cell: (row) => rate(row.flop_per_s), align: 'right' },
            {
              key: 'bytes',
              title: texts.memory,
              value: (row) => row.bytes_per_s,
              cell: (row) => bandwidth(row.bytes_per_s),
              align: 'right',
            },
            { key: 'bound', title: texts.bound, value: (row) => row.bound },
            {
              key: 'share',
              title: texts.ofTheRoofline,
              value: (row) => row.share_of_roofline,
              cell: (row) =>
                row.share_of_roofline > ABOVE ? (
                  <span class="muted" title={texts.aboveTheRoofline}>
                    {percent(row.share_of_roofline)} ?
                  </span>
                ) : (
                  percent(row.share_of_roofline)
                ),
              align: 'right',
              about: texts.aboveTheRoofline,
            },
            {
              key: 'saving',
              title: texts.saving,
              value: (row) => row.saving_ns,
              cell: (row) => (row.saving_ns > 0 ? seconds(row.saving_ns / 1e9) : '–'),
              align: 'right',
              about: `${texts.perRankAndStepAt}. ${texts.noSavingOfShortKernels}`,
            },
          ]}
        />
      </section>
    </div>
  )
}
