// The run's own cluster as the first design of the network view: its domain, NIC speed and accelerator, from the program's catalogue.
// Refuses to guess: a cluster that the catalogue does not list leaves every figure to the program.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ClusterEntry } from '../../api/answers'
import { askOnce } from '../../api/live'
import { runParameters } from '../search/question'
import * as texts from '../../words/network'

const clusters = signal<readonly ClusterEntry[] | null>(null)

/** Loads the catalogue once; whether it is there yet. A failed question leaves it empty: the view works without it. */
export function useOwnCluster(): boolean {
  useEffect(() => {
    if (clusters.value !== null) return
    askOnce<{ clusters: ClusterEntry[] }>('clusters/list').then(
      ({ answer }) => (clusters.value = answer.clusters),
      () => (clusters.value = []),
    )
  }, [])
  return clusters.value !== null
}

/** The run's cluster, or null where the run names none of the catalogue. */
export function ownCluster(): ClusterEntry | null {
  const name = runParameters().cluster
  if (!name) return null
  return clusters.value?.find((one) => one.name === name) ?? null
}

/** NIC bandwidth of one device as a flag takes it. */
export function speedOf(cluster: ClusterEntry): string {
  return texts.gbitS(Number(((cluster.network.bandwidth * 8) / 1e9).toPrecision(6)))
}
