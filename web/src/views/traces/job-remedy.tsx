// A way from a doubt to the field that settles it: what the traces lack of the job is specified in "This job is".
// By the identifier of the warning or finding; the program's text names what is missing.
import * as texts from '../../words/traces'

/** Doubts that sizes of the layout settle. */
const LAYOUT = ['exposed-other', 'groups-inferred-from-ends']
/** Doubts that the run of the job settles. */
const RUN = ['trace-unknown-mfu', 'flop-exceed-compute']

export function JobRemedy({ id }: { readonly id: string }) {
  const isLayout = LAYOUT.includes(id)
  if (!isLayout && !RUN.includes(id)) return null
  return (
    <button type="button" class="button" onClick={() => lead(isLayout ? '.settings input' : '.entries input, .entries button')}>
      {isLayout ? texts.specifyTheLayout : texts.specifyTheRun}
    </button>
  )
}

/** Opens the panel and goes to its field. */
function lead(field: string): void {
  const panel = document.querySelector<HTMLDetailsElement>('details.traces-job')
  if (!panel) return
  panel.open = true
  panel.scrollIntoView({ block: 'center' })
  panel.querySelector<HTMLElement>(field)?.focus()
}
