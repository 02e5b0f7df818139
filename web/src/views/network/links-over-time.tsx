// Load of links over a simulated step: the mean of each layer and its busiest links as a heat map. Responsible for: the choice of links,
// and the file with all of them. The program sets the intervals.
import { ChartFrame } from '../../charts/frame'
import { percent, seconds } from '../../charts/format'
import { HeatTable } from '../../charts/heatmap/heat-table'
import type { MenuItem } from '../../ui/menu'
import { Segments } from '../../ui/fields'
import type { SimulateAnswer } from './answer'
import { layerName } from './names'
import { parameter, setParameter } from './state'
import * as texts from '../../words/network'

type OverTime = SimulateAnswer['over_time']
type Row = OverTime['rows'][number]

/** Number of links per layer shown in addition to the mean: the busiest, or all in the answer. */
const SHOWN = { few: 1, all: Number.POSITIVE_INFINITY } as const

/** Rows with a load: of each layer the mean, then its busiest links. Pure. */
export function rowsShown(rows: readonly Row[], most: number): readonly Row[] {
  const counts = new Map<string, number>()
  return rows.filter((row) => {
    if (row.busy.every((busy) => busy === 0)) return false
    if (row.link === null) return true
    const before = counts.get(row.layer) ?? 0
    counts.set(row.layer, before + 1)
    return before < most
  })
}

export function LinksOverTime({ overTime, menu }: { overTime: OverTime; menu: readonly MenuItem[] }) {
  const shown = parameter('links') === 'all' ? 'all' : 'few'
  const rows = rowsShown(overTime.rows, SHOWN[shown])
  const intervals = overTime.rows[0]?.busy.length ?? 0
  if (rows.length === 0) return null
  const name = (row: Row) => (row.link === null ? texts.meanOfLayer(layerName(row.layer)) : row.link)
  const start = (at: number) => overTime.interval * at
  return (
    <ChartFrame
      title={texts.linksOverTheStep}
      about={texts.shareOfCapacityInIntervals(seconds(overTime.interval))}
      name="links-over-time"
      menu={menu}
      rows={() => ({
        columns: ['layer', 'link', 'from_s', 'to_s', 'busy'],
        rows: overTime.rows.flatMap((row) => row.busy.map((busy, at) => [row.layer, row.link ?? '', start(at), start(at + 1), busy])),
      })}
      tools={
        <Segments
          label={texts.linksOfEachLayer}
          value={shown}
          options={[
            ['few', texts.busiestLink],
            ['all', texts.allListedLinks],
          ]}
          onChange={(value) => setParameter('links', value === 'all' ? 'all' : undefined)}
        />
      }
    >
      {(width) => (
        <HeatTable
          width={width}
          title={texts.linksOverTheStep}
          rows={rows.map(name)}
          columns={Array.from({ length: intervals }, (_, at) => seconds(start(at)))}
          values={rows.map((row) => row.busy)}
          most={1}
          format={percent}
          tip={(row, column, value) => ({
            title: rows[row] ? name(rows[row]) : '',
            lines: [
              { name: texts.layer, value: layerName(rows[row]?.layer ?? '') },
              { name: texts.interval, value: texts.fromTo(seconds(start(column)), seconds(start(column + 1))) },
              { name: texts.load, value: percent(value ?? 0) },
            ],
          })}
        />
      )}
    </ChartFrame>
  )
}
