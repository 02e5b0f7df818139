// The map of TP and PP: which outcome stands for a pair, and what its cell is marked with.
import { describe, expect, it } from 'vitest'
import type { Cell } from '../src/views/search/answer'
import { outcomeOf, signOf, spaceOfCells } from '../src/views/search/space'

const GIB = 2 ** 30
const cell = (tensor: number, pipeline: number, outcome: Cell['outcome'], devices = 16): Cell => ({
  cluster: 'dgx-h100',
  devices,
  tensor,
  pipeline,
  outcome,
})
const fits = (tokens: number): Cell['outcome'] => ({ is: 'fits', step_time: 2, tokens_per_second: tokens, layout: '--tp 2' })
const over = (gib: number): Cell['outcome'] => ({
  is: 'out_of_memory',
  lacks: gib * GIB,
  device_memory: 80 * GIB,
  stage: 0,
  layout: '--tp 1',
})

describe('the map of TP and PP', () => {
  it('has a row for each PP, a column for each TP, and a gap where nothing divides', () => {
    const space = spaceOfCells([cell(2, 1, over(3)), cell(1, 4, fits(10)), cell(2, 4, { is: 'invalid' })])
    expect(space.tp).toEqual([1, 2])
    expect(space.pp).toEqual([1, 4])
    expect(space.cells[0]?.[0]).toBeNull()
    expect(space.cells[0]?.[1]?.outcome.is).toBe('out_of_memory')
    expect(space.cells[1]?.[0]?.outcome.is).toBe('fits')
  })
  it('takes of several clusters the faster, else what lacks the least, and never hides what was not searched', () => {
    const one = (...outcomes: Cell['outcome'][]) => spaceOfCells(outcomes.map((of, n) => cell(1, 1, of, 8 + n))).cells[0]?.[0]
    expect(one(fits(10), over(1), fits(20))?.devices).toBe(10)
    expect(one(over(3), over(1), { is: 'invalid' })?.devices).toBe(9)
    expect(one(over(3), { is: 'unsearched' })?.outcome.is).toBe('unsearched')
  })
  it('tells memory, a stopped search and an invalid pair apart in words', () => {
    expect(signOf(cell(1, 1, over(3)))).toEqual({ texts: ['OOM +3.00 GiB', '+3.00 GiB', '×'], tone: 'bad' })
    expect(signOf(cell(1, 1, { is: 'unsearched' }))?.tone).toBe('unknown')
    expect(signOf(cell(1, 1, { is: 'invalid' }))).toBeNull()
    expect(signOf(cell(1, 1, fits(1)))).toBeNull()
    const words = [over(3), { is: 'unsearched' } as const, { is: 'invalid' } as const].map((of) => outcomeOf(cell(1, 1, of)))
    expect(new Set([...words, outcomeOf(null)]).size).toBe(4)
  })
})
