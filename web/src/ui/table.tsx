// A table: sorted by buttons in its header, filtered by text; arrow keys move between rows, Enter or a click selects one.
// Columns format their values. Long tables show their first rows and a button for more.
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import * as texts from '../words/ui'

export interface Column<R> {
  readonly key: string
  readonly title: ComponentChildren
  /** Value for sorting and filtering. */
  readonly value: (row: R) => string | number | null | undefined
  /** Content of a cell; by default the value. */
  readonly cell?: (row: R) => ComponentChildren
  readonly align?: 'right'
  readonly wrap?: boolean
  /** Tooltip of the header. */
  readonly about?: string
}

export interface Sorting {
  readonly key: string
  readonly down: boolean
}

interface Props<R> {
  readonly caption: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  readonly identify: (row: R, index: number) => string | number
  readonly sorting?: Sorting
  readonly onSort?: (sorting: Sorting) => void
  readonly filter?: string
  readonly chosen?: string | number | null
  readonly onChoose?: (row: R) => void
  readonly onPoint?: (row: R | null) => void
  /** Number of rows before the button for more. */
  readonly first?: number
  readonly maxHeight?: string
  readonly rowClass?: (row: R) => string
}

export function Table<R>(props: Props<R>) {
  const [ownSorting, setOwnSorting] = useState<Sorting | undefined>(undefined)
  const [limit, setLimit] = useState(props.first ?? 200)
  const sorting = ownSorting ?? props.sorting
  const rows = useMemo(
    () => sorted(filtered(props.rows, props.columns, props.filter), props.columns, sorting),
    [props.rows, props.columns, props.filter, sorting?.key, sorting?.down],
  )
  const sort = (column: Column<R>) => {
    const next = { key: column.key, down: sorting?.key === column.key ? !sorting.down : column.align === 'right' }
    setOwnSorting(next)
    props.onSort?.(next)
  }
  return (
    <div
      class="table-holder"
      style={props.maxHeight ? { maxHeight: props.maxHeight } : {}}
      tabIndex={props.onChoose ? undefined : 0}
      role="region"
      aria-label={props.caption}
    >
      <table class="table">
        <caption class="hidden-visually">{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th key={column.key} scope="col" class={column.align} title={column.about} aria-sort={ariaSort(column, sorting)}>
                <button type="button" onClick={() => sort(column)}>
                  {column.title}
                  <span class="arrow" aria-hidden="true">
                    {sorting?.key === column.key ? (sorting.down ? '↓' : '↑') : ''}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={props.onChoose ? walk : undefined}>
          {rows.slice(0, limit).map((row, index) => {
            const id = props.identify(row, index)
            const chosen = props.chosen !== undefined && props.chosen === id
            return (
              <tr
                key={id}
                data-row={props.onChoose ? id : undefined}
                class={[props.onChoose && 'clickable', chosen && 'chosen', props.rowClass?.(row)].filter(Boolean).join(' ')}
                tabIndex={props.onChoose ? (chosen || (index === 0 && props.chosen == null) ? 0 : -1) : undefined}
                aria-selected={props.onChoose ? chosen : undefined}
                onClick={() => props.onChoose?.(row)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && event.target === event.currentTarget) {
                    event.preventDefault()
                    props.onChoose?.(row)
                  }
                }}
                onMouseEnter={() => props.onPoint?.(row)}
                onMouseLeave={() => props.onPoint?.(null)}
                onFocus={() => props.onPoint?.(row)}
              >
                {props.columns.map((column) => (
                  <td key={column.key} class={`${column.align ?? ''} ${column.wrap ? 'wrap' : ''}`}>
                    {column.cell ? column.cell(row) : column.value(row)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p class="table-more">{texts.nothingMatches2}</p>}
      {rows.length > limit && (
        <p class="table-more">
          {limit.toLocaleString('en')} {texts.ofText} {rows.length.toLocaleString('en')} {texts.rows}{' '}
          <button type="button" class="button" onClick={() => setLimit(limit * 3)}>
            {texts.showMore}
          </button>
        </p>
      )}
    </div>
  )
}

function ariaSort<R>(column: Column<R>, sorting: Sorting | undefined) {
  if (sorting?.key !== column.key) return undefined
  return sorting.down ? ('descending' as const) : ('ascending' as const)
}

/** Rows that match every word of the filter in some column. */
export function filtered<R>(rows: readonly R[], columns: readonly Column<R>[], filter: string | undefined): readonly R[] {
  const words = (filter ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  return rows.filter((row) => {
    const text = columns
      .map((column) => String(column.value(row) ?? ''))
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Rows sorted by one column; rows without a value are last in both directions. */
export function sorted<R>(rows: readonly R[], columns: readonly Column<R>[], sorting: Sorting | undefined): readonly R[] {
  const column = columns.find((one) => one.key === sorting?.key)
  if (!sorting || !column) return rows
  const sign = sorting.down ? -1 : 1
  return [...rows].sort((a, b) => {
    const left = column.value(a)
    const right = column.value(b)
    if (left == null || right == null) return left == null ? (right == null ? 0 : 1) : -1
    if (typeof left === 'number' && typeof right === 'number') return sign * (left - right)
    return sign * String(left).localeCompare(String(right), 'en', { numeric: true })
  })
}

function walk(event: KeyboardEvent): void {
  const row = event.target
  if (!(row instanceof HTMLTableRowElement)) return
  const step = event.key === 'ArrowDown' ? 'nextElementSibling' : event.key === 'ArrowUp' ? 'previousElementSibling' : null
  const next = step && row[step]
  if (next instanceof HTMLElement) {
    event.preventDefault()
    next.focus()
  }
}
