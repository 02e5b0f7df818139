// A button that sends one file of the user to the program and hands on its handle; a refusal is shown as a message.
import { useRef, useState } from 'preact/hooks'
import { Refusal } from '../api/ask'
import { upload } from '../api/uploads'
import { toast } from '../state/toasts'
import * as texts from '../words/ui'

interface Props {
  readonly title: string
  /** Endings and types that the browser offers first. */
  readonly accept?: string
  readonly onPath: (path: string) => void
}

export function FileButton({ title, accept, onPath }: Props) {
  const files = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const send = async (file: File | undefined) => {
    if (!file) return
    setBusy(true)
    try {
      onPath((await upload(file)).path)
    } catch (error) {
      toast(error instanceof Refusal ? (error.problems[0]?.message ?? '') : String(error), { kind: 'refused' })
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <button type="button" class="button" disabled={busy} onClick={() => files.current?.click()}>
        {busy ? texts.readingAFile : title}
      </button>
      <input ref={files} type="file" hidden accept={accept} onChange={(event) => void send(event.currentTarget.files?.[0])} />
    </>
  )
}
