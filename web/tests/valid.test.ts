// Valid values as the controls read them.
import { describe, expect, it } from 'vitest'
import { isRefused, nearest, numbersOf, validOf, validWith, valuesQuestion } from '../src/state/valid'
import { optionsOf } from '../src/views/calculator/wording'

describe('valid values', () => {
  it('are read by flag, numbers ascending', () => {
    const valid = validOf({ values: [{ key: 'plan.tensor_parallel', flag: 'tp', values: ['1', '16', '2'], open: true }] })
    expect(numbersOf(valid, 'tp')).toEqual([1, 2, 16])
    expect(numbersOf(valid, 'pp')).toEqual([])
    expect(numbersOf(validOf(null), 'tp')).toEqual([])
  })

  it('name the settings without which the run is not valid', () => {
    const of = (open: boolean, values: string[]) =>
      validOf({ values: [{ key: 'plan.uneven_stages', flag: 'uneven-stages', values, open }] })
    expect(of(false, ['true']).closed?.has('uneven-stages')).toBe(true)
    expect(of(true, ['true']).closed?.has('uneven-stages')).toBe(false)
    expect(isRefused(of(false, ['true']), 'uneven-stages', 'false')).toBe(true)
    expect(isRefused(of(false, ['true']), 'uneven-stages', 'true')).toBe(false)
    // Without a list the program has not refused anything.
    expect(isRefused(validOf(null), 'uneven-stages', 'false')).toBe(false)
    // A replaced flag has the judgement of its own answer.
    const merged = validWith(of(true, ['true']), of(false, ['true']), ['uneven-stages'])
    expect([merged.closed?.has('uneven-stages'), merged.get('uneven-stages')]).toEqual([true, ['true']])
  })

  it('are options with titles, those without a title under their name', () => {
    expect(optionsOf(['1f1b', 'new-schedule'])).toEqual([
      ['1f1b', '1F1B'],
      ['new-schedule', 'new-schedule'],
    ])
    expect(optionsOf(['1f1b'], 2)).toEqual([['1f1b', 'Interleaved 1F1B']])
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
