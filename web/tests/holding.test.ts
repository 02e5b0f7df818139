// Sizes that are held when one of an auto plan is set, and the layouts that "Best layout" leaves alone.
import { expect, it } from 'vitest'
import { validWith } from '../src/state/valid'
import { heldPlan, withHeld } from '../src/views/calculator/holding'
import { isTied } from '../src/views/search/family'

const answer = (routed: number, chosen = ['layout: the fastest of 51 common layouts that fit (132 tried)']) =>
  ({
    chosen,
    model: { parameters: { routed_experts: routed } },
    plan: {
      tensor_parallel: 8,
      pipeline_parallel: 16,
      virtual_stages: 8,
      context_parallel: 2,
      expert_parallel: 1,
      expert_tensor_parallel: 8,
      layers_per_stage: [0, 1],
    },
  }) as never

const RUN = { model: 'llama-3.1-405b', cluster: 'dgx-h100', gpus: '1024' }

it('one size of an auto plan holds the others at the values shown', () => {
  const { all, held } = withHeld({ cp: '4' }, RUN, answer(0))
  expect(all).toEqual({ tp: '8', pp: '16', vp: '8', 'uneven-stages': 'true', cp: '4' })
  expect(held).toEqual(['tp', 'pp', 'vp', 'uneven-stages'])
  expect(withHeld({ ep: '8' }, RUN, answer(256)).all).toMatchObject({ etp: '8', tp: '8' })
})

it('nothing is held without need', () => {
  expect(withHeld({ cp: '4' }, { ...RUN, tp: '8' }, answer(0)).held).toEqual([])
  expect(withHeld({ cp: undefined }, RUN, answer(0)).held).toEqual([])
  expect(withHeld({ gpus: '512' }, RUN, answer(0)).held).toEqual([])
  expect(heldPlan(RUN, answer(0, ['bf16']))).toEqual({})
  expect(withHeld({ pp: '1' }, RUN, answer(0)).all).toEqual({ tp: '8', cp: '2', pp: '1', vp: undefined, 'uneven-stages': undefined })
})

it('chunks keep their layers on another number of stages', () => {
  expect(withHeld({ pp: '32' }, RUN, answer(0)).all).toMatchObject({ pp: '32', vp: '4', tp: '8' })
  const uneven = withHeld({ pp: '12' }, RUN, answer(0))
  expect(uneven.all).not.toHaveProperty('vp')
  expect(uneven.held).not.toContain('vp')
})

it('a size has the values that are valid with the held plan', () => {
  const free = new Map([
    ['pp', []],
    ['gpus', ['8', '9']],
  ])
  const held = new Map([
    ['pp', ['2', '4']],
    ['gpus', ['8']],
  ])
  expect(Object.fromEntries(validWith(free, held, ['pp', 'tp']))).toEqual({ pp: ['2', '4'], gpus: ['8', '9'] })
})

it('a layout within the tie stays', () => {
  const found = (seconds: number, tied: boolean) => ({ ranked: { candidate: { step_time: seconds, tied_with_best: tied } } }) as never
  const rows = [found(29.2, true), found(29.4, true), found(31, false)]
  expect(isTied(28.9, rows)).toBe(true)
  expect(isTied(29.3, rows)).toBe(true)
  expect(isTied(29.5, rows)).toBe(false)
  expect(isTied(28.9, [])).toBe(false)
})
