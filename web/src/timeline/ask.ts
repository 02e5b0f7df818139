// Answers in columns: fetched as text, because they are large and read once.
// Responsible for: the newest question's answer, and the old one until it arrives. Keeps only a few answers.
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Arguments, type Problem, Refusal, askText, identity } from '../api/ask'
import { unuse, use } from '../api/used'
import type { RawColumns } from './data'

export interface Asked {
  readonly columns: RawColumns | null
  readonly problems: readonly Problem[]
  readonly loading: boolean
  readonly commandLine: string
}

const KEPT = 4
const kept = new Map<string, { columns: RawColumns; commandLine: string }>()

/** Fetches the columns of a command whenever the question changes; `null` asks nothing. */
export function useColumns(command: string, values: Arguments | null, format = 'columns'): Asked {
  const [state, setState] = useState<Asked>({ columns: null, problems: [], loading: values !== null, commandLine: '' })
  const key = values ? identity(command, values) : ''
  const place = useRef({}).current
  const shows = (columns: RawColumns, commandLine: string) =>
    use(place, { command: `${command}:${format}`, arguments: values ?? {}, outcome: 'yes', command_line: commandLine, answer: columns })
  useEffect(() => () => unuse(place), [])
  useEffect(() => {
    if (!values) {
      unuse(place)
      setState({ columns: null, problems: [], loading: false, commandLine: '' })
      return
    }
    const known = kept.get(key)
    if (known) {
      shows(known.columns, known.commandLine)
      setState({ ...known, problems: [], loading: false })
      return
    }
    const abort = new AbortController()
    setState((old) => ({ ...old, loading: true }))
    askText(command, values, format, { signal: abort.signal }).then(
      (answer) => {
        const text: unknown = answer.answer
        const columns = (typeof text === 'string' ? JSON.parse(text) : text) as RawColumns
        kept.set(key, { columns, commandLine: answer.commandLine })
        if (!abort.signal.aborted) shows(columns, answer.commandLine)
        for (const old of kept.keys()) {
          if (kept.size <= KEPT) break
          kept.delete(old)
        }
        setState({ columns, problems: [], loading: false, commandLine: answer.commandLine })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        const problems = error instanceof Refusal ? error.problems : [{ message: String(error) }]
        setState((old) => ({ ...old, problems, loading: false }))
      },
    )
    return () => abort.abort()
  }, [key])
  return state
}
