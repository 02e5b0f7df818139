// Colours of classes of time and kinds of memory in all views: variables of styles/tokens.css.
// Canvases read the value with `resolve`; everything else uses `var(...)`, which follows the theme.
import * as texts from '../words/charts'

/** Classes of a step's spans, in the order of the API's `classes`. */
export const CLASSES = [
  'forward',
  'backward',
  'weight_gradient',
  'recompute',
  'tensor',
  'context',
  'data',
  'pipeline',
  'expert',
  'bubble',
  'optimizer',
  'copy',
  'host',
  'other',
] as const
export type Class = (typeof CLASSES)[number]

export const CLASS_TITLES: Readonly<Record<Class, string>> = {
  forward: 'forward',
  backward: 'backward',
  weight_gradient: texts.weightGradient,
  recompute: 'recompute',
  tensor: texts.tensorParallel,
  context: texts.contextParallel,
  data: texts.dataParallel,
  pipeline: texts.pipelineTransfer,
  expert: texts.expertParallel,
  bubble: 'bubble',
  optimizer: 'optimizer',
  copy: 'copy',
  host: 'host',
  other: 'other',
}

/** Variable of a class; unknown names are `other`. */
export function classColour(name: string): string {
  return `var(--class-${(CLASSES as readonly string[]).includes(name) ? name : 'other'})`
}

/** Kinds of memory, in stacking order. */
export const KINDS = [
  'parameters',
  'gradients',
  'master_weights',
  'optimizer_moments',
  'narrow_weights',
  'activations',
  'working_set',
  'logits',
  'communication_buffers',
  'optimizer_temporaries',
  'workspace',
  'fragmentation',
  'context',
] as const

/** Synonyms used by the memory counters of the timeline. */
const SAME: Readonly<Record<string, string>> = {
  optimizer: 'optimizer_moments',
  communication: 'communication_buffers',
  overhead: 'fragmentation',
  other: 'context',
}

export function kindColour(name: string): string {
  const kind = SAME[name] ?? name
  return `var(--kind-${(KINDS as readonly string[]).includes(kind) ? kind : 'context'})`
}

/** Current value of a variable, for canvases and exports. */
export function resolve(colour: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(colour)?.[1]
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : colour
}

/** Class of a part of the time breakdown: `compute.mlp.forward`, `exposed.tensor`, `bubble`, ... */
export function timeColour(id: string): string {
  const last = id.split('.').at(-1) ?? ''
  if (id.startsWith('compute')) return classColour((CLASSES as readonly string[]).includes(last) ? last : 'forward')
  if (id.startsWith('exposed')) return classColour(last === 'exposed' ? 'tensor' : last)
  return classColour(
    ({ data_parallel: 'data', jitter: 'other', fixed: 'copy', recompute: 'recompute' } as Record<string, string>)[id] ??
      (id.split('.')[0] || 'other'),
  )
}

/** Readable form of a name: `communication_buffers` becomes `communication buffers`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ')
}
