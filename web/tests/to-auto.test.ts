// A size that is set back to auto while others are set, and sizes that are 1 because of others.
import { expect, it } from 'vitest'
import { isClosed, isDefault, isOwn, toAuto } from '../src/views/calculator/to-auto'

const RUN = { model: 'llama-3.1-70b', cluster: 'dgx-h100', gpus: '64' }

it('a size beside others that are set is chosen by the program, not 1', () => {
  expect(toAuto('pp', { ...RUN, tp: '4', pp: '4' })).toEqual({ pp: 'auto' })
  expect(toAuto('tp', { ...RUN, tp: '4', sharding: 'fsdp' })).toEqual({ tp: 'auto' })
})

it('the last size leaves a plan without any', () => {
  expect(toAuto('tp', { ...RUN, tp: '4' })).toEqual({ tp: undefined })
  expect(toAuto('tp', { ...RUN, tp: '4', pp: 'auto', cp: 'auto' })).toEqual({ tp: undefined, pp: undefined, cp: undefined })
})

it('chunks and uneven stages that were held go with the number of stages', () => {
  const text = { ...RUN, tp: '8', pp: '16', vp: '8', 'uneven-stages': 'true' }
  expect(toAuto('pp', text, ['tp', 'vp', 'uneven-stages'])).toEqual({ pp: 'auto', vp: undefined, 'uneven-stages': undefined })
  expect(toAuto('pp', text)).toEqual({ pp: 'auto' })
})

it('a size that takes no auto, or of a file, is left to what it was', () => {
  expect(toAuto('vp', { ...RUN, tp: '4', vp: '2' })).toEqual({ vp: undefined })
  expect(toAuto('tp', { run: 'run.toml', tp: '4', pp: '2' })).toEqual({ tp: undefined })
})

it('auto is not a value of the user, and a size that is 1 beside others is a default', () => {
  expect([isOwn('pp', { pp: 'auto' }), isOwn('pp', { pp: '1' }), isOwn('pp', {})]).toEqual([false, true, false])
  expect(isDefault('pp', { ...RUN, tp: '4' })).toBe(true)
  expect(isDefault('pp', { ...RUN, tp: '4', pp: 'auto' })).toBe(false)
  expect(isDefault('pp', { ...RUN, tp: 'auto' })).toBe(false)
  expect(isDefault('pp', RUN)).toBe(false)
  expect(isDefault('pp', { run: 'run.toml', tp: '4' })).toBe(false)
  expect(isDefault('vp', { ...RUN, tp: '4' })).toBe(false)
})

it('a setting is closed if the run needs it and the program cannot choose it beside the others', () => {
  const closed = (...flags: string[]) => Object.assign(new Map<string, string[]>(), { closed: new Set(flags) })
  expect(isClosed(closed('uneven-stages'), 'uneven-stages', { ...RUN, pp: '16' })).toBe(true)
  // With other sizes set, `auto` makes the program choose this one.
  expect(isClosed(closed('pp'), 'pp', { ...RUN, pp: '16', tp: '8' })).toBe(false)
  expect(isClosed(closed('pp'), 'pp', { ...RUN, pp: '16' })).toBe(true)
  expect(isClosed(new Map(), 'pp', RUN)).toBe(false)
})
