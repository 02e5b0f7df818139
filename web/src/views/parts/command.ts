// Copies the equivalent command line: an item of a chart's menu.
import { copy } from '../../ui/clipboard'
import type { MenuItem } from '../../ui/menu'
import * as texts from '../../words/parts'

/** Empty while the command is unknown. */
export function commandItem(line: string | undefined): MenuItem[] {
  return line ? [{ title: texts.copyAsCommand, run: () => void copy(line, 'command') }] : []
}
