// Standing of a layout among the cards of a search, and the order of remedies.
import { expect, it } from 'vitest'
import { suggestions } from '../src/views/calculator/suggestions'
import type { Found } from '../src/views/search/answer'
import { standingOf } from '../src/views/search/family'

const found = (behind: number, tied: boolean) => ({ ranked: { behind, candidate: { tied_with_best: tied } } }) as unknown as Found

it('the first of a tie is called fastest only if it is', () => {
  const all = [found(0, true), found(-0.01, true), found(0.08, false)]
  expect(all.map((one) => standingOf(one, all[1]!))).toEqual(['recommended', '−1.0%, fastest, tie', '+8.0%'])
  expect(standingOf(all[0]!, null)).toBe('recommended, fastest')
  // The fastest of the search need not have a card of its own.
  expect(standingOf(all[1]!, found(-0.02, false))).toBe('−1.0%, tie')
})

it('remedies that keep the GPUs come first', () => {
  const remedies = [
    { key: 'cluster.gpus', value: '12' },
    { key: 'plan.tensor_parallel', value: '4' },
  ]
  const titles = suggestions({ message: 'tensor parallelism of 6 is invalid', remedies } as never).map((one) => one.title)
  expect(titles).toHaveLength(2)
  expect(titles[1]).toMatch(/devices/)
})
