// Export of the run as a launch file of a framework: the files, and settings that the framework cannot express.
import type { ExportAnswer } from '../../api/schema/export'
import { useState } from 'preact/hooks'
import { type Arguments, withoutKeys } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { copy, download } from '../../ui/clipboard'
import { Dialog } from '../../ui/dialog'
import { Segments } from '../../ui/fields'
import { Problems, Ticked } from '../../ui/states'
import * as texts from '../../words/calculator'

const FRAMEWORKS = [
  ['megatron', 'Megatron'],
  ['torchtitan', 'TorchTitan'],
  ['deepspeed', 'DeepSpeed'],
  ['nanotron', 'Nanotron'],
] as const
/** Settings that are not part of the run itself. */
const LEFT_OUT = ['price-per-device-hour', 'electricity-price', 'power-share']

export function ExportDialog(props: { arguments: Arguments; close: () => void }) {
  const [to, setTo] = useState<string>('megatron')
  const run = withoutKeys(props.arguments, LEFT_OUT)
  const live = useAnswer<ExportAnswer>('export', { ...run, to })
  return (
    <Dialog title={texts.exportAsALaunchFile} close={props.close} wide>
      <div class="export">
        <Segments label={texts.framework} value={to} options={FRAMEWORKS} onChange={setTo} />
        {live.problems.length > 0 && <Problems problems={live.problems} />}
        {live.answer && live.problems.length === 0 && (
          <>
            {live.answer.not_expressed.length > 0 && (
              <details open>
                <summary>
                  {live.answer.not_expressed.length === 1
                    ? texts.oneSettingDiffersThere
                    : texts.settingsDifferThere(live.answer.not_expressed.length)}
                </summary>
                <ul class="lost">
                  {live.answer.not_expressed.map((one) => (
                    <li key={one.key + one.message}>
                      <code>{one.key}</code> <Ticked text={one.message} />
                    </li>
                  ))}
                </ul>
              </details>
            )}
            {live.answer.files.map((file) => (
              <section key={file.name} aria-label={file.name}>
                <div class="file-head">
                  <strong>{file.name}</strong>
                  <span>
                    <button type="button" class="button" onClick={() => void copy(file.text, file.name)}>
                      {texts.copy}
                    </button>{' '}
                    <button type="button" class="button" onClick={() => download(file.name, file.text)}>
                      {texts.save}
                    </button>
                  </span>
                </div>
                <pre tabIndex={0}>{file.text}</pre>
              </section>
            ))}
          </>
        )}
      </div>
    </Dialog>
  )
}
