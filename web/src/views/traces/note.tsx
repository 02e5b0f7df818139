// A user note on a finding, stored in the URL (`t.note-ID`), so that links and reports contain it. Responsible for: showing and editing it.
import { useState } from 'preact/hooks'
import { report } from '../../api/report'
import { change, own } from '../../state/location'
import * as texts from '../../words/traces'

const MOST = 500

export function Note({ id }: { id: string }) {
  const text = own('t')[`note-${id}`] ?? ''
  const [edited, setEdited] = useState<string | null>(null)
  const save = (event: Event) => {
    event.preventDefault()
    change({ [`t.note-${id}`]: edited?.trim() || undefined })
    setEdited(null)
  }
  if (edited !== null)
    return (
      <form class="traces-note" onSubmit={save}>
        <textarea
          class="input"
          rows={2}
          maxLength={MOST}
          aria-label={texts.noteOnThisFinding}
          value={edited}
          ref={(field) => field?.focus()}
          onInput={(event) => setEdited(event.currentTarget.value)}
          onKeyDown={(event) => {
            event.stopPropagation()
            if (event.key === 'Escape') setEdited(null)
            else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save(event)
          }}
        />
        <button type="submit" class="button">
          {texts.save}
        </button>
        <button type="button" class="button quiet" onClick={() => setEdited(null)}>
          {texts.cancel}
        </button>
      </form>
    )
  return (
    <p class="traces-note">
      {text && (
        <span class="traces-note-text">
          <b>{texts.note}</b> {text}
        </span>
      )}
      {!report && (
        <button type="button" class="traces-link" onClick={() => setEdited(text)}>
          {text ? texts.editNote : texts.addANote}
        </button>
      )}
    </p>
  )
}
