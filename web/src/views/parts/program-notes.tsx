// Warnings and notes of the program about an answer, without those that the answer itself lists.
import { Ticked } from '../../ui/states'
import * as texts from '../../words/parts'

interface Props {
  readonly notes: readonly string[]
  /** Defaults of the answer that are shown with it. */
  readonly chosen?: readonly string[]
}

export function ProgramNotes({ notes, chosen = [] }: Props) {
  const of = notes.filter((note) => !note.startsWith('defaults:') && !chosen.includes(note))
  const shown = [...new Set([...of, ...(chosen.length > 0 ? [texts.defaults(chosen.join('; '))] : [])])]
  if (shown.length === 0) return null
  return (
    <ul class="remarks" aria-label={texts.notesOfTheProgram}>
      {shown.map((note) => (
        <li key={note}>
          <Ticked text={note} />
        </li>
      ))}
    </ul>
  )
}
