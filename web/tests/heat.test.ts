// Ends of the colours of a heat map whose cells have no written values.
import { describe, expect, it } from 'vitest'
import { endsOf, sharesOf } from '../src/charts/heatmap/shares'

const ms = (value: number) => `${value} ms`
const titles = (...args: Parameters<typeof endsOf>) => endsOf(...args).map((one) => one.title)

describe('the ends of the colours', () => {
  it('are the values that have them', () => {
    const values = [
      [12, null],
      [30, 20],
    ]
    expect(titles(values, false, 'least', undefined, ms)).toEqual(['12 ms', '30 ms'])
    expect(titles(values, false, 'zero', undefined, ms)).toEqual(['0 ms', '30 ms'])
    expect(titles(values, false, 'zero', 100, ms)).toEqual(['0 ms', '100 ms'])
    expect(sharesOf(values, false, 'least')).toEqual([
      [0, null],
      [1, 8 / 18],
    ])
  })

  it('are those of each row where each has its own scale', () => {
    expect(titles([[1], [2]], true, 'least', undefined, ms)).toEqual(['minimum of its row', 'maximum of its row'])
  })

  it('are found among 65,536 ranks', () => {
    const many = Array.from({ length: 1024 }, (_, row) => Array.from({ length: 64 }, (_, column) => row * 64 + column))
    expect(titles(many, false, 'least', undefined, ms)).toEqual(['0 ms', '65535 ms'])
  })
})
