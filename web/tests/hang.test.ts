// The chain of who waits for whom: boxes that are alike are one, circles end, the end of the chain stands last.
import { describe, expect, it } from 'vitest'
import { chain } from '../src/views/hang/graph'
import { type Root, type Stuck, type Verdict, causeText, damageText, doubts, extent, ranges, who } from '../src/views/hang/types'

const stuck = (name: string, ranks: number[], waiting: number[], missing: number[], operation = 'nccl:all_reduce'): Stuck => ({
  group: { name, ranks },
  sequence: 3,
  operation,
  state: 'not_entered',
  listed: true,
  waiting,
  missing,
  unknown: [],
  calls: [],
  since_ns: 0,
  timeout_ms: null,
})
const root = (ranks: number[], at: number, cause: Root['cause'] = 'outside_of_collectives'): Root => ({
  rank: ranks[0] ?? 0,
  cause,
  ranks,
  stuck: at,
  victims: [],
  last_operation: null,
  last_group: null,
  last_time_ns: null,
  last_frames: [],
})
const verdict = (all: Stuck[], roots: Root[]): Verdict => ({
  ranks: [],
  world_size: 8,
  world_size_listed: true,
  without_dump: [],
  incomplete_groups: [],
  damaged: [],
  stuck: all,
  roots,
  warnings: [],
})

describe('the chain', () => {
  it('leads from those who wait over others to the end', () => {
    const boxes = chain(verdict([stuck('tp', [0, 1], [0], [1]), stuck('dp', [1, 3], [1], [3], 'nccl:broadcast')], [root([3], 1)]))
    expect(boxes.map((box) => [box.id, box.depth, box.to])).toEqual([
      ['stuck 0', 2, ['stuck 1']],
      ['stuck 1', 1, ['root 0']],
      ['root 0', 0, []],
    ])
  })
  it('joins calls that wait alike', () => {
    const boxes = chain(verdict([stuck('dp', [0, 7], [0], [7]), stuck('dp', [1, 7], [1], [7])], [root([7], 0)]))
    expect(boxes).toHaveLength(2)
    expect(boxes[0]?.title).toBe('nccl:all_reduce × 2')
    expect(boxes[0]?.lines[0]).toBe('in 2 groups')
  })
  it('ends where ranks wait for each other in a circle', () => {
    const boxes = chain(verdict([stuck('a', [0, 1], [0], [1], 'x'), stuck('b', [0, 1], [1], [0], 'y')], [root([0, 1], 0, 'circle')]))
    expect(boxes.filter((box) => box.kind === 'stuck').every((box) => box.to.includes('root 0'))).toBe(true)
  })
})

it('tells causes that it does not know by their name', () => {
  expect(causeText({ ...root([4], 0), cause: 'members_unknown' })).toBe('waits for no other rank and may be missing')
  expect(causeText({ ...root([4], 0), cause: 'something_new' as Root['cause'] })).toBe('something new')
  expect(who([])).toBe('an unknown rank')
})

it('writes ranks as ranges', () => {
  expect(ranges([3, 0, 1, 2, 7, 9, 10])).toBe('0–3, 7, 9, 10')
})

describe('how much is known', () => {
  it('says at least where no dump lists all ranks', () => {
    expect(extent({ ranks: [3], world_size: 4, world_size_listed: false })).toBe('1 of at least 4 ranks')
    expect(extent({ ranks: [0], world_size: 1, world_size_listed: false })).toBe('1 of at least 1 rank')
    expect(extent({ ranks: [0, 1], world_size: 2, world_size_listed: true })).toBe('all 2 ranks')
  })
  it('says why a verdict is no verdict', () => {
    const damaged = [{ label: 'rank3', rank: 3, entries: 12, unreadable: 0, cut_at: 4096 }]
    expect(doubts({ without_dump: [1], incomplete_groups: [{ name: 'tp', ranks: [2] }], damaged, world_size_listed: false })).toBe(
      'one dump is missing (rank 1), one dump is damaged (rank 3), the dumps do not record the number of ranks, tp was used only by rank 2: other ranks of it may have no dump',
    )
    expect(damageText(damaged[0]!)).toBe(
      'Rank 3’s dump is truncated at byte 4096 after 12 entries; its other calls are unknown, so the verdict holds only for the recorded calls.',
    )
  })
})
