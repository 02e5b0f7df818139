// Numbers at the edges of their prefixes.
import { describe, expect, it } from 'vitest'
import { withUnit } from '../src/views/network/unit'
import { dollars, probability, seconds, tickIn, timeUnit } from '../src/charts/format'

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

it('a probability is certain only if it is 1', () => {
  expect([1, 0.99996, 0.9995, 0.999, 0.971, 0.0001, 0].map(probability)).toEqual([
    '100.0%',
    '>99.9%',
    '>99.9%',
    '99.9%',
    '97.1%',
    '<0.1%',
    '0%',
  ])
})

it('an axis of short durations has a unit with a prefix', () => {
  expect([21, 1, 0.00678, 4e-6, 3e-8, 0].map((most) => timeUnit(most).sign)).toEqual(['s', 's', 'ms', 'µs', 'ns', 's'])
  expect([0.005, -0.0025, 0].map((value) => tickIn(value, timeUnit(0.00678).scale))).toEqual(['5', '−2.5', '0'])
})
