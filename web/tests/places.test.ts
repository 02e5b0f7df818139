// Places of a timeline: arrows by kind, rows that are pinned, rows of SQL answers, and roofs of operators.
import { describe, expect, it } from 'vitest'
import { collectiveOf, type RawColumns, model, neighbours, valueAt } from '../src/timeline/data'
import { layout, rowAt, topOf } from '../src/timeline/layout'
import { nameOf, stragglerOf } from '../src/views/traces/interest'
import { placeOf } from '../src/views/traces/place'
import { peaks, roofs } from '../src/views/traces/roofline'

const track = (id: number, group: string, name: string, starts: number[], names: number[], colours: number[]) => ({
  id,
  group,
  name,
  rank: id,
  stage: 0,
  starts,
  lengths: starts.map(() => 5),
  names,
  colours,
})

const COLUMNS: RawColumns = {
  label: 'three ranks',
  duration_ns: 100,
  tracks: [
    track(0, 'rank 0', 'thread 1', [0, 10, 20], [0, 1, 0], [1, 1, 1]),
    track(1, 'rank 0', 'stream 7', [12, 40], [2, 2], [0, 0]),
    track(2, 'rank 1', 'stream 7', [14, 44], [2, 2], [0, 0]),
    track(3, 'rank 2', 'stream 7', [16, 48], [2, 2], [0, 0]),
  ],
  names: ['aten::mm', 'cudaLaunchKernel', 'all_reduce'],
  classes: ['other', 'host'],
  critical: [],
  marks: [],
  arrow_kinds: ['message', 'launch', 'collective', 'awaited'],
  // The launch of a kernel, and a collective in which rank 2 came last.
  arrows: { from_track: [0, 3, 3], from_span: [1, 0, 0], to_track: [1, 1, 2], to_span: [0, 0, 0], kind: [1, 2, 2] },
  counters: [{ group: 'rank 0', name: 'memory', unit: 'B', rank: 0, stage: 0, at: [0, 50], value: [3, 7] }],
}

describe('arrows', () => {
  const of = model(COLUMNS)
  it('say why they lead somewhere', () => {
    const { from, to } = neighbours(of.arrows, { track: 1, span: 0 })
    expect(from.map((one) => [one.kind, one.track])).toEqual([
      ['launch', 0],
      ['collective', 3],
    ])
    expect(to).toEqual([])
  })
  it('tie all parts of a collective together, whichever is asked', () => {
    const parts = [1, 2, 3].map((at) => new Set(collectiveOf(of.arrows, { track: at, span: 0 }).map((one) => one.track)))
    for (const part of parts) expect(part).toEqual(new Set([1, 2, 3]))
    expect(collectiveOf(of.arrows, { track: 1, span: 1 })).toEqual([])
  })
})

describe('counters and shades', () => {
  const of = model(COLUMNS)
  it('hold a value until the next', () => {
    expect([-1, 0, 49, 50, 99].map((time) => valueAt(of.counters[0]!, time))).toEqual([null, 3, 3, 7, 7])
    expect(of.groups[0]?.counters.length).toBe(1)
  })
  it('give one name of a host thread one shade, and every shade is of the class', () => {
    const { colours } = of.tracks[0]!
    expect(colours[0]).toBe(colours[2])
    for (const colour of colours) expect(of.classes[colour]).toBe('host')
    const [one, other] = of.tracks[1]!.colours
    expect(one).toBe(other)
    expect(of.classes[one!]).toBe('other')
  })
})

describe('pinned rows', () => {
  it('stand at the top, do not scroll, and are found there', () => {
    const rows = layout(model(COLUMNS), new Set(), 60, [3])
    expect(rows.rows[0]?.track?.index).toBe(3)
    expect(rows.pinned).toBe(1)
    expect(rows.rows.filter((row) => row.track?.index === 3).length).toBe(1)
    for (const scrolled of [0, 30]) {
      expect(topOf(rows, 0, scrolled)).toBe(rows.rows[0]!.top)
      expect(rowAt(rows, rows.rows[0]!.top + 2, scrolled)).toBe(0)
    }
    const last = rows.rows.length - 1
    expect(rowAt(rows, rows.rows[last]!.top + 2 - 30, 30)).toBe(last)
  })
  it('grow into a room that they do not fill', () => {
    const [small, large] = [200, 600].map((room) => layout(model(COLUMNS), new Set(), room).rows[0]!.height)
    expect(large!).toBeGreaterThan(small!)
  })
})

describe('rows of an SQL answer', () => {
  const of = model(COLUMNS)
  it('lead to the span that begins there, not to another of the name', () => {
    const long = model({
      ...COLUMNS,
      duration_ns: 20_000,
      tracks: [
        { ...track(0, 'rank 0', 'stream 7', [1_000, 9_000], [2, 0], [0, 0]), lengths: [4_000, 100] },
        { ...track(1, 'rank 0', 'stream 24', [1_000, 9_100], [2, 2], [0, 0]), lengths: [5_000, 700] },
      ],
    })
    expect(placeOf(long, '1000_5000_~all_reduce')).toEqual({ track: 1, span: 0 })
    expect(placeOf(long, '1000_4000_~all_reduce')).toEqual({ track: 0, span: 0 })
    expect(placeOf(long, '1000_5000_7~all_reduce')).toEqual({ track: 0, span: 0 })
    expect(placeOf(long, '9000__7~')).toEqual({ track: 0, span: 1 })
    // Within a merged span, and where nothing runs.
    expect(placeOf(long, '4000__7~aten::mm')).toEqual({ track: 0, span: 0 })
    expect(placeOf(long, '7000_10_24~all_reduce')).toBeNull()
  })
  it('of older links lead to the span of their name', () => {
    expect(placeOf(of, '41~all_reduce')).toEqual({ track: 1, span: 1 })
    expect(placeOf(of, '19~aten::mm')).toEqual({ track: 0, span: 2 })
  })
  it('without a known name to what began last', () => {
    expect(placeOf(of, '15~nobody')).toEqual({ track: 2, span: 0 })
    expect(placeOf(of, 'soon')).toBeNull()
  })
})

it('findings of one rule have names of their own', () => {
  const list = [{ id: 'straggler' }, { id: 'host' }, { id: 'straggler' }]
  expect(list.map((_, at) => nameOf(list, at))).toEqual(['straggler', 'host', 'straggler~2'])
})

it('a rank leads to its own straggler finding', () => {
  const list = [
    { id: 'slow-chip', subject: { ranks: [19, 27] } },
    { id: 'straggler', subject: { ranks: [27, 8] } },
    { id: 'straggler', subject: { ranks: [19] } },
    { id: 'straggler' },
  ]
  expect([27, 19, 8, 3].map((rank) => stragglerOf(list, rank))).toEqual(['straggler', 'straggler~2', 'straggler', undefined])
})

describe('roofs', () => {
  const row = (bound: 'memory' | 'compute', flop: number, bytes: number, rate: number, share: number) =>
    ({ bound, flop, bytes, flop_per_s: rate, share_of_roofline: share, data_type: 'bf16' }) as never
  const rows = [row('compute', 1e12, 1e9, 4e14, 0.4), row('memory', 1e9, 1e9, 1e12, 0.5)]
  it('are what bound rows reach over their share', () => {
    expect(peaks(rows).get('bf16')).toBeCloseTo(1e15)
  })
  it('meet where memory and arithmetic take the same time', () => {
    const [memory, top] = roofs({ bytes_per_s: 2e12, rows })
    expect(memory?.to).toEqual([500, 1e15])
    expect(top?.from).toEqual([500, 1e15])
    expect(top?.to[0]).toBe(1000)
  })
})
