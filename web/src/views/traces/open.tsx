// Opening traces: paths that the server was given, a path that is typed, files that are dropped.
// Responsible for: the `t.path` of the address. Refuses to read a file itself.
import { useRef, useState } from 'preact/hooks'
import type { Start } from '../../api/start'
import { change } from '../../state/location'
import { copy } from '../../ui/clipboard'
import { openFiles } from '../../ui/drop'
import { Empty } from '../../ui/states'

/** Paths that do not begin at the root are meant below the folder that the server was given. */
function open(text: string, folder?: string | null): void {
  const whole = (path: string) => (folder && !/^(\/|upload:|[A-Za-z]:)/.test(path) ? `${folder.replace(/\/+$/, '')}/${path}` : path)
  const paths = text.split(/\n/).map((line) => line.trim()).filter(Boolean).map(whole)
  if (paths.length > 0) change({ 't.path': paths.join('\n'), 't.step': undefined, 't.rank': undefined })
}

export function Open({ given }: { given: Start | null }) {
  const files = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const traces = given?.traces ?? []
  return (
    <Empty
      title="Open traces"
      text="Traces of PyTorch’s profiler, Nsight Systems, pipeline timers: files, folders or archives. Drop them anywhere on this page; nothing leaves this machine."
    >
      {traces.map((path) => (
        <button key={path} type="button" class="button primary" onClick={() => open(path)}>
          {path}
        </button>
      ))}
      <button type="button" class={traces.length > 0 ? 'button' : 'button primary'} onClick={() => files.current?.click()}>
        Choose files…
      </button>
      <input ref={files} type="file" multiple hidden onChange={(event) => void openFiles([...(event.currentTarget.files ?? [])])} />
      <form
        class="traces-path"
        onSubmit={(event) => {
          event.preventDefault()
          open(text, given?.folder_of_traces ?? traces[0])
        }}
      >
        <input class="input" aria-label="Path of traces" placeholder="or a path below the folder that the server was given" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <button type="submit" class="button">
          Open
        </button>
      </form>
    </Empty>
  )
}

/** Which traces are open. */
export function Opened({ paths, commandLine }: { paths: readonly string[]; commandLine: string }) {
  const name = paths.length === 1 ? paths[0]! : `${paths.length} files: ${paths[0]} …`
  return (
    <div class="traces-opened">
      <strong title={paths.join('\n')}>{name}</strong>
      <button type="button" class="button quiet" onClick={() => change({ 't.path': undefined, 't.files': undefined, 't.tab': undefined })}>
        Open others
      </button>
      {commandLine && (
        <button type="button" class="button quiet" title={commandLine} onClick={() => void copy(commandLine, 'the command')}>
          Copy as command
        </button>
      )}
    </div>
  )
}
