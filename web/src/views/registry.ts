// The views of the page, in the order of the header. One folder each; `index.tsx` has the view as its default export and
// is loaded when first opened.
import type { ComponentType } from 'preact'

export interface View {
  /** Its name in the address. */
  readonly id: string
  readonly title: string
  /** The second key behind `g`. */
  readonly key: string
  /** The prefix of its own parameters in the address. */
  readonly prefix: string
  /** What it answers, for the header's tooltip and the key map. */
  readonly about: string
  readonly load: () => Promise<{ default: ComponentType }>
}

export const views: readonly View[] = [
  {
    id: 'calculator',
    title: 'Calculator',
    key: 'c',
    prefix: 'c',
    about: 'Step time, memory and cost of a run',
    load: () => import('./calculator'),
  },
  { id: 'search', title: 'Search', key: 's', prefix: 's', about: 'The best layout for a run', load: () => import('./search') },
  { id: 'whatif', title: 'What-if', key: 'w', prefix: 'w', about: 'Effect of changes on the run', load: () => import('./whatif') },
  {
    id: 'machines',
    title: 'Machines',
    key: 'm',
    prefix: 'm',
    about: 'Cluster size for a deadline or a budget',
    load: () => import('./machines'),
  },
  {
    id: 'pipeline',
    title: 'Pipeline',
    key: 'p',
    prefix: 'p',
    about: 'All stages of the step on one timeline',
    load: () => import('./pipeline'),
  },
  { id: 'traces', title: 'Traces', key: 't', prefix: 't', about: 'Step time of a job from its traces', load: () => import('./traces') },
  {
    id: 'log',
    title: 'Logs',
    key: 'l',
    prefix: 'l',
    about: 'Training log: step time and MFU over time, slow steps, restarts',
    load: () => import('./log'),
  },
  {
    id: 'snapshot',
    title: 'Memory',
    key: 'y',
    prefix: 'y',
    about: 'A memory snapshot: the peak by module and line of code, fragmentation, growth',
    load: () => import('./snapshot'),
  },
  { id: 'hang', title: 'Hangs', key: 'h', prefix: 'h', about: 'Causes of a hang, from flight records', load: () => import('./hang') },
  { id: 'network', title: 'Network', key: 'n', prefix: 'n', about: 'Network designs, traffic and cost', load: () => import('./network') },
  {
    id: 'reference',
    title: 'Reference',
    key: 'r',
    prefix: 'r',
    about: 'Catalogues, words and keys; predictions beside measured runs',
    load: () => import('./reference'),
  },
]
