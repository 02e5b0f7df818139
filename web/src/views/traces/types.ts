// Types of the answer of `profile` by their names in the views, with texts and colours of its labels.
import type { Certainty } from '../../api/schema/profile'
import * as texts from '../../words/traces'

export type {
  Certainty,
  Finding,
  KernelRow as Kernel,
  Line,
  Node,
  Part,
  ProfileAnswer as Profile,
  RankRow,
  RankSteps,
  StepRow,
  Warning,
} from '../../api/schema/profile'

/** A cost with a sign if it is a bound. */
export const signed = (certainty: Certainty | null | undefined, cost: string): string =>
  certainty === 'at_most' ? `≤ ${cost}` : certainty === 'unknown' ? texts.unknown : cost

/** Groups of labels, in the order of `shares` and `groups`. */
export const GROUPS = ['ideal', 'compute', 'communication', 'copies', 'bubble', 'host', 'other'] as const

const CLASSES: Readonly<Record<string, string>> = {
  ideal: 'forward',
  compute: 'backward',
  communication: 'tensor',
  copies: 'copy',
  copy: 'copy',
  bubble: 'bubble',
  host: 'host',
  other: 'other',
}

/** Class of a group or label, which determines its colour. */
export function classOf(name: string): string {
  const known = CLASSES[name]
  if (known) return known
  if (/bubble/.test(name)) return 'bubble'
  // Before the dimensions: data loading is not data parallelism.
  if (/loading/.test(name)) return 'host'
  const dimension = /^(tensor|context|expert|pipeline|data)\b/.exec(name.replaceAll('_', ' '))?.[1]
  if (dimension) return /waiting/.test(name) ? 'waiting' : dimension
  if (/^unknown/.test(name)) return 'communication'
  if (/recompute/.test(name)) return 'recompute'
  if (/optimizer/.test(name)) return 'optimizer'
  if (/matrix|attention|ideal/.test(name)) return 'forward'
  if (/kernels|slower/.test(name)) return 'weight_gradient'
  if (/cop(y|ies)/.test(name)) return 'copy'
  if (/host|idle|synchron|loading|launch/.test(name)) return 'host'
  return 'other'
}

/** Display name of a label, family or part, by its name in answers. */
export function words(name: string): string {
  // Named as in the overview.
  return name
    .replace(/matrix[ _]product(s?)/, 'GEMM$1')
    .replace('synchronisation', 'synchronization')
    .replace(/_bound(?=_|$)/, '-bound')
    .replace(/_communication_(?=waiting|transfer)/, '_communication,_')
    .replaceAll('_', ' ')
}
