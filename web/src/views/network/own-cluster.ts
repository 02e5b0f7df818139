// The run's own cluster as the first design of the network view: its domain, NIC speed and accelerator, from the program's catalogue, and the
// part of each domain that the run's plan uses. For a cluster outside the catalogue, the program sets all values.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ClusterEntry, Estimate } from '../../api/answers'
import type { Arguments } from '../../api/ask'
import { askOnce, useAnswer } from '../../api/live'
import { toArguments } from '../../state/run'
import { runParameters } from '../search/question'
import * as texts from '../../words/network'

const clusters = signal<readonly ClusterEntry[] | null>(null)

/** GPUs of each scale-up domain that the run's plan uses, if it leaves some idle. */
const segment = signal<number | null>(null)

/** Run as arguments; null while model or cluster are missing. */
export function runArguments(): Arguments | null {
  const run = runParameters()
  return run.model && run.cluster ? toArguments(run) : null
}

/** Loads the catalogue and the run's plan. True once both are known. After an error they stay empty: the view works without them. */
export function useOwnCluster(): boolean {
  const asked = runArguments()
  const plan = useAnswer<Estimate>('estimate', asked)
  const found = asked === null || plan.problems.length > 0 ? null : (plan.answer?.plan.segment ?? null)
  useEffect(() => {
    segment.value = found
  }, [found])
  useEffect(() => {
    if (clusters.value !== null) return
    askOnce<{ clusters: ClusterEntry[] }>('clusters/list').then(
      ({ answer }) => (clusters.value = answer.clusters),
      () => (clusters.value = []),
    )
  }, [])
  const isPlanned = asked === null || plan.answer !== null || plan.problems.length > 0
  return clusters.value !== null && isPlanned && segment.value === found
}

/** Cluster of the run; null if it is not in the catalogue. */
export function ownCluster(): ClusterEntry | null {
  const name = runParameters().cluster
  if (!name) return null
  return clusters.value?.find((one) => one.name === name) ?? null
}

/** GPUs of a scale-up domain that are on the network: those of a segment if the run's plan leaves the others idle. */
export const usedOfDomain = (cluster: ClusterEntry): number => segment.value ?? cluster.scale_up.domain_size

/** NIC bandwidth of one device as a flag. */
export function speedOf(cluster: ClusterEntry): string {
  return texts.gbitS(Number(((cluster.network.bandwidth * 8) / 1e9).toPrecision(6)))
}
