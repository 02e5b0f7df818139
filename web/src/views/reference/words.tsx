// Explanations of numbers, warnings, findings and conventions, and all keys of a run file.
import type { Key } from '../../api/schema/keys'
import type { Topic } from '../../api/schema/topics'
import { useAnswer } from '../../api/live'
import { Ticked } from '../../ui/states'
import type { Column } from '../../ui/table'
import { Listed } from './listed'
import * as texts from '../../words/reference'

export function Words() {
  const live = useAnswer<{ topics: readonly Topic[] }>('explain', {})
  const columns: Column<Topic>[] = [
    { key: 'title', title: texts.what, value: (row) => row.title, wrap: true },
    { key: 'group', title: texts.kind, value: (row) => row.group },
    { key: 'id', title: texts.identifier, value: (row) => row.id, cell: (row) => <code>{row.id}</code> },
  ]
  return (
    <Listed
      title={texts.words}
      about={texts.warningsFindingsConventionsEnterExplains}
      rows={live.answer?.topics ?? null}
      problems={live.problems}
      columns={columns}
      identify={(row) => row.id}
      details={(row) => (
        <>
          <h2>{row.title}</h2>
          <p class="muted">
            {row.group} <code>{row.id}</code>
          </p>
          {row.text.split('\n\n').map((paragraph) =>
            paragraph.startsWith('    ') ? (
              <pre key={paragraph} tabIndex={0}>
                {paragraph.replace(/^ {4}/gm, '')}
              </pre>
            ) : (
              <p key={paragraph}>
                <Ticked text={paragraph} />
              </p>
            ),
          )}
        </>
      )}
    />
  )
}

export function Keys() {
  const live = useAnswer<{ keys: readonly Key[] }>('keys', {})
  const columns: Column<Key>[] = [
    {
      key: 'key',
      title: texts.key,
      value: (row) => `${row.section}.${row.name}`,
      cell: (row) => (
        <code>
          {row.section}.{row.name}
        </code>
      ),
    },
    { key: 'doc', title: texts.meaning, value: (row) => row.doc.trim(), cell: (row) => <Ticked text={row.doc.trim()} />, wrap: true },
    { key: 'kind', title: texts.values, value: (row) => row.kind, wrap: true },
    { key: 'default', title: texts.defaultText, value: (row) => row.default, wrap: true },
  ]
  return (
    <Listed
      title={texts.keys}
      about={texts.ofARunFileEach}
      rows={live.answer?.keys ?? null}
      problems={live.problems}
      columns={columns}
      identify={(row) => `${row.section}.${row.name}`}
    />
  )
}
