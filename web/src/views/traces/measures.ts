// Measures of a rank in a step, and the one that the maps of ranks show. Kept in the address.
import { change, own } from '../../state/location'

export type Measure = 'own_time' | 'compute' | 'waiting' | 'waiting_caused'

/** Identifier, title and meaning. */
export const MEASURES: readonly (readonly [Measure, string, string])[] = [
  ['own_time', 'Own time', 'step time without waits for other ranks'],
  ['compute', 'Compute', 'compute time of the rank per step'],
  ['waiting', 'Waiting', 'time that the rank waits for others'],
  ['waiting_caused', 'Waiting caused', 'sum of the waits of all other ranks for this one'],
]

/** As a choice of one. */
export const MEASURE_OPTIONS = MEASURES.map(([id, title]) => [id, title] as const)

export const measureShown = () => MEASURES.find(([id]) => id === own('t').heat) ?? MEASURES[0]!

export const showMeasure = (measure: string) => change({ 't.heat': measure === 'own_time' ? undefined : measure })
