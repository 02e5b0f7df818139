// Measures of a rank in a step, and the one shown in maps of ranks, stored in the URL.
import { change, own } from '../../state/location'
import * as texts from '../../words/traces'

export type Measure = 'own_time' | 'compute' | 'waiting' | 'waiting_caused'

/** Identifier, title and meaning. */
export const MEASURES: readonly (readonly [Measure, string, string])[] = [
  ['own_time', texts.ownTime, texts.stepTimeWithoutWaitsFor],
  ['compute', 'Compute', texts.computeTimeOfTheRank],
  ['waiting', 'Waiting', texts.timeThatTheRankWaits],
  ['waiting_caused', texts.waitingCaused, texts.sumOfTheWaitsOf],
]

/** Options of a choice. */
export const MEASURE_OPTIONS = MEASURES.map(([id, title]) => [id, title] as const)

export const measureShown = () => MEASURES.find(([id]) => id === own('t').heat) ?? MEASURES[0]!

export const showMeasure = (measure: string) => change({ 't.heat': measure === 'own_time' ? undefined : measure })
