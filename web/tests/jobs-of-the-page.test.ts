// Settings of a job: steps of a trace, kinds of devices, waits of stages.
import { describe, expect, it } from 'vitest'
import { devicesOf, poolsOf, poolsText } from '../src/views/calculator/facts'

import { kindOf, sums } from '../src/views/network/waits'
import { stepOptions, stepsOf, stepsText } from '../src/views/traces/steps'
import { split } from '../src/state/replan'

describe('steps of a trace', () => {
  it('are one, a range or a range with an open end', () => {
    for (const text of ['7', '3..9', '3..', '..9', '']) expect(stepsText(stepsOf(text))).toBe(text)
    expect(stepsOf('3..9')).toEqual({ first: 3, last: 9 })
    expect(stepsText({ first: 9, last: 3 })).toBe('3..9')
    expect(stepsText({ first: 4, last: 4 })).toBe('4')
  })

  it('are the options of the program', () => {
    expect(stepOptions('3..9')).toEqual({ steps: '3..9' })
    expect(stepOptions('7')).toEqual({ step: '7' })
    expect(stepOptions(undefined)).toEqual({})
  })
})

describe('devices of other kinds', () => {
  it('are read and written as the program takes them', () => {
    const text = 'dgx-a100:16,mi300x:8'
    expect(poolsOf(text)).toEqual([
      { name: 'dgx-a100', devices: '16' },
      { name: 'mi300x', devices: '8' },
    ])
    expect(poolsText(poolsOf(text))).toBe(text)
    expect(poolsOf('')).toEqual([])
    expect(poolsOf('dgx-a100')).toEqual([{ name: 'dgx-a100', devices: '' }])
  })

  it('are counted apart from the main kind', () => {
    const cluster = { devices: 32, accelerator_name: 'H100', pools: [{ accelerator_name: 'A100', first_rank: 16, devices: 12 }] }
    expect(devicesOf(cluster)).toBe('20 × H100 + 12 × A100')
    expect(devicesOf({ devices: 1024, accelerator_name: 'H100' })).toBe('1,024 × H100')
  })

  it('stay with another model and go with another cluster', () => {
    const run = { model: 'llama-3-8b', cluster: 'dgx-h100', pools: 'dgx-a100:16' }
    expect(split(run, 'model').kept).toContain('pools')
    expect(split(run, 'cluster').reset).toContain('pools')
  })
})

describe('waits of stages', () => {
  it('for work of another stage are one kind, except its messages', () => {
    expect(kindOf(1, { waits_for: 'compute', of_stage: 2 })).toBe('other stages')
    expect(kindOf(1, { waits_for: 'tensor', of_stage: 1 })).toBe('tensor')
    expect(kindOf(1, { waits_for: 'pipeline', of_stage: 0 })).toBe('pipeline')
    expect(kindOf(1, { waits_for: 'optimizer', of_stage: null })).toBe('optimizer')
  })

  it('add up to the waits of the program', () => {
    const waits = [
      { waits_for: 'compute', of_stage: 2, time: 3 },
      { waits_for: 'tensor', of_stage: 0, time: 1 },
      { waits_for: 'pipeline', of_stage: 2, time: 0.5 },
    ]
    expect(sums({ stage: 1, compute: 5, waiting: 4.5, waits })).toEqual([
      { kind: 'other stages', time: 4 },
      { kind: 'pipeline', time: 0.5 },
    ])
  })
})
