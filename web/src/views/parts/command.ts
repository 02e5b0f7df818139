// The question behind an answer as a line to paste into a terminal: an item of a chart's menu.
import { copy } from '../../ui/clipboard'
import type { MenuItem } from '../../ui/menu'
import * as texts from '../../words/parts'

/** Nothing while the command is unknown. */
export function commandItem(line: string | undefined): MenuItem[] {
  return line ? [{ title: texts.copyAsCommand, run: () => void copy(line, 'command') }] : []
}
