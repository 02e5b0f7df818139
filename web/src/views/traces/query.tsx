// SQL over the columns of the traces: an editor, examples, the available tables, and the rows of the answer.
// Responsible for: one SELECT at a time, run by Ctrl+Enter. Queries are read-only.
import type { QueryAnswer } from '../../api/schema/query'
import type { QuerySchemaAnswer } from '../../api/schema/query_schema'
import { useState } from 'preact/hooks'
import { useAnswer } from '../../api/live'
import { change, own } from '../../state/location'
import { download } from '../../ui/clipboard'
import { Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import { csvText } from '../../charts/export'
import { hasPlaces, showRow } from './place'
import type { TabProps } from '.'
import * as texts from '../../words/traces'

/** Traces of CPUs have no activities of a device: their calls are those of the host. */
const EXAMPLES_OF_HOSTS: readonly (readonly [string, string])[] = [
  [
    texts.mostExpensiveOperators,
    "SELECT name, count(*) AS calls, sum(duration_ns) / 1e6 AS inclusive_ms\nFROM host WHERE kind = 'operator' GROUP BY name ORDER BY inclusive_ms DESC LIMIT 20",
  ],
  [
    texts.byRankAndKind,
    'SELECT rank, kind, count(*) AS n, sum(duration_ns) / 1e6 AS ms\nFROM host GROUP BY rank, kind ORDER BY rank, ms DESC',
  ],
  [
    texts.longestOperators,
    "SELECT rank, name, start_ns, duration_ns, thread\nFROM host WHERE kind = 'operator' ORDER BY duration_ns DESC LIMIT 50",
  ],
  ['Steps', 'SELECT * FROM steps LIMIT 50'],
]

const EXAMPLES: readonly (readonly [string, string])[] = [
  [
    texts.mostExpensiveKernels,
    'SELECT name, count(*) AS calls, sum(end_ns - start_ns) / 1e6 AS ms\nFROM gpu GROUP BY name ORDER BY ms DESC LIMIT 20',
  ],
  [
    texts.byRankAndKind,
    'SELECT rank, kind, count(*) AS n, sum(end_ns - start_ns) / 1e6 AS ms\nFROM gpu GROUP BY rank, kind ORDER BY rank, ms DESC',
  ],
  [texts.longestKernels, 'SELECT rank, name, start_ns, duration_ns, stream\nFROM gpu ORDER BY duration_ns DESC LIMIT 50'],
  ['Steps', 'SELECT * FROM steps LIMIT 50'],
]

export function Query({ paths, profile }: TabProps) {
  const { sql } = own('t')
  const examples = profile.from_host ? EXAMPLES_OF_HOSTS : EXAMPLES
  const [text, setText] = useState(sql ?? examples[0]![1])
  const schema = useAnswer<QuerySchemaAnswer>('query', { schema: true })
  const { answer, problems, loading, stale } = useAnswer<QueryAnswer>('query', sql ? { sql, paths, limit: 1000 } : null)
  const run = () => change({ 't.sql': text })
  return (
    <div class="traces-query">
      <div class="traces-grid-query">
        <section class="panel traces-panel" aria-label={texts.question}>
          <label for="traces-sql" class="muted">
            {texts.oneSelectCtrlEnterRuns}
          </label>
          <textarea
            id="traces-sql"
            spellcheck={false}
            rows={7}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                event.preventDefault()
                run()
              }
            }}
          />
          <div class="traces-choices">
            <button type="button" class="button primary" onClick={run} disabled={text.trim() === ''}>
              {texts.run}
            </button>
            {examples.map(([title, example]) => (
              <button key={title} type="button" class="button" onClick={() => (setText(example), change({ 't.sql': example }))}>
                {title}
              </button>
            ))}
            {answer && (
              <button
                type="button"
                class="button quiet"
                onClick={() => download('query.csv', csvText({ columns: answer.columns, rows: answer.rows }), 'text/csv')}
              >
                {texts.saveAsCsv}
              </button>
            )}
          </div>
        </section>
        <section class="panel traces-panel traces-schema" aria-label={texts.tables} tabIndex={0}>
          <h2>{texts.tables}</h2>
          {schema.answer?.tables.map((table) => (
            <details key={table.name}>
              <summary>
                <code>{table.name}</code> <span class="muted">{table.about}</span>
              </summary>
              <dl>
                {table.columns.map((column) => (
                  <div key={column.name}>
                    <dt>
                      <code>{column.name}</code> <span class="muted">{column.type.toLowerCase()}</span>
                    </dt>
                    <dd>{column.about}</dd>
                  </div>
                ))}
              </dl>
            </details>
          ))}
        </section>
      </div>
      {problems.length > 0 && <Problems problems={problems} />}
      {problems.length > 0 && answer && <p class="muted small">{texts.theRowsBelowBelongTo}</p>}
      {loading && !answer && <Loading heights={[240]} />}
      {answer && sql && (
        <section class={`panel traces-panel ${loading || stale ? 'stale' : ''}`} aria-label={texts.answer}>
          <h2>
            {answer.rows.length.toLocaleString('en')} {answer.rows.length === 1 ? texts.row : texts.rows2}
            {problems.length > 0 && ' '}
            {problems.length > 0 && texts.ofThePreviousQuery}
            {answer.more && <span class="muted"> {texts.andMoreAddALimit}</span>}
            {answer.rows.length === 0 ? null : hasPlaces(answer.columns) ? (
              <span class="muted">{texts.aClickShowsARow}</span>
            ) : (
              <span class="muted">{texts.withRankAndStartNs}</span>
            )}
          </h2>
          <Table<readonly (string | number | null)[]>
            caption={texts.rows}
            rows={answer.rows}
            identify={(_, at) => at}
            maxHeight="60vh"
            {...(hasPlaces(answer.columns) ? { onChoose: (row) => void showRow(answer.columns, row, paths) } : {})}
            columns={answer.columns.map((name, at) => ({
              key: `${at}`,
              title: name,
              value: (row) => row[at],
              align: answer.rows.some((row) => typeof row[at] === 'number') ? 'right' : undefined,
              wrap: true,
            }))}
          />
        </section>
      )}
    </div>
  )
}
