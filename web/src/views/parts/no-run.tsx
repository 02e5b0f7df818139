// Content of a view without a run: examples to start with.
import { change } from '../../state/location'
import { Empty } from '../../ui/states'
import * as texts from '../../words/parts'

const EXAMPLES: readonly { readonly title: string; readonly run: Record<string, string> }[] = [
  { title: texts.llama31405bOn, run: { model: 'llama-3.1-405b', cluster: 'dgx-h100', gpus: '1024', tokens: '15T' } },
  { title: texts.llama318bOn, run: { model: 'llama-3.1-8b', cluster: 'dgx-h100', gpus: '64', tokens: '2T' } },
  { title: texts.mixtral8x7bOn128H100, run: { model: 'mixtral-8x7b', cluster: 'dgx-h100', gpus: '128', tokens: '1T' } },
]

export function NoRun({ title, text, layouts = {} }: { title: string; text: string; layouts?: Record<string, Record<string, string>> }) {
  return (
    <Empty title={title} text={text}>
      {EXAMPLES.map((example) => (
        <button
          key={example.title}
          type="button"
          class="button"
          onClick={() => change({ ...example.run, ...layouts[example.run.model ?? ''] })}
        >
          {example.title}
        </button>
      ))}
    </Empty>
  )
}
