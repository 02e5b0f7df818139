// The address and back: what is written is read as it was, whatever the text.
import { describe, expect, it } from 'vitest'
import { stateIn, ofPrefix, parseFragment, repeatedIn, writeFragment } from '../src/state/fragment'
import { applyOverrides, normalise, toArguments } from '../src/state/run'

describe('the fragment', () => {
  it('is short and readable', () => {
    const text = writeFragment({
      view: 'calculator',
      parameters: { tp: '8', model: 'llama-3.1-405b', 'b.tp': '4', 'c.stage': '3', cluster: 'dgx-h100' },
    })
    expect(text).toBe('#/calculator?model=llama-3.1-405b&cluster=dgx-h100&tp=8&b.tp=4&c.stage=3')
  })

  it('comes back as it was', () => {
    const parameters = { model: 'upload:1/my model & more=#?.json', recompute: 'selective:core_attention,mlp', 'x.y': '100%', price: '+1' }
    expect(parseFragment(writeFragment({ view: 'search', parameters }), 'calculator')).toEqual({ view: 'search', parameters })
  })

  it('reads anything without throwing', () => {
    for (const text of ['', '#', '#/', '#/%', '#/a?%=%&&=&b', '#calculator?__proto__=1']) {
      expect(() => parseFragment(text, 'calculator')).not.toThrow()
    }
    expect(parseFragment('', 'calculator')).toEqual({ view: 'calculator', parameters: {} })
  })

  it('keeps run, scenario B and views apart', () => {
    const parameters = { tp: '8', 'b.tp': '4', 'c.stage': '3', 'precision-compute': 'fp8' }
    expect(ofPrefix(parameters, '')).toEqual({ tp: '8', 'precision-compute': 'fp8' })
    expect(ofPrefix(parameters, 'b')).toEqual({ tp: '4' })
    expect(ofPrefix(parameters, 'c')).toEqual({ stage: '3' })
  })
})

describe('scenario B', () => {
  it('is the run with its overrides', () => {
    expect(applyOverrides({ tp: '8', pp: '2' }, { tp: '4', pp: '-', on: '1' })).toEqual({ tp: '4' })
  })
})

it('passes flags as values of a command', () => {
  expect(toArguments({ tp: '8', 'uneven-stages': 'true', dropout: 'false' })).toEqual({ tp: '8', 'uneven-stages': true, dropout: 'false' })
})

it('knows a flag by one name', () => {
  expect(normalise({ 'tensor-parallel': '8', devices: '64', gpus: '32' })).toEqual({ tp: '8', gpus: '32' })
})

it('tells what a link says twice and differently', () => {
  expect(repeatedIn('#/calculator?tp=8&pp=2&tp=4&pp=2')).toEqual([{ key: 'tp', values: ['8', '4'] }])
  expect(repeatedIn('#/calculator?tp=8&b.tp=4')).toEqual([])
  expect(repeatedIn('#/calculator')).toEqual([])
  expect(parseFragment('#/calculator?tp=8&tp=4', 'calculator').parameters).toEqual({ tp: '4' })
})

describe('a pasted state', () => {
  it('is the fragment of a link, or itself', () => {
    expect(stateIn(' http://127.0.0.1:8080/abc/#/search?tp=8 ')).toBe('#/search?tp=8')
    expect(stateIn('#/calculator')).toBe('#/calculator')
    expect(stateIn('tp=8')).toBeNull()
    expect(stateIn('see #/calculator')).toBeNull()
  })
})
