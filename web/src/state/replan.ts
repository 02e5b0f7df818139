// Settings that are kept or reset to auto when the model or cluster changes. Pure.
import { flagTitle } from '../views/calculator/wording'
import * as texts from '../words/state'

/** Settings kept when the model changes: cluster, amount of training and price. */
const OF_ANY_MODEL = ['cluster', 'accelerator', 'gpus', 'pools', 'tokens', 'availability', 'price-per-device-hour', 'electricity-price']
/** Settings kept when the cluster changes: model, number of devices and batch. */
const OF_ANY_CLUSTER = ['model', 'gpus', 'tokens', 'availability', 'global-batch', 'sequence-length', 'electricity-price']

/** Splits the settings of a run into those kept and those reset to auto. Pure. */
export function split(
  text: Readonly<Record<string, string>>,
  changed: 'model' | 'cluster',
): { readonly kept: readonly string[]; readonly reset: readonly string[] } {
  const stays = changed === 'model' ? OF_ANY_MODEL : OF_ANY_CLUSTER
  const others = Object.keys(text).filter((key) => key !== changed)
  return { kept: others.filter((key) => stays.includes(key)), reset: others.filter((key) => !stays.includes(key)) }
}

/** Message about such a change. */
export function statement(kept: readonly string[], reset: readonly string[]): string {
  const list = (keys: readonly string[]) => keys.map(flagTitle).join(', ')
  return [
    kept.length > 0 ? `Kept: ${list(kept)}.` : '',
    reset.length > 0 ? `Set back to auto: ${list(reset)}.` : texts.everyPlanSettingIsAuto,
  ]
    .filter(Boolean)
    .join(' ')
}
