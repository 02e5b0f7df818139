// Files of a link that the server does not have: which ones, and a button to add them. A file counts only with the same content.
import { useEffect } from 'preact/hooks'
import { report } from '../api/report'
import { findMissing, missing, withoutHandle } from '../api/uploads'
import { location } from '../state/location'
import { FileButton } from './file-button'
import * as texts from '../words/ui'
import { toast } from '../state/toasts'

export function MissingFiles() {
  const { parameters } = location.value
  useEffect(() => {
    if (!report) findMissing(parameters).catch(() => undefined)
  }, [parameters])
  if (missing.value.length === 0) return null
  const wanted = missing.value
  const check = (path: string) => {
    const name = wanted.map(withoutHandle).find((one) => one === withoutHandle(path))
    if (!wanted.includes(path)) toast(texts.otherContent(withoutHandle(path)), { kind: 'refused', hint: name && texts.theNameIsTheSame })
  }
  return (
    <div class="server-gone missing-files" role="alert">
      <p>
        {texts.thisLinkRefersTo} <b>{wanted.map(withoutHandle).join(', ')}</b>
        {texts.whichIsNotPartOfIt}
      </p>
      <FileButton title={texts.addTheFile} onPath={check} />
    </div>
  )
}
