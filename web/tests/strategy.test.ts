// Flags of the command line to parameters of the address, and strategies put into runs.
import { describe, expect, it } from 'vitest'
import { fromFlags, layoutOf, short, summaryOf, withStrategy, withoutLayout } from '../src/views/parts/strategy'

describe('flags', () => {
  it('become parameters under the names of the page', () => {
    expect(
      fromFlags('railwright estimate llama-3.1-405b --cluster dgx-h100 --gpus 1024 --tokens=15T --tp 4 --mbs 1 --gbs 512 --uneven-stages'),
    ).toEqual({
      cluster: 'dgx-h100',
      gpus: '1024',
      tokens: '15T',
      tp: '4',
      'micro-batch': '1',
      'global-batch': '512',
      'uneven-stages': 'true',
    })
  })
  it('keep quoted words together', () => {
    expect(fromFlags('--stage-recompute "norm+activation:2 norm:4,none" --tp 8')).toEqual({
      'stage-recompute': 'norm+activation:2 norm:4,none',
      tp: '8',
    })
    expect(fromFlags('--recompute="full:2"')).toEqual({ recompute: 'full:2' })
  })
  it('leave out what is for people', () => {
    expect(fromFlags('--tp 4 --recompute selective:norm layers [13 x 2, 9 x 3]')).toEqual({
      tp: '4',
      recompute: 'selective:norm',
      'uneven-stages': 'true',
    })
  })
})

describe('runs', () => {
  const run = { model: 'm', cluster: 'c', gpus: '64', 'tensor-parallel': '8', pp: '4', tokens: '2T', recompute: 'full' }
  it('take a strategy instead of their own', () => {
    expect(withStrategy(run, '--tp 2 --cp 2', { gpus: '128' })).toEqual({
      model: 'm',
      cluster: 'c',
      gpus: '128',
      tokens: '2T',
      tp: '2',
      cp: '2',
    })
  })
  it('lose their layout but for what is kept', () => {
    expect(withoutLayout(run, ['tp'])).toEqual({ model: 'm', cluster: 'c', gpus: '64', tokens: '2T', 'tensor-parallel': '8' })
    expect(layoutOf(run)).toEqual({ tp: '8', pp: '4', recompute: 'full' })
  })
  it('have short names', () => {
    expect(short('TP4 CP2 PP16 VP8 SP ZeRO-1, interleaved 1F1B, bf16')).toBe('TP4 CP2 PP16 VP8')
    expect(short('DP64 ZeRO-2 over 32, bf16')).toBe('DP64 ZeRO-2 over 32')
  })
})

it('flags of a layout are read as the summary of a plan', () => {
  expect(summaryOf('--tp 4 --pp 4 --vp 9 --cp 2 --mbs 1 --uneven-stages')).toBe('TP4 CP2 PP4 VP9, micro-batch 1, uneven stages')
  expect(summaryOf('--tp 4 --pp 1 --cp 8 --sharding fsdp --mbs 8')).toBe('TP4 CP8, FSDP, micro-batch 8')
  expect(summaryOf('--sharding zero2 --recompute full:3')).toBe('ZeRO-2, recompute full:3')
})
