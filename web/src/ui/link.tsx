// Links: copying one, the page's state alone, and opening either in a page that runs, also one of another server.
import { useRef, useState } from 'preact/hooks'
import { lost } from '../api/ask'
import { playground } from '../api/playground/marker'
import { report } from '../api/report'
import { location, open } from '../state/location'
import { stateIn } from '../state/fragment'
import { copy } from './clipboard'
import { Dialog } from './dialog'

/** The state as text: the fragment of the address. */
const state = () => window.location.hash || '#/'

/** Files that were dropped on the page belong to the server that has them. */
const hasUploads = () => Object.values(location.value.parameters).some((value) => value.includes('upload:'))

export function LinkDialog(props: { close: () => void }) {
  const [problem, setProblem] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const follow = (event: Event) => {
    event.preventDefault()
    const found = stateIn(field.current?.value ?? '')
    if (found === null) return setProblem('Paste a link of this page, or a state that begins with #/')
    props.close()
    open(found)
  }
  return (
    <Dialog title="Link" close={props.close}>
      <div class="link-dialog">
        {!report && (
          <button type="button" class="button primary" onClick={() => void copy(window.location.href, 'Link')}>
            Copy link
          </button>
        )}
        <button type="button" class="button" onClick={() => void copy(state(), 'State')}>
          Copy state
        </button>
        {playground ? (
          <p class="muted">A link opens this state on every machine. A state works in every page of Railwright.</p>
        ) : (
          <p class="muted">
            A link works on this machine while the server runs, and after a restart with the same <code>--port</code> and{' '}
            <code>--token-file</code>. A state works in every page.
          </p>
        )}
        {hasUploads() && (
          <p class="warn">
            Dropped files are not part of a link: {playground ? 'they stay in this tab.' : 'the server deletes them when it ends.'}
          </p>
        )}
        {!report && (
          <form onSubmit={follow}>
            <label>
              Open a link or state
              <input
                ref={field}
                class="input"
                spellcheck={false}
                autocomplete="off"
                placeholder="#/calculator?model=…"
                aria-invalid={problem !== ''}
                onInput={() => setProblem('')}
              />
            </label>
            <button type="submit" class="button">
              Open
            </button>
          </form>
        )}
        {problem && (
          <p class="tone-bad" role="alert">
            {problem}
          </p>
        )}
      </div>
    </Dialog>
  )
}

/** The server is gone: the state can be taken to the next one. */
export function Lost() {
  if (!lost.value) return null
  return (
    <div class="server-gone" role="alert">
      <p>
        The program does not answer. Start <code>railwright serve</code> again. With the same <code>--port</code> and{' '}
        <code>--token-file</code> this page continues; otherwise copy its state and open it in the new page under <b>Link</b>.
      </p>
      <button type="button" class="button" onClick={() => void copy(state(), 'State')}>
        Copy state
      </button>
      <button type="button" class="button" onClick={() => window.location.reload()}>
        Try again
      </button>
    </div>
  )
}
