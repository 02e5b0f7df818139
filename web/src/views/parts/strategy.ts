// Strategies as parameters of the URL: flags of a command line to names and values, and a run with another strategy. Pure. The program
// validates strategies.
import type { Parameters } from '../../state/fragment'

/** Map from aliases to the names used by the web UI. */
const ALIASES: Readonly<Record<string, string>> = {
  'tensor-parallel': 'tp',
  'pipeline-parallel': 'pp',
  'context-parallel': 'cp',
  'data-parallel': 'dp',
  'expert-parallel': 'ep',
  'expert-tensor-parallel': 'etp',
  'virtual-stages': 'vp',
  vpp: 'vp',
  mbs: 'micro-batch',
  'micro-batch-size': 'micro-batch',
  gbs: 'global-batch',
  'global-batch-size': 'global-batch',
  seq: 'sequence-length',
  'seq-length': 'sequence-length',
  devices: 'gpus',
  sp: 'sequence-parallel',
  zero: 'sharding',
  uneven: 'uneven-stages',
}

/** Settings of a layout, which a search varies. */
export const LAYOUT = [
  'tp',
  'pp',
  'vp',
  'cp',
  'dp',
  'ep',
  'etp',
  'sharding',
  'fsdp',
  'hsdp',
  'micro-batch',
  'micro-batches',
  'recompute',
  'stage-recompute',
  'schedule',
  'layers-per-stage',
  'uneven-stages',
  'sequence-parallel',
  'context-kind',
  'rank-order',
  'offload-optimizer',
  'offload-activations',
  'offload-parameters',
  'overlap-gradient-reduce',
  'overlap-parameter-gather',
  'overlap-tensor',
  'overlap-pipeline',
  'overlap-expert',
] as const

/** Name of a flag in the web UI. */
export function canonicalName(flag: string): string {
  return ALIASES[flag] ?? flag
}

/** Name in the web UI of a setting of the plan, from any spelling: `plan.pipeline_parallel` to `pp`. */
export const planName = (name: string): string => canonicalName(name.replace(/^plan\./, '').replace(/[._]/g, '-'))

/** Words of a command line; quotes group words as in a shell. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

/** Flags to parameters: `--tp 4 --uneven-stages` to `{tp: '4', 'uneven-stages': 'true'}`; words before the first flag are ignored. */
export function fromFlags(line: string): Record<string, string> {
  const found: Record<string, string> = {}
  const list = words(line)
  for (let n = 0; n < list.length; n++) {
    const word = list[n] ?? ''
    if (!word.startsWith('--')) continue
    const [name = '', ...rest] = word.slice(2).split('=')
    const following = list[n + 1]
    let value = 'true'
    if (rest.length > 0) value = rest.join('=')
    else if (following !== undefined && !following.startsWith('--')) {
      value = following
      n += 1
    }
    // `13 x 2, 9 x 3` after a choice of layers is only for display.
    const bare = value === 'true' && rest.length === 0
    if (list[n + 1] === 'layers' && !bare) found['uneven-stages'] = 'true'
    found[canonicalName(name)] = value
  }
  return found
}

/** Run without its layout, except the kept settings. */
export function withoutLayout(run: Parameters, kept: readonly string[] = []): Record<string, string> {
  const layout = new Set<string>(LAYOUT.filter((name) => !kept.includes(name)))
  return Object.fromEntries(Object.entries(run).filter(([name]) => !layout.has(canonicalName(name))))
}

/** Run with the layout of a strategy instead of its own; `also` overrides both (the cluster of the search). */
export function withStrategy(run: Parameters, flags: string, also: Record<string, string> = {}): Record<string, string> {
  const named = Object.entries(withoutLayout(run)).map(([name, value]) => [canonicalName(name), value] as const)
  return { ...Object.fromEntries(named), ...fromFlags(flags), ...also }
}

/** Layout settings of the run, by their names in the web UI, which a search could keep; sizes that are auto are none. */
export function layoutOf(run: Parameters): Record<string, string> {
  const layout: readonly string[] = LAYOUT
  return Object.fromEntries(
    Object.entries(run)
      .map(([name, value]) => [canonicalName(name), value] as const)
      .filter(([name, value]) => layout.includes(name) && value !== 'auto'),
  )
}

/** Parallel sizes of a plan's summary, for labels in plots: `TP4 CP2 PP16`. */
export function short(summary: string): string {
  const head = summary.split(',')[0] ?? summary
  return (
    head
      .split(' ')
      .filter((word) => /^(TP|CP|PP|VP|EP)\d+$/.test(word))
      .join(' ') || head
  )
}

/** Sizes of a layout in the order of a plan's summary. */
const SIZES = ['tp', 'cp', 'pp', 'vp', 'ep', 'etp']

/** Flags of a layout in the form of a plan's summary: `--tp 4 --pp 4 --mbs 2 --uneven-stages` to `TP4 PP4, micro-batch 2, uneven stages`. */
export function summaryOf(flags: string): string {
  const found = fromFlags(flags)
  const sizes = SIZES.filter((name) => name in found && found[name] !== '1').map((name) => `${name.toUpperCase()}${found[name]}`)
  const others = Object.entries(found)
    .filter(([name]) => !SIZES.includes(name))
    .map(([name, value]) => {
      const title = name.replaceAll('-', ' ').replace('micro batch', 'micro-batch')
      if (name === 'sharding') return value.replace(/^zero-?(\d)$/, 'ZeRO-$1').replace('fsdp', 'FSDP')
      return value === 'true' ? title : `${title} ${value}`
    })
  return [sizes.join(' '), ...others].filter(Boolean).join(', ')
}
