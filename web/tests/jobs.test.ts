// Jobs on disk: each opens in the view that reads its format.
import { expect, it } from 'vitest'
import { viewOf } from '../src/api/jobs-on-disk'

it.each([
  ['PyTorch profiler', 'traces'],
  ['archive', 'traces'],
  ['training log', 'log'],
  ['flight record', 'hang'],
  ['XPUTimer metrics', 'hang'],
  ['memory snapshot', 'snapshot'],
] as const)('a job of the format %s opens in %s', (format, view) => {
  expect(viewOf({ format })).toBe(view)
})
