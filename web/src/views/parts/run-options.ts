// The calculator's run as options of a command that reads a run file: its model as the run, the rest as keys. Pure.
import type { Key } from '../../api/answers'
import type { Arguments } from '../../api/ask'
import { flagOf } from '../calculator/flags'

type Text = Readonly<Record<string, string>>

/** Options `run`, `cluster`, `gpus` and `set`; empty without a model. */
export function optionsOf(text: Text, keys: readonly Key[]): Arguments {
  const run = text.run ?? text.launch ?? text.model
  if (!run) return {}
  const set = Object.entries(text).flatMap(([flag, value]) => {
    if (['run', 'launch', 'model', 'cluster', 'gpus'].includes(flag)) return []
    const key = keys.find((one) => flagOf(one) === flag)
    return key ? [`${key.section}.${key.name}=${value}`] : []
  })
  return {
    run,
    ...(text.cluster ? { cluster: text.cluster } : {}),
    ...(text.gpus ? { gpus: text.gpus } : {}),
    ...(set.length > 0 ? { set } : {}),
  }
}

/** The same for a command whose `--gpus` is that of a network: cluster and devices are keys too. */
export function optionsBeside(text: Text, keys: readonly Key[]): Arguments {
  const { run, cluster, gpus, set = [] } = optionsOf(text, keys)
  if (run === undefined) return {}
  const placed = [...(cluster ? [`cluster.preset=${cluster}`] : []), ...(gpus ? [`cluster.devices=${gpus}`] : [])]
  return { run, set: [...placed, ...(set as readonly string[])] }
}
