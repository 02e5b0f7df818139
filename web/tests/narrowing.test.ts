// Restrictions of a search in the address, and back.
import { describe, expect, it } from 'vitest'
import { isRange, restrictionsOf, spaceArguments, textOf, toggled } from '../src/views/parts/narrowing'
import { canonicalName } from '../src/views/parts/strategy'

const OFFERED: Readonly<Record<string, readonly string[]>> = { tp: ['1', '2', '4', '8'], recompute: ['none', 'selective', 'full'] }
const read = (text: string) =>
  restrictionsOf(
    text.split(' '),
    (name) => canonicalName(name.replaceAll('_', '-')),
    (name) => OFFERED[name] ?? [],
  )

describe('restrictions', () => {
  it('are lists of values, and ranges of the offered ones', () => {
    expect(read('tp=2..8 vp=1,5 recompute=none,full')).toEqual([
      { name: 'tp', values: ['2', '4', '8'] },
      { name: 'vp', values: ['1', '5'] },
      { name: 'recompute', values: ['none', 'full'] },
    ])
    expect(read('tensor_parallel=..2')).toEqual([{ name: 'tp', values: ['1', '2'] }])
  })
  it('keep a range of values that are not offered, and lists within a value', () => {
    expect(read('vp=2..8')).toEqual([{ name: 'vp', values: ['2..8'] }])
    expect(read('recompute=none,selective:core_attention,mlp')).toEqual([
      { name: 'recompute', values: ['none', 'selective:core_attention,mlp'] },
    ])
  })
  it('return to the same text, values in the order that is offered', () => {
    expect(textOf(read('tp=1,8 recompute=none'))).toBe('tp=1,8 recompute=none')
    const [tp] = read('tp=8')
    expect(toggled(tp!, '2', OFFERED.tp!).values).toEqual(['2', '8'])
    expect(toggled(tp!, '8', OFFERED.tp!).values).toEqual([])
  })
  it('are ranges without gaps', () => {
    expect(isRange([], OFFERED.tp!)).toBe(true)
    expect(isRange(['2', '4'], OFFERED.tp!)).toBe(true)
    expect(isRange(['2', '8'], OFFERED.tp!)).toBe(false)
    expect(isRange(['16'], OFFERED.tp!)).toBe(false)
  })
  it('without a value restrict nothing', () => {
    expect(spaceArguments('tp= vp=1')).toEqual(['vp=1'])
    expect(spaceArguments(undefined)).toEqual([])
  })
})
