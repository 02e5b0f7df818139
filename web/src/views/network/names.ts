// Names and shapes of network kinds, equal in all charts: colour and shape together, so that colour is never the only sign.
import * as texts from '../../words/network'
export interface Kind {
  readonly id: string
  readonly title: string
  readonly colour: string
  readonly shape: 'circle' | 'square' | 'diamond' | 'triangle' | 'cross'
  readonly dash: string
}

export const KINDS: readonly Kind[] = [
  { id: 'clos', title: texts.clos, colour: 'var(--class-backward)', shape: 'square', dash: '' },
  { id: 'rail-optimized', title: texts.railOptimized, colour: 'var(--class-copy)', shape: 'triangle', dash: '7 3' },
  { id: 'rail-only', title: texts.railOnly, colour: 'var(--class-tensor)', shape: 'diamond', dash: '' },
  { id: 'trimmed', title: texts.trimmed, colour: 'var(--class-optimizer)', shape: 'cross', dash: '2 3' },
  { id: 'dual-plane', title: texts.dualPlane, colour: 'var(--class-expert)', shape: 'circle', dash: '8 3 2 3' },
  { id: 'multi-plane', title: texts.multiPlane, colour: 'var(--class-pipeline)', shape: 'circle', dash: '4 2' },
  { id: 'dragonfly', title: texts.dragonfly2, colour: 'var(--class-host)', shape: 'cross', dash: '5 3' },
  { id: 'dragonfly-plus', title: texts.dragonfly, colour: 'var(--class-context)', shape: 'triangle', dash: '3 3' },
  { id: 'torus', title: texts.torus, colour: 'var(--class-data)', shape: 'square', dash: '10 3' },
  { id: 'slim-fly', title: texts.slimFly, colour: 'var(--class-other)', shape: 'circle', dash: '1 3' },
  { id: 'scale-up', title: texts.oneScaleUpDomain, colour: 'var(--muted)', shape: 'circle', dash: '' },
]

const OTHER: Kind = { id: '', title: '', colour: 'var(--class-other)', shape: 'circle', dash: '' }

export function kindOf(id: string): Kind {
  return KINDS.find((kind) => kind.id === id) ?? { ...OTHER, id, title: id }
}

/** 400 Gbit/s, from bytes per second. */
export function gigabits(bytesPerSecond: number): string {
  return texts.gbitS(Number(((bytesPerSecond * 8) / 1e9).toPrecision(4)))
}

/** `leaf_spine` to `leaf to spine`. */
export function layerName(layer: string): string {
  const names: Record<string, string> = {
    access: texts.nicToLeaf,
    leaf_spine: texts.leafToSpine,
    spine_core: texts.spineToCore,
    scale_up: 'scale-up',
    host: texts.deviceToNic,
  }
  return names[layer.replace('-', '_')] ?? layer.replaceAll(/[_-]/g, ' ')
}
