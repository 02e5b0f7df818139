// Field for one or several files of a tab: a typed path or a chosen file. The path is stored in the URL.
import { useRef, useState } from 'preact/hooks'
import { Refusal } from '../../api/ask'
import { upload } from '../../api/uploads'
import { toast } from '../../state/toasts'
import * as texts from '../../words/reference'

interface Props {
  readonly label: string
  readonly value: string | undefined
  readonly placeholder: string
  readonly button: string
  readonly several?: boolean
  readonly onChange: (paths: string | undefined) => void
}

export function FileField({ label, value, placeholder, button, several = false, onChange }: Props) {
  const files = useRef<HTMLInputElement>(null)
  const [text, setText] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const send = async (list: readonly File[]) => {
    if (list.length === 0) return
    setBusy(true)
    try {
      const sent: string[] = []
      for (const file of list) sent.push((await upload(file)).path)
      setText(null)
      onChange(sent.join(','))
    } catch (error) {
      toast(error instanceof Refusal ? (error.problems[0]?.message ?? '') : String(error), { kind: 'refused' })
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      class="reference-file"
      onSubmit={(event) => {
        event.preventDefault()
        onChange((text ?? value ?? '').trim() || undefined)
      }}
    >
      <label>
        {label}
        <input
          class="input"
          value={text ?? value ?? ''}
          placeholder={placeholder}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        {button}
      </button>
      <button type="button" class="button" disabled={busy} onClick={() => files.current?.click()}>
        {busy ? 'Reading' : several ? texts.chooseFiles : texts.chooseAFile}
      </button>
      <input ref={files} type="file" hidden multiple={several} onChange={(event) => void send([...(event.currentTarget.files ?? [])])} />
    </form>
  )
}
