// Views of the web UI, in the order of the header. Each has a folder; `index.tsx` has the view as its default export and is loaded when
// first opened.
import type { ComponentType } from 'preact'
import * as texts from '../words/ui'

export interface View {
  /** Name in the URL. */
  readonly id: string
  readonly title: string
  /** Second key after `g`. */
  readonly key: string
  /** Prefix of its parameters in the URL. */
  readonly prefix: string
  /** Purpose, for the header's tooltip and the key map. */
  readonly about: string
  readonly load: () => Promise<{ default: ComponentType }>
}

export const views: readonly View[] = [
  {
    id: 'calculator',
    title: texts.calculator,
    key: 'c',
    prefix: 'c',
    about: texts.stepTimeMemoryAndCost,
    load: () => import('./calculator'),
  },
  { id: 'search', title: texts.search, key: 's', prefix: 's', about: texts.theBestLayoutForA, load: () => import('./search') },
  { id: 'whatif', title: texts.whatIf, key: 'w', prefix: 'w', about: texts.effectOfChangesOnThe, load: () => import('./whatif') },
  {
    id: 'machines',
    title: texts.machines,
    key: 'm',
    prefix: 'm',
    about: texts.clusterSizeForADeadline,
    load: () => import('./machines'),
  },
  {
    id: 'pipeline',
    title: texts.pipeline,
    key: 'p',
    prefix: 'p',
    about: texts.allStagesOfTheStep,
    load: () => import('./pipeline'),
  },
  { id: 'traces', title: texts.traces, key: 't', prefix: 't', about: texts.stepTimeOfAJob, load: () => import('./traces') },
  {
    id: 'log',
    title: texts.logs,
    key: 'l',
    prefix: 'l',
    about: texts.trainingLogStepTimeAnd,
    load: () => import('./log'),
  },
  {
    id: 'snapshot',
    title: texts.memory,
    key: 'y',
    prefix: 'y',
    about: texts.aMemorySnapshotThePeak,
    load: () => import('./snapshot'),
  },
  { id: 'hang', title: texts.hangs, key: 'h', prefix: 'h', about: texts.causesOfAHangFrom, load: () => import('./hang') },
  {
    id: 'network',
    title: texts.network,
    key: 'n',
    prefix: 'n',
    about: texts.networkDesignsTrafficAndCost,
    load: () => import('./network'),
  },
  {
    id: 'reference',
    title: texts.reference,
    key: 'r',
    prefix: 'r',
    about: texts.cataloguesWordsAndKeysPredictions,
    load: () => import('./reference'),
  },
]
