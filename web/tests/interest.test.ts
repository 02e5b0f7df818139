// Ranks of interest and the grid of a job.
import { describe, expect, it } from 'vitest'
import { grid, hostSets, interesting, notable, ofRanks, rankRows, width } from '../src/views/traces/interest'
import { sizesText } from '../src/views/traces/layout-found'
import { byLayout } from '../src/views/traces/layout-grid'
import { pairsOf } from '../src/state/settings'

const heat = {
  ranks: [0, 1, 2, 3, 4],
  steps: ['1', '2', '3'],
  step_time_ns: [10, 10, 10],
  own_time_ns: [
    [5, 5, 6],
    [7, 7, 7],
    [9, 9, 1],
    [6, 6, null],
    [null, null, null],
  ],
  compute_ns: [[1], [1], [1], [1], [1]],
  waiting_ns: [[0], [0], [0], [0], [0]],
  waiting_caused_ns: [
    [0, 0, 0],
    [4, 4, 4],
    [2, 2, 2],
    [0, 0, 0],
    [0, 0, 0],
  ],
}

describe('ranks of interest', () => {
  it('are by the median over steps, each rank once', () => {
    expect(ofRanks(heat, 'own_time_ns').get(4)).toBeNull()
    expect(interesting(heat)).toEqual([
      { title: 'slowest', rank: 2 },
      { title: 'longest waits caused', rank: 1 },
      { title: 'typical', rank: 3 },
      { title: 'fastest', rank: 0 },
    ])
  })

  it('are a sample of a large job: notable ranks, ranks of findings, typical ones, each once', () => {
    const ranks = Array.from({ length: 64 }, (_, rank) => rank)
    const own = ranks.map((rank) => [rank === 21 ? 90 : rank === 40 ? 10 : 50 + rank / 100])
    const large = { ...heat, ranks, steps: ['1'], own_time_ns: own, waiting_caused_ns: ranks.map((rank) => [rank === 23 ? 5 : 0]) }
    const sample = notable(large, [{ subject: { ranks: [21, 7, 99] } }])
    expect(sample.slice(0, 2)).toEqual([21, 23])
    expect(sample).toContain(40)
    expect(sample).toContain(7)
    expect(sample).not.toContain(99)
    expect(new Set(sample).size).toBe(sample.length)
    expect(sample.length).toBeLessThanOrEqual(8)
    // All ranks of a small job are drawn.
    expect(notable(heat, [])).toEqual([])
  })

  it('are together by host, else in order', () => {
    const rows = [0, 1, 2, 3].map((rank) => ({ rank, host: rank < 2 ? 'a' : 'b' })) as never
    expect(hostSets({ rows }, [0, 1, 2, 3])).toEqual([
      { title: 'a', ranks: [0, 1] },
      { title: 'b', ranks: [2, 3] },
    ])
    const inOrder = hostSets(
      { rows: [] },
      Array.from({ length: 10 }, (_, rank) => rank),
    )
    expect(inOrder.map((set) => set.ranks.length)).toEqual([8, 2])
  })

  it('are none of one rank or without a measurement', () => {
    expect(interesting(null)).toEqual([])
    expect(interesting({ ...heat, ranks: [0] })).toEqual([])
  })
})

const recorded = {
  window_ns: 0,
  compute_ns: 0,
  communication_ns: 0,
  overlap_ns: 0,
  exposed_ns: 0,
  copies_ns: 0,
  idle_ns: 0,
}

describe('the grid', () => {
  const row = (rank: number, host: string | null) => ({ rank, host, shares: [], waiting_share: 0, parts: {}, recorded })
  it('is by host where all ranks have one', () => {
    const found = grid({ rows: [row(0, 'a'), row(1, 'a'), row(2, 'b')] }, [0, 1, 2], 8)
    expect(found.of).toBe('host')
    expect(found.rows).toEqual([
      { name: 'a', ranks: [0, 1] },
      { name: 'b', ranks: [2, null] },
    ])
  })

  it('is in order where hosts are unknown, and holds every rank', () => {
    const ranks = Array.from({ length: 512 }, (_, at) => at)
    const found = grid({ rows: [] }, ranks, width(512))
    expect(width(512)).toBe(32)
    expect(found.of).toBe('ranks in order')
    expect(found.rows.flatMap((one) => one.ranks)).toEqual(ranks)
  })
})

