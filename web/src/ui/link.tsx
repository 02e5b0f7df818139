// Links: copying a link, the state alone, and opening either in a running web UI, also of another server.
import { useEffect, useRef, useState } from 'preact/hooks'
import { lost } from '../api/ask'
import { playground } from '../api/playground/marker'
import { report } from '../api/report'
import { handlesIn } from '../api/uploads'
import { location, open, settle } from '../state/location'
import { stateIn } from '../state/fragment'
import { copy } from './clipboard'
import { Dialog } from './dialog'
import * as texts from '../words/ui'

/** State as text: the fragment of the URL. */
function state(): string {
  settle()
  return window.location.hash || '#/'
}

function link(): string {
  settle()
  return window.location.href
}

/** Uploaded files belong to their server: elsewhere a link finds only the same content. */
const hasUploads = () => handlesIn(location.value.parameters).length > 0

export function LinkDialog(props: { close: () => void }) {
  const [problem, setProblem] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const follow = (event: Event) => {
    event.preventDefault()
    const found = stateIn(field.current?.value ?? '')
    if (found === null) return setProblem(texts.pasteALinkOfThis)
    props.close()
    open(found)
  }
  return (
    <Dialog title={texts.link} close={props.close}>
      <div class="link-dialog">
        {!report && (
          <button type="button" class="button primary" onClick={() => void copy(link(), 'Link')}>
            {texts.copyLink}
          </button>
        )}
        <button type="button" class="button" onClick={() => void copy(state(), 'State')}>
          {texts.copyState}
        </button>
        {playground ? (
          <p class="muted">{texts.aLinkOpensThisState}</p>
        ) : (
          <p class="muted">
            {texts.aLinkWorksOnThis} <code>{texts.port}</code> {texts.and} <code>{texts.tokenFile}</code>
            {texts.aStateWorksInEvery}
          </p>
        )}
        {hasUploads() && (
          <p class="warn">
            {texts.droppedFilesAreNotPart} {playground ? texts.theyStayInThisTab : texts.theServerDeletesThemWhen}
          </p>
        )}
        {!report && (
          <form onSubmit={follow}>
            <label>
              {texts.openALinkOrState}
              <input
                ref={field}
                class="input"
                spellcheck={false}
                autocomplete="off"
                placeholder={texts.calculatorModel}
                aria-invalid={problem !== ''}
                onInput={() => setProblem('')}
              />
            </label>
            <button type="submit" class="button">
              {texts.open}
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

/** Milliseconds between the attempts to reach a server that has stopped. */
const RETRY_MS = 2000

/** True if a server answers at this address again, with the same token; the state is in the address, so that a reload continues. */
const isBack = () =>
  fetch(window.location.pathname, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Message that the server has stopped: the state can be copied to the next one. The page continues when the server is back. */
export function Lost() {
  useEffect(() => {
    if (!lost.value) return
    const timer = setInterval(() => void isBack().then((back) => back && window.location.reload()), RETRY_MS)
    return () => clearInterval(timer)
  }, [lost.value])
  if (!lost.value) return null
  return (
    <div class="server-gone" role="alert">
      <p>
        {texts.theProgramDoesNotAnswer} <code>{texts.railwrightServe}</code> {texts.againWithTheSame} <code>{texts.port}</code> {texts.and}{' '}
        <code>{texts.tokenFile}</code> {texts.thisPageContinuesOtherwiseCopy} <b>{texts.link}</b>.
      </p>
      <button type="button" class="button" onClick={() => void copy(state(), 'State')}>
        {texts.copyState}
      </button>
      <button type="button" class="button" onClick={() => window.location.reload()}>
        {texts.tryAgain}
      </button>
    </div>
  )
}
