// Numbers at the edges of their prefixes.
import { describe, expect, it } from 'vitest'
import { withUnit } from '../src/views/network/unit'
import { dollars, seconds } from '../src/charts/format'

it('durations have no part of 60', () => {
  expect([179.6, 7199.7, 7199.4, 10_799, 172_799, -179.6, 125].map(seconds)).toEqual([
    '3 min 0 s',
    '2 h 0 min',
    '119 min 59 s',
    '3 h 0 min',
    '2.00 days',
    '−3 min 0 s',
    '2 min 5 s',
  ])
})

it('dollars take the next prefix instead of four digits', () => {
  expect([999_600, 999_600_000, 99.996, 12_000, 9_999].map(dollars)).toEqual(['$1.00 M', '$1.00 B', '$100', '$12.0 k', '$9,999'])
})

describe('figures of the paper', () => {
  it.each([
    [153, '$M', '$153 M'],
    [37.4, '%', '37.4%'],
    [117, 'days', '117 days'],
    [2, '', '2'],
  ])('%d in %s is %s', (value, unit, text) => expect(withUnit(value, unit)).toBe(text))
})
