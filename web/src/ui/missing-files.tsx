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
    if (wanted.includes(path)) return
    const name = withoutHandle(path)
    const isSameName = wanted.some((one) => withoutHandle(one) === name)
    toast(texts.otherContent(name), { kind: 'refused', hint: isSameName ? texts.theNameIsTheSame : undefined })
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
