// What the calculator reads out of answers: offers in hints, flags of keys, sums of the treemap, trees of two scenarios.
import { describe, expect, it } from 'vitest'
import type { MemoryItem, TimeNode } from '../src/api/answers'
import { applyOverrides } from '../src/state/run'
import { merged } from '../src/views/calculator/time-tree'
import { branches } from '../src/views/calculator/branches'
import { flagOf } from '../src/views/calculator/flags'
import { suggestions } from '../src/views/calculator/suggestions'
import { recomputeText, shardingText } from '../src/views/calculator/wording'

describe('offers beside a refusal', () => {
  it('are its remedies, by their flags', () => {
    const offers = suggestions({
      message: '126 layers cannot be divided evenly among 16 stages',
      place: { file: '--pipeline-parallel' },
      hint: 'use 14 or 18, or pass --uneven-stages (uneven_stages = true) for [7, 14 x 8, 7]',
      remedies: [
        { key: 'plan.pipeline_parallel', value: '14' },
        { key: 'plan.pipeline_parallel', value: '18' },
        { key: 'plan.uneven_stages', value: 'true' },
        { key: 'cluster.devices', value: '896' },
      ],
    })
    expect(offers.map((one) => one.values)).toEqual([{ pp: '14' }, { pp: '18' }, { 'uneven-stages': 'true' }, { gpus: '896' }])
    expect(offers.map((one) => one.title)).toEqual(['pipeline stages 14', 'pipeline stages 18', 'allow uneven stages', 'devices 896'])
  })

  it('are a name that was meant', () => {
    expect(suggestions({ message: 'unknown', place: { key: 'plan.schedule' }, hint: 'did you mean `zb-h1`?' })[0]?.values).toEqual({
      schedule: 'zb-h1',
    })
    expect(suggestions({ message: 'no', hint: null })).toEqual([])
  })
})

it('names the flag of a key', () => {
  expect(flagOf({ section: 'plan', name: 'offload.optimizer' })).toBe('offload-optimizer')
  expect(flagOf({ section: 'plan', name: 'tensor_parallel' })).toBe('tp')
  expect(flagOf({ section: 'plan', name: 'precision.preset' })).toBe('precision')
  expect(flagOf({ section: 'cluster', name: 'preset' })).toBe('cluster')
})

it('sums a stage into groups that add up', () => {
  const items: MemoryItem[] = [
    { kind: 'parameters', module: 'mlp', layer: 0, bytes: 3 },
    { kind: 'parameters', module: 'mlp', layer: 1, bytes: 4 },
    { kind: 'context', module: null, layer: null, bytes: 5 },
  ]
  for (const by of ['module', 'layer', 'kind']) {
    const total = branches(items, by)
      .flatMap((branch) => branch.leaves)
      .reduce((sum, leaf) => sum + leaf.value, 0)
    expect(total).toBe(12)
  }
  expect(branches(items, 'module').find((branch) => branch.title === 'mlp')?.leaves).toHaveLength(1)
  expect(branches(items, 'layer').map((branch) => branch.title)).toEqual(['layer 0', 'layer 1', 'no layer'])
})

it('lists parts of either scenario', () => {
  const node = (id: string, children: TimeNode[] = []): TimeNode => ({ id, title: id, time: 1, share: 1, children })
  const both = merged(node('step', [node('compute')]), node('step', [node('compute', [node('compute.recompute')]), node('bubble')]))
  expect(both.children.map((child) => child.id)).toEqual(['compute', 'bubble'])
  expect(both.children[0]?.children.map((child) => child.id)).toEqual(['compute.recompute'])
})

it('writes a plan as the flags do', () => {
  expect(shardingText({ zero_stage: 3, group: 8, reshard_after_forward: true })).toBe('hsdp:8')
  expect(shardingText({ zero_stage: 3, group: null, reshard_after_forward: false })).toBe('fsdp-no-reshard')
  expect(shardingText({ zero_stage: 1, group: 64, reshard_after_forward: false })).toBe('zero1:64')
  expect(recomputeText({ mode: 'selective', modules: ['core_attention', 'mlp'], layers: 4 })).toBe('selective:core_attention,mlp:4')
  expect(applyOverrides({ a: '1' }, { on: '1' })).toEqual({ a: '1' })
})
