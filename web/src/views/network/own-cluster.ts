// The run's own cluster as the first design of the network view: its domain, NIC speed and accelerator, from the program's catalogue. For a
// cluster outside the catalogue, the program sets all values.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ClusterEntry } from '../../api/answers'
import { askOnce } from '../../api/live'
import { runParameters } from '../search/question'
import * as texts from '../../words/network'

const clusters = signal<readonly ClusterEntry[] | null>(null)

/** Loads the catalogue once. True once loaded. After an error it stays empty: the view works without it. */
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

/** Cluster of the run; null if it is not in the catalogue. */
export function ownCluster(): ClusterEntry | null {
  const name = runParameters().cluster
  if (!name) return null
  return clusters.value?.find((one) => one.name === name) ?? null
}

/** NIC bandwidth of one device as a flag. */
export function speedOf(cluster: ClusterEntry): string {
  return texts.gbitS(Number(((cluster.network.bandwidth * 8) / 1e9).toPrecision(6)))
}
