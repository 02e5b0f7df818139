// The question behind an answer as a line to paste into a terminal: an item of a chart's menu.
import { copy } from '../../ui/clipboard'
import type { MenuItem } from '../../ui/menu'

/** Nothing while the command is unknown. */
export function commandItem(line: string | undefined): MenuItem[] {
  return line ? [{ title: 'Copy as command', run: () => void copy(line, 'command') }] : []
}
