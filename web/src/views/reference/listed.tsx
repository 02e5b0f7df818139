// A list with a text filter, and details of the selected row. Filter and selected row are stored in the URL.
import type { ComponentChildren } from 'preact'
import type { Problem } from '../../api/ask'
import { change, own } from '../../state/location'
import { Loading, Problems } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import * as texts from '../../words/reference'

interface Props<R> {
  readonly title: string
  readonly about: string
  readonly rows: readonly R[] | null
  readonly problems: readonly Problem[]
  readonly columns: readonly Column<R>[]
  readonly identify: (row: R) => string
  /** Details of the selected row; without them rows cannot be selected. */
  readonly details?: (row: R) => ComponentChildren
}

export function Listed<R>({ title, about, rows, problems, columns, identify, details }: Props<R>) {
  const { filter = '', at } = own('r')
  if (problems.length > 0) return <Problems problems={problems} />
  if (!rows) return <Loading heights={[36, 480]} />
  const chosen = details && at !== undefined ? rows.find((row) => identify(row) === at) : undefined
  return (
    <div class={`reference-listed${chosen ? ' with-details' : ''}`}>
      <section class="panel reference-panel" aria-label={title}>
        <header>
          <h2>
            {title}{' '}
            <span class="muted">
              {rows.length.toLocaleString('en')}; {about}
            </span>
          </h2>
          <input
            class="input"
            type="search"
            data-filter
            aria-label={texts.filter2(title.toLowerCase())}
            placeholder={texts.filter}
            value={filter}
            onInput={(event) => change({ 'r.filter': event.currentTarget.value }, 'replace')}
          />
        </header>
        <Table
          caption={texts.oneARow(title)}
          columns={columns}
          rows={rows}
          identify={identify}
          filter={filter}
          first={400}
          maxHeight="calc(100vh - 190px)"
          {...(details
            ? { chosen: at ?? null, onChoose: (row: R) => change({ 'r.at': identify(row) === at ? undefined : identify(row) }) }
            : {})}
        />
      </section>
      {chosen && details && (
        <section class="panel reference-panel reference-details" aria-label={texts.about(identify(chosen))}>
          <button type="button" class="button quiet icon" aria-label={texts.close} onClick={() => change({ 'r.at': undefined })}>
            ✕
          </button>
          {details(chosen)}
        </section>
      )}
    </div>
  )
}

/** A vertical list of facts. */
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="reference-facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === null || value === undefined || value === '' ? <span class="muted">{texts.unknown}</span> : value}</dd>
        </div>
      ))}
    </dl>
  )
}
