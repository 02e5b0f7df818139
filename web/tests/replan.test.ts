// What stays when the model or the cluster changes.
import { describe, expect, it } from 'vitest'
import { split, statement } from '../src/state/replan'

const run = {
  model: 'llama-3.1-405b',
  cluster: 'dgx-h100',
  gpus: '1024',
  tp: '8',
  pp: '16',
  'uneven-stages': 'true',
  tokens: '15.6T',
  'global-batch': '512',
}

describe('another model or cluster', () => {
  it('a model keeps the machine and the budget, no layout and no batch', () => {
    const { kept, reset } = split(run, 'model')
    expect(kept).toEqual(['cluster', 'gpus', 'tokens'])
    expect(reset).toEqual(['tp', 'pp', 'uneven-stages', 'global-batch'])
    expect(statement(kept, reset)).toBe(
      'Kept: cluster, devices, tokens. Set back to auto: tensor parallel, pipeline stages, uneven stages, global batch.',
    )
  })

  it('a cluster keeps what is trained', () => {
    const { kept, reset } = split({ ...run, 'price-per-device-hour': '2' }, 'cluster')
    expect(kept).toEqual(['model', 'gpus', 'tokens', 'global-batch'])
    expect(reset).toEqual(['tp', 'pp', 'uneven-stages', 'price-per-device-hour'])
  })

  it('states that nothing was reset', () => {
    expect(statement([], [])).toBe('Every plan setting is auto.')
  })
})
