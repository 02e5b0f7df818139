// The layout of a job as the program determined it, with the evidence of each dimension, reasons for doubt, and the process groups.
import type { Evidence, JobLayout } from '../../api/schema/profile'
import { count } from '../../charts/format'
import { change } from '../../state/location'
import { type Column, Table } from '../../ui/table'
import * as texts from '../../words/traces'

const EVIDENCE: Readonly<Record<Evidence, string>> = {
  sizes: texts.setByTheUserOr,
  description: texts.describedByTheFramework,
  tiling: texts.orderOfTheSizes,
  operations: texts.operationsOfTheGroups,
  nothing: texts.noEvidence,
}

/** Sizes for a line: `TP2 DP4 PP8`. */
export const sizesText = ({ sizes }: JobLayout): string =>
  sizes.map(({ dimension, name, ranks }) => (dimension === 'other' ? texts.unnamed(ranks) : `${name.toUpperCase()}${ranks}`)).join(' ')

/** Sizes in the form of a setting: `tp=2,dp=4`. */
const settingText = ({ sizes }: JobLayout): string => sizes.map(({ name, ranks }) => `${name}=${ranks}`).join(',')

export function LayoutFound({ layout, isOwn }: { layout: JobLayout; isOwn: boolean }) {
  const columns: Column<JobLayout['groups'][number]>[] = [
    { key: 'label', title: texts.groups, value: (row) => row.label, cell: (row) => row.label.replaceAll('_', ' ') },
    { key: 'groups', title: texts.number, value: (row) => row.groups, align: 'right', cell: (row) => count(row.groups) },
    { key: 'ranks', title: texts.ranksEach, value: (row) => row.ranks, align: 'right', cell: (row) => count(row.ranks) },
    {
      key: 'stride',
      title: texts.stride,
      value: (row) => row.stride,
      align: 'right',
      cell: (row) => (row.stride === null ? '–' : count(row.stride)),
    },
    {
      key: 'evidence',
      title: texts.evidence,
      value: (row) => row.evidence,
      cell: (row) => (row.inferred ? texts.inferredFromTheEnds : EVIDENCE[row.evidence]),
    },
  ]
  return (
    <div class="layout-found">
      {!isOwn && (
        <p>
          <strong>{layout.sizes.length > 0 ? sizesText(layout) : texts.notDetermined}</strong>{' '}
          <span class="muted">{layout.sizes.length > 0 && texts.fromTheProcessGroups}</span>{' '}
          {layout.complete && (
            <button type="button" class="text-link" onClick={() => change({ 't.layout': settingText(layout) })}>
              {texts.changeIt}
            </button>
          )}
        </p>
      )}
      {layout.doubts.length > 0 && (
        <ul class="muted">
          {layout.doubts.map((doubt) => (
            <li key={doubt}>{doubt}</li>
          ))}
        </ul>
      )}
      {layout.groups.length > 0 && (
        <details>
          <summary>{texts.processGroups(layout.groups.reduce((sum, row) => sum + row.groups, 0).toLocaleString('en'))}</summary>
          <Table
            caption={texts.processGroupsOfTheLayout}
            columns={columns}
            rows={layout.groups}
            identify={(row) => `${row.label} ${row.ranks} ${row.stride} ${row.evidence} ${row.inferred}`}
            maxHeight="240px"
          />
        </details>
      )}
    </div>
  )
}
