// The rules behind the sliders, against what the program accepts and refuses (messages quoted from it).
import { describe, expect, it } from 'vitest'
import { type Degrees, type Facts, divisors, modelFacts, nearest, offered } from '../src/state/rules'

const llama: Facts = { devices: 1024, devicesPerNode: 8, layers: 126, heads: [[128, 8]], widths: [53_248], expertWidths: [], experts: null, longest: null, formats: [] }
const plan: Degrees = { tp: 8, pp: 16, cp: 2, vp: 1, ep: 1, etp: 8, microBatch: 1, globalBatch: 512, sequence: 8192, sequenceParallel: true, uneven: true, schedule: '1f1b', ulysses: false }

describe('offered values', () => {
  it('divides devices among degrees', () => {
    expect(offered(llama, plan).tp).toEqual([1, 2, 4, 8, 16, 32])
    // `1000 devices cannot be divided into replicas of 112`
    expect(offered({ ...llama, devices: 1008 }, { ...plan, tp: 7, cp: 1, globalBatch: 504 }).tp).not.toContain(7)
  })

  it('keeps query and key-value heads whole', () => {
    const odd: Facts = { ...llama, heads: [[24, 3]], widths: [] }
    // 6 divides 24 heads, and 3 key-value heads are shared by 2 ranks each; 2 can neither divide nor share 3.
    expect(offered({ ...odd, devices: 24 }, { ...plan, tp: 1, pp: 1, cp: 1, globalBatch: 24, sequence: 1536 }).tp).toEqual([1, 3, 6, 12, 24])
  })

  it('wants even stages unless uneven ones are allowed', () => {
    // `126 layers cannot be divided evenly among 16 stages`, hint 14 or 18
    expect(offered(llama, { ...plan, uneven: false }).pp).toEqual([1, 2])
    expect(offered(llama, plan).pp).toContain(16)
    expect(offered({ ...llama, devices: 1008 }, { ...plan, tp: 8, cp: 1, pp: 14, globalBatch: 504, uneven: false }).pp).toContain(14)
  })

  it('gives every context rank two pieces', () => {
    expect(offered(llama, { ...plan, sequence: 24, sequenceParallel: false }).cp).toEqual([1, 2, 4])
  })

  it('divides the batch among replicas', () => {
    expect(offered(llama, plan)['micro-batch']).toEqual([1, 2, 4, 8, 16, 32, 64])
    expect(offered(llama, plan)['global-batch'].every((batch) => batch % 4 === 0)).toBe(true)
    expect(offered(llama, { ...plan, globalBatch: 6 }).gpus).toEqual([256, 512, 768, 1536])
  })

  it('offers expert parallelism to models with experts only', () => {
    expect(offered(llama, plan).ep).toEqual([1])
    const moe: Facts = { ...llama, experts: 256, devices: 64 }
    expect(offered(moe, { ...plan, tp: 1, pp: 2, cp: 1, etp: 1, globalBatch: 64 }).ep).toEqual([1, 2, 4, 8, 16, 32])
  })

  it('fixes chunks where the schedule does', () => {
    expect(offered(llama, { ...plan, schedule: 'zb-v' }).vp).toEqual([2])
    expect(offered(llama, { ...plan, schedule: '1f1b', pp: 2, uneven: false }).vp).toEqual([1, 3, 7, 9, 21, 63])
  })

  it('holds what it offers: every value keeps the others', () => {
    for (const tp of offered(llama, plan).tp) expect(llama.devices % (tp * plan.cp * plan.pp)).toBe(0)
    for (const gpus of offered(llama, plan).gpus) expect(512 % (gpus / 256)).toBe(0)
  })
})

it('reads the shapes of a model', () => {
  const facts = modelFacts({
    name: 'x', position: 'rotary', max_positions: 4096, layers: [0, 1, 1],
    layer_kinds: [
      { mixer: { kind: 'latent', heads: 128 }, feed_forward: { kind: 'dense', intermediate_size: 18_432 } },
      { mixer: { kind: 'latent', heads: 128 }, feed_forward: { kind: 'mixture_of_experts', experts: 256, expert: { intermediate_size: 2048 }, shared_intermediate_size: 2048 } },
    ],
  })
  expect(facts).toEqual({ layers: 3, heads: [[128, 0], [128, 0]], widths: [18_432, 2048], expertWidths: [2048], experts: 256, longest: null })
})

it('finds divisors and neighbours', () => {
  expect(divisors(12)).toEqual([1, 2, 3, 4, 6, 12])
  expect(nearest([1, 2, 4, 8], 5)).toEqual([4, 8])
  expect(nearest([1, 2], 1)).toEqual([2])
})