it('ranks of a large job are rows, the slowest first', () => {
  const heat = {
    steps: ['1', '2'],
    step_time_ns: [9, 9],
    ranks: [0, 1, 2],
    own_time_ns: [
      [5, 5],
      [8, 8],
      [null, null],
    ],
    compute_ns: [
      [4, 4],
      [7, 7],
      [null, null],
    ],
    waiting_ns: [
      [3, 3],
      [0, 0],
      [null, null],
    ],
    waiting_caused_ns: [
      [0, 0],
      [3, 3],
      [null, null],
    ],
  }
  expect(rankRows(heat)).toEqual([
    { rank: 1, values: [8, 7, 0, 3] },
    { rank: 0, values: [5, 4, 3, 0] },
    { rank: 2, values: [null, null, null, null] },
  ])
})

describe('the grid of a layout', () => {
  const ranks = (world: number) => Array.from({ length: world }, (_, rank) => rank)
  /** Sizes as the program names them, innermost first. */
  const of = (text: string) => {
    let stride = 1
    return pairsOf(text).map(([name, value]) => {
      const size = { name, ranks: Number(value), stride }
      stride *= size.ranks
      return size
    })
  }

  it('has the stages across, and each rank in the place of its dimensions', () => {
    const found = byLayout(of('tp=2,dp=2,pp=8'), ranks(32))!
    expect(found.of).toBe('layout')
    expect(found.columns).toEqual(['PP0', 'PP1', 'PP2', 'PP3', 'PP4', 'PP5', 'PP6', 'PP7'])
    expect(found.rows.map((row) => row.name)).toEqual(['DP0 TP0', 'DP0 TP1', 'DP1 TP0', 'DP1 TP1'])
    // Rank 6 = tensor rank 0 + 2 x (data rank 1) + 4 x (stage 1).
    expect(found.rows[2]!.ranks[1]).toBe(6)
    expect(found.rows.flatMap((row) => row.ranks).sort((a, b) => a! - b!)).toEqual(ranks(32))
  })

  it('is wide rather than high, with at most 64 columns, and holds every rank of a large job', () => {
    for (const [text, world] of [
      ['tp=8,dp=64', 512],
      ['tp=8,dp=64,pp=8', 4096],
      ['tp=4,cp=2,dp=8,pp=16', 1024],
    ] as const) {
      const found = byLayout(of(text), ranks(world))!
      expect(found.columns.length).toBeLessThanOrEqual(64)
      expect(found.columns.length).toBeGreaterThanOrEqual(found.rows.length)
      expect(new Set(found.rows.flatMap((row) => row.ranks)).size).toBe(world)
    }
  })

  it('leaves the place of a rank that was not recorded empty', () => {
    const found = byLayout(of('tp=2,pp=4'), [0, 1, 2, 3, 4, 5, 7])!
    expect(found.rows.flatMap((row) => row.ranks).filter((rank) => rank === null)).toHaveLength(1)
  })

  it('is none with one dimension, and with one that is wider than readable in every choice', () => {
    expect(byLayout(of('dp=32'), ranks(32))).toBeNull()
    expect(byLayout(of('tp=128,dp=128'), ranks(16_384))).toBeNull()
  })

  it('is named with its sizes; ranks that no group joins have no name', () => {
    const size = (dimension: string, name: string, ranks: number) => ({
      dimension,
      name,
      ranks,
      stride: 1,
      evidence: 'description',
      inferred: false,
    })
    const layout = { sizes: [size('tensor', 'tp', 2), size('other', 'other', 16)], complete: false, doubts: [], groups: [] }
    expect(sizesText(layout as never)).toBe('TP2 (16 unnamed)')
  })
})
