// Valid values as the controls read them.
import { describe, expect, it } from 'vitest'
import { nearest, numbersOf, validOf, valuesQuestion } from '../src/state/valid'

describe('valid values', () => {
  it('are read by flag, numbers ascending', () => {
    const valid = validOf({ values: [{ key: 'plan.tensor_parallel', flag: 'tp', values: ['1', '16', '2'] }] })
    expect(numbersOf(valid, 'tp')).toEqual([1, 2, 16])
    expect(numbersOf(valid, 'pp')).toEqual([])
    expect(numbersOf(validOf(null), 'tp')).toEqual([])
  })

  it('are asked for without prices, and only of a run that names model and cluster', () => {
    expect(valuesQuestion({ model: 'a', cluster: 'b', tp: 8, tokens: '1T' })).toEqual({ model: 'a', cluster: 'b', tp: 8 })
    expect(valuesQuestion({ model: 'a', tp: 8 })).toBeNull()
    expect(valuesQuestion({ run: 'x.toml' })).toEqual({ run: 'x.toml' })
    expect(valuesQuestion(null)).toBeNull()
  })

  it('have the nearest below and above', () => {
    expect(nearest([1, 2, 4, 8], 3)).toEqual([2, 4])
    expect(nearest([1, 2], 3)).toEqual([2])
    expect(nearest([], 3)).toEqual([])
  })
})
