// The plan that controls return to from a rejected run, and a run as options of a command that reads a file.
import { expect, it } from 'vitest'
import type { Key } from '../src/api/answers'
import { identity } from '../src/api/ask'
import { askedIn, baseOf, changesTo, isSameJob, stuckIn } from '../src/views/calculator/last-valid'
import { causeOf as causeOfPause } from '../src/views/log'
import { optionsBeside, optionsOf } from '../src/views/parts/run-options'
import { causeOf } from '../src/views/traces/stragglers'

const RUN = { model: 'llama-3.1-70b', cluster: 'dgx-h100', gpus: '96' }

it('is the last accepted one of the same job, else the layout on auto', () => {
  const of = identity('estimate', { ...RUN, tp: '8', 'uneven-stages': true })
  expect(askedIn(of)).toEqual({ ...RUN, tp: '8', 'uneven-stages': 'true' })
  expect(askedIn('')).toBeNull()
  expect(baseOf({ ...RUN, tp: '7' }, of)).toEqual({ ...RUN, tp: '8', 'uneven-stages': 'true' })
  expect(baseOf({ ...RUN, model: 'gpt3-175b', tp: '7' }, of)).toEqual({ ...RUN, model: 'gpt3-175b' })
  expect(isSameJob(RUN, { ...RUN, gpus: '8' })).toBe(true)
  expect(isSameJob(RUN, { ...RUN, cluster: 'dgx-a100' })).toBe(false)
})

it('is reached by the changes alone', () => {
  expect(changesTo({ ...RUN, tp: '8' }, { ...RUN, tp: '7', cp: '5' })).toEqual({ tp: '8', cp: undefined })
  expect(
    stuckIn(
      new Map([
        ['tp', ['8']],
        ['pp', []],
      ]),
    ),
  ).toEqual(new Set(['pp']))
})

it('a run is a model with keys; beside a network, cluster and devices are keys too', () => {
  const keys = [{ section: 'plan', name: 'tensor_parallel' }] as unknown as Key[]
  const text = { ...RUN, 'tensor-parallel': '8', unheard: '1' }
  expect(optionsOf(text, keys)).toMatchObject({ run: RUN.model, cluster: RUN.cluster, gpus: '96' })
  const { run, set, ...others } = optionsBeside(RUN, keys)
  expect([run, set, others]).toEqual([RUN.model, ['cluster.preset=dgx-h100', 'cluster.devices=96'], {}])
  expect(optionsBeside({}, keys)).toEqual({})
})

it('a delay off the critical path is not called none', () => {
  const row = (cost: number, lateness: number) => ({ is_straggler: false, cost_ns: cost, lateness_ns: lateness }) as never
  expect(causeOf(row(0, 48e6), 1)).toBe('its delay costs no step time')
  expect(causeOf(row(0, 0), 1)).toBe('no delay')
  expect(causeOf(row(1, 5), 2)).toBe('below the reporting threshold')
})

it('pauses have the causes that the log records', () => {
  const pause = (evaluation: boolean, checkpoint: boolean) => causeOfPause({ period: 100, count: 21, lost: 4.6, evaluation, checkpoint })
  expect([pause(true, false), pause(true, true), pause(false, false)]).toEqual([
    'evaluation',
    'evaluation and checkpoint',
    'cause not recorded',
  ])
})
