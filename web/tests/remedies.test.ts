// Remedies of a plan that does not fit or is invalid, and the collectives of two scenarios in one table.
import { expect, it } from 'vitest'
import { remedies, searchedFor, withAuto } from '../src/views/calculator/remedies'
import { suggestions } from '../src/views/calculator/suggestions'
import { classOf } from '../src/views/traces/types'
import { titleOfRun } from '../src/views/calculator/wording'
import { chosenOf } from '../src/views/calculator/notes'
import { alike, ofBoth } from '../src/views/calculator/tables'

const change = (name: string, seconds: number, moved: object[] = []) => ({
  name,
  moved,
  outcome: { outcome: 'possible', after: { fit: 'fits', step_time: seconds, memory: 1e9 }, difference: { share: 0 } },
})

it('a layout on auto is searched with the batch of its estimate, as on the command line', () => {
  const estimate = { plan: { global_batch: 2048 } }
  const run = { model: 'llama-3.1-405b', cluster: 'dgx-h100', gpus: '64' }
  expect(searchedFor(estimate, { ...run, tokens: '15.6T', availability: '0.9' })).toEqual({ ...run, 'global-batch': 2048, top: 1 })
  expect(searchedFor(estimate, { ...run, 'batch-tokens': '16M' })).toEqual({ ...run, 'batch-tokens': '16M', top: 1 })
})

it('changes with the same result are one offer, with the recompute that it contains', () => {
  const recompute = { key: 'plan.recompute', before: 'none', after: 'full' }
  const found = remedies([
    change('sharding=fsdp,recompute=full', 2, [recompute]),
    change('sharding=fsdp', 2, [recompute]),
    change('tensor_parallel=8', 3),
  ] as never)
  expect(found.map((one) => one.name)).toEqual(['FSDP, with recompute full', 'TP 8'])
})

it('an unknown key of a file has no button, which could only add a second error', () => {
  const problem = {
    message: 'unknown key `plan.tensor_paralel`',
    place: { file: 'upload:56de/run.toml', line: 7, key: 'plan.tensor_paralel' },
    hint: 'did you mean `plan.tensor_parallel`?',
  }
  expect(suggestions(problem)).toEqual([])
})

it('the table of two scenarios has the values of both', () => {
  const one = (ranks: number) => ({ ranks }) as never
  const ranks = ({ ranks }: { ranks: number }) => String(ranks)
  expect(ofBoth({ a: one(8), b: one(16), one: one(8) }, true, ranks)).toBe('8 → 16')
  expect(ofBoth({ a: one(8), b: one(8), one: one(8) }, true, ranks)).toBe('8')
  expect(ofBoth({ a: null, b: one(16), one: one(16) }, true, ranks)).toBe('– → 16')
  expect(ofBoth({ a: one(8), b: null, one: one(8) }, false, ranks)).toBe('8')
})

it('names are those of the user and of the timeline', () => {
  expect(titleOfRun('upload:56de, 12.5B parameters on 8 x H100', 'upload:56de/mine.json')).toBe('mine.json, 12.5B parameters on 8 x H100')
  expect(titleOfRun('llama-3-8b, 8B parameters', 'llama-3-8b')).toBe('llama-3-8b, 8B parameters')
  expect(classOf('data_loading')).toBe('host')
  expect(classOf('data_communication')).toBe('data')
})

it('defaults of two scenarios have the letter of theirs, and none if both have them', () => {
  const of = (...chosen: string[]) => ({ chosen })
  expect(
    chosenOf([
      ['A', of('bf16', 'micro-batch 1')],
      ['B', of('bf16', 'micro-batch 2')],
    ]),
  ).toEqual([
    { text: 'bf16', letter: '' },
    { text: 'micro-batch 1', letter: 'A' },
    { text: 'micro-batch 2', letter: 'B' },
  ])
  expect(chosenOf([['', of('bf16')]])).toEqual([{ text: 'bf16', letter: '' }])
})

it('stages that differ in memory alone are one row, two of them are not', () => {
  const stage = (number: number, forward: number, memory: number) =>
    ({
      stage: number,
      layers: 8,
      embedding: false,
      head: false,
      critical: false,
      forward,
      backward: 2,
      busy: 3,
      exposed: 0,
      bubble: 1,
      memory,
    }) as never
  const of = (forwards: readonly number[]) =>
    alike(forwards.map((forward, at) => stage(at, forward, 100 - at))).map((group) => group.length)
  expect(of([1, 2, 2, 2, 1])).toEqual([1, 3, 1])
  expect(of([1, 1, 2, 2])).toEqual([1, 1, 1, 1])
})

it('the layout on auto is before others with its fit, and what fits is before what is at risk', () => {
  const found = [{ fit: 'fits' }, { fit: 'fits' }, { fit: 'at_risk' }] as const
  const order = (auto: Parameters<typeof withAuto>[1]) => withAuto(found, auto).map((one) => (one === 'auto' ? one : one.fit))
  expect(order('fits')).toEqual(['auto', 'fits', 'fits', 'at_risk'])
  expect(order('at_risk')).toEqual(['fits', 'fits', 'auto', 'at_risk'])
  expect(order('does_not_fit')).toEqual(['fits', 'fits', 'at_risk'])
  expect(order(null)).toEqual(['fits', 'fits', 'at_risk'])
})
