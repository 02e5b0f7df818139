// The machines view: the frontier of days and dollars, the words of the choice, and a finer grid of counts.
import { describe, expect, it } from 'vitest'
import type { Row } from '../src/views/machines/answer'
import { choiceOf, finer, frontier, hasOneBatch } from '../src/views/machines/frontier'

const row = (days: number, rent: number | null) => ({ bill: { calendar: days * 86_400, rent } as Row['bill'] })

describe('the frontier', () => {
  it('has what no other beats in days and dollars, and nothing without a price', () => {
    const [slow, beaten, quick, unpriced] = [row(96, 70), row(69, 85), row(66, 80), row(10, null)]
    expect(frontier([slow, beaten, quick, unpriced])).toEqual([quick, slow])
    expect(frontier([unpriced])).toEqual([])
  })
})

describe('the choice', () => {
  it('is named by the goal', () => {
    const goal = { deadline: 1, budget: null, worth: 0.5 }
    expect(choiceOf(goal, true)).toBe('cheapest by deadline')
    expect(choiceOf(goal, false)).toBe('fewest GPU-hours by deadline')
    expect(choiceOf({ ...goal, budget: 2 }, true)).toBe('cheapest by deadline and within budget')
    expect(choiceOf({ ...goal, deadline: null, budget: 2 }, true)).toBe('shortest within budget')
  })
})

describe('a finer grid', () => {
  it('has one more count between neighbours, a multiple of the machine', () => {
    expect(finer([64, 32, 128], 8)).toEqual([32, 48, 64, 96, 128])
    expect(finer([8, 16], 8)).toEqual([8, 16])
    expect(finer([128, 144], 8)).toEqual([128, 144])
  })
  it('asks no more than so many searches', () => {
    const counts = Array.from({ length: 20 }, (_, n) => 8 * 2 ** n)
    expect(finer(counts, 8)).toHaveLength(24)
  })
})

describe('the batch of sizes', () => {
  it('is one number only if no size needs another', () => {
    const of = (global_batch: number) => ({ plan: { global_batch } })
    expect(hasOneBatch([of(2048), of(2048)])).toBe(true)
    expect(hasOneBatch([of(2048), of(1536)])).toBe(false)
  })
})
