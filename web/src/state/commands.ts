// Places of the web UI that show what a command of the program prints. Texts of the program name a command where the next step is, and the
// web UI leads there instead. Pure. A command with the arguments of an example has no place: it is to be typed.
import * as texts from '../words/ui'
import type { Parameters } from './fragment'

export interface CommandPlace {
  readonly title: string
  readonly view: string
  readonly own: Parameters
}

const at = (view: string, title: string, own: Parameters = {}): CommandPlace => ({ view, title, own })

const PLACES: Readonly<Record<string, CommandPlace>> = {
  estimate: at('calculator', texts.calculator),
  memory: at('calculator', texts.calculator),
  search: at('search', texts.search),
  whatif: at('whatif', texts.whatIf),
  sensitivity: at('whatif', texts.whatIf),
  recompute: at('whatif', texts.selectiveRecompute),
  balance: at('whatif', texts.pipelineBalance),
  size: at('machines', texts.machines),
  pipeline: at('pipeline', texts.pipeline),
  profile: at('traces', texts.traces, { 't.tab': 'overview' }),
  'profile --step N': at('traces', texts.timeline, { 't.tab': 'timeline' }),
  comm: at('traces', texts.communication, { 't.tab': 'communication' }),
  stragglers: at('traces', texts.stragglers, { 't.tab': 'stragglers' }),
  query: at('traces', texts.sql, { 't.tab': 'query' }),
  compare: at('traces', texts.compare, { 't.tab': 'compare' }),
  log: at('log', texts.logs),
  'memory-snapshot': at('snapshot', texts.memory),
  hang: at('hang', texts.hangs),
  gpus: at('reference', texts.accelerators, { 'r.tab': 'accelerators' }),
  'gpus list': at('reference', texts.accelerators, { 'r.tab': 'accelerators' }),
  'clusters list': at('reference', texts.clusters, { 'r.tab': 'clusters' }),
  'models list': at('reference', texts.models, { 'r.tab': 'models' }),
  keys: at('reference', texts.keys, { 'r.tab': 'keys' }),
  explain: at('reference', texts.words, { 'r.tab': 'words' }),
  calibrate: at('reference', texts.calibration, { 'r.tab': 'calibration' }),
}

/** Place of a command as texts write it, `railwright pipeline`; null without one. */
export function placeOfCommand(command: string): CommandPlace | null {
  const [, name] = /^railwright (.+)$/.exec(command) ?? []
  return name !== undefined && Object.hasOwn(PLACES, name) ? PLACES[name]! : null
}
