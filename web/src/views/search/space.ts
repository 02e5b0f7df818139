// Map over PP (rows) and TP (columns): the fastest layout of each pair, or the missing memory of the smallest one. Pure.
import { bytes, seconds } from '../../charts/format'
import type { Sign } from '../../charts/heatmap/heat-table'
import type { Cell } from './answer'
import * as texts from '../../words/search'

export interface Space {
  readonly tp: readonly number[]
  readonly pp: readonly number[]
  /** Cells by PP and TP; null if no number of replicas results in the number of devices. */
  readonly cells: readonly (readonly (Cell | null)[])[]
}

/** Outcomes by preference: with several clusters or numbers of GPUs, the best one represents a pair. */
const ORDER = ['fits', 'unsearched', 'out_of_memory', 'invalid'] as const

function better(one: Cell, other: Cell): Cell {
  const [a, b] = [one.outcome, other.outcome]
  if (a.is === 'fits' && b.is === 'fits') return b.tokens_per_second > a.tokens_per_second ? other : one
  if (a.is === 'out_of_memory' && b.is === 'out_of_memory') return b.lacks < a.lacks ? other : one
  return ORDER.indexOf(b.is) < ORDER.indexOf(a.is) ? other : one
}

export function spaceOfCells(cells: readonly Cell[]): Space {
  const sizes = (of: (cell: Cell) => number) => [...new Set(cells.map(of))].sort((a, b) => a - b)
  const [tp, pp] = [sizes((cell) => cell.tensor), sizes((cell) => cell.pipeline)]
  const at = (pipeline: number, tensor: number) =>
    cells
      .filter((cell) => cell.pipeline === pipeline && cell.tensor === tensor)
      .reduce<Cell | null>((best, cell) => (best === null ? cell : better(best, cell)), null)
  return { tp, pp, cells: pp.map((pipeline) => tp.map((tensor) => at(pipeline, tensor))) }
}

/** Texts of a cell without a step time, longest first; null if there is nothing to try. */
export function signOf(cell: Cell | null): Sign | null {
  if (cell?.outcome.is === 'out_of_memory') {
    const lacks = `+${bytes(cell.outcome.lacks)}`
    return { texts: [texts.oom(lacks), lacks, '×'], tone: 'bad' }
  }
  return cell?.outcome.is === 'unsearched' ? { texts: [texts.notSearched, '?'], tone: 'unknown' } : null
}

/** Outcome of a cell as text, for the tooltip and the file. */
export function outcomeOf(cell: Cell | null): string {
  switch (cell?.outcome.is) {
    case 'fits':
      return seconds(cell.outcome.step_time)
    case 'out_of_memory':
      return texts.outOfMemoryBy(bytes(cell.outcome.lacks))
    case 'unsearched':
      return texts.notSearched
    case 'invalid':
      return texts.noValidLayout
    default:
      return texts.doesNotDivideTheGpus
  }
}
