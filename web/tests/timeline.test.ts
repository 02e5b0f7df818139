// The timeline's arithmetic: finding spans, keeping bounds, merging into pixels, joining two answers.
import { describe, expect, it } from 'vitest'
import { beside } from '../src/timeline/beside'
import type { Palette } from '../src/timeline/colours'
import { CRITICAL, type RawColumns, firstEndingAfter, firstStartingAt, model, spanAt } from '../src/timeline/data'
import { passOf } from '../src/timeline/describe'
import { shortened } from '../src/timeline/labels'
import { layout, rowAt, tallest } from '../src/timeline/layout'
import { Painter } from '../src/timeline/painter'
import { rankOf } from '../src/timeline/renderer'
import { moment, instant, span, tick } from '../src/timeline/time'
import { Sight } from '../src/timeline/view'

const CLASSES = ['forward', 'backward', 'bubble']

function columns(stages: number, shift = 0): RawColumns {
  return {
    label: 'a step',
    duration_ns: 100 + shift,
    names: ['forward', 'backward', 'bubble'],
    classes: CLASSES,
    critical: [[0, 0]],
    marks: [{ track: 1, at: 5, length: 2, title: 'x', detail: '', severity: 'note' }],
    tracks: Array.from({ length: stages * 2 }, (_, id) => ({
      id,
      group: `stage ${id >> 1}`,
      name: id % 2 === 0 ? 'passes' : 'compute',
      rank: id >> 1,
      stage: id >> 1,
      starts: [0, 10, 40],
      lengths: [10, 30, 50],
      names: [0, 2, 1],
      colours: [0, 2, 1],
      micro_batch: [0, -1, 0],
    })),
  }
}

const palette = { rgb: new Float32Array([255, 0, 0, 0, 0, 255, 128, 128, 128]), bubble: 2, back: [255, 255, 255] } as unknown as Palette

describe('finding spans', () => {
  const track = model(columns(1)).tracks[0]!
  it('goes by binary search', () => {
    expect([-5, 0, 9, 10, 89, 90].map((time) => firstEndingAfter(track, time))).toEqual([0, 0, 0, 1, 2, 3])
    expect([-5, 0, 1, 10, 41].map((time) => firstStartingAt(track, time))).toEqual([0, 0, 1, 1, 3])
  })
  it('takes the nearest within reach', () => {
    expect([spanAt(track, 5, 0), spanAt(track, 93, 2), spanAt(track, 93, 5)]).toEqual([0, null, 2])
  })
})

describe('the answer', () => {
  it('marks what is critical, and its pass', () => {
    const raw = { ...columns(1), critical: [[1, 2]] as [number, number][] }
    const { tracks, critical } = model(raw)
    expect(tracks[1]!.flags[2]! & CRITICAL).toBe(CRITICAL)
    expect(tracks[0]!.flags[2]! & CRITICAL).toBe(CRITICAL)
    expect(critical).toEqual([{ track: 1, span: 2 }])
  })
  it('leaves out places that do not exist', () => {
    expect(
      model({
        ...columns(1),
        critical: [
          [9, 0],
          [0, 99],
        ],
      }).critical,
    ).toEqual([])
  })
})

describe('shades', () => {
  it('tell kernels of unknown kind apart, and leave idle time and other classes as they are', () => {
    const raw = columns(1)
    const one = model({
      ...raw,
      classes: ['forward', 'backward', 'other'],
      names: ['fusion', 'gemm_kernel', 'unexplained'],
      tracks: [
        {
          ...raw.tracks[0]!,
          name: 'device',
          starts: [0, 10, 40, 90],
          lengths: [10, 30, 50, 5],
          names: [0, 1, 2, 0],
          colours: [2, 2, 2, 0],
        },
      ],
    })
    const [fusion, gemm, idle, forward] = one.tracks[0]!.colours
    expect([idle, forward]).toEqual([2, 0])
    expect(fusion).not.toBe(gemm)
    expect([fusion, gemm].map((at) => one.classes[at!])).toEqual(['other', 'other'])
  })
})

describe('a span', () => {
  const one = model({
    ...columns(1),
    tracks: columns(1).tracks.map((track) =>
      track.name === 'passes' ? track : { ...track, starts: [2, 20, 60], lengths: [3, 5, 5], micro_batch: [] },
    ),
  })
  it('belongs to the pass around it, and to none in a bubble', () => {
    expect(passOf(one, { track: 1, span: 0 })).toEqual({ track: 0, span: 0 })
    expect(passOf(one, { track: 1, span: 1 })).toBeNull()
    expect(passOf(one, { track: 1, span: 2 })).toEqual({ track: 0, span: 2 })
  })
})

describe('what is in sight', () => {
  it('stays near the step', () => {
    const sight = new Sight(1e9)
    sight.pan(-50)
    expect(sight.view.from).toBeGreaterThanOrEqual(-0.03e9)
    sight.zoom(1e-12, 5e8)
    expect(sight.span).toBe(50)
    sight.zoom(1e12, 5e8)
    expect(sight.span).toBeCloseTo(1.04e9)
  })
  it('zooms around the cursor', () => {
    const sight = new Sight(1e9)
    sight.zoom(0.1, 3e8)
    const share = (3e8 - sight.view.from) / sight.span
    expect(share).toBeCloseTo(0.3)
  })
})

describe('pixels', () => {
  const paint = (track: ReturnType<typeof model>['tracks'][number], from: number, to: number, width: number) => {
    const pixels = new Uint32Array(width)
    const painter = new Painter()
    painter.paint(track, from, to, width, 4, 0, palette, 'nothing', pixels, 0, null, 0)
    return { pixels, painter }
  }
  it('have the colour of what runs, and none where nothing does', () => {
    const { pixels } = paint(model(columns(1)).tracks[0]!, 0, 100, 10)
    expect(pixels[0]! >>> 0).toBe(0xff0000ff)
    expect(pixels[5]! >>> 0).toBe(0xffff0000)
    expect(pixels[9]! >>> 0).toBe(0xffffffff)
  })
  it('mix what is narrower than they are, however many there are', () => {
    const count = 100_000
    const raw = columns(1)
    const many = {
      ...raw.tracks[0]!,
      starts: Array.from({ length: count }, (_, at) => at * 10),
      lengths: Array(count).fill(5),
      names: Array(count).fill(0),
      colours: Array(count).fill(0),
      micro_batch: [],
    }
    const { pixels } = paint(model({ ...raw, tracks: [many], duration_ns: count * 10 }).tracks[0]!, 0, count * 10, 100)
    for (const pixel of pixels) {
      // Half red, half back.
      expect(pixel & 255).toBeGreaterThan(250)
      expect(Math.abs(((pixel >> 8) & 255) - 127)).toBeLessThan(8)
    }
  })
  it('tell which spans are wide', () => {
    const { painter } = paint(model(columns(1)).tracks[0]!, 0, 100, 100)
    expect([...painter.wideSpan.slice(0, painter.wideCount)]).toEqual([0, 1, 2])
  })
})

describe('rows', () => {
  it('are found by height, and closed groups show their passes', () => {
    const one = model(columns(3))
    const open = layout(one, new Set(), 600)
    expect(open.rows.length).toBe(6)
    for (const [at, row] of open.rows.entries()) expect(rowAt(open, row.top + 2, 0)).toBe(at)
    expect(rowAt(open, open.height + 50, 0)).toBe(-1)
    const closed = layout(one, new Set(['stage 0', 'stage 1', 'stage 2']), 600)
    expect(closed.rows.map((row) => row.track?.name)).toEqual(['passes', 'passes', 'passes'])
    expect([...closed.rowOf]).toEqual([0, -1, 1, -1, 2, -1])
  })

  it('grow with the canvas up to a limit, beyond which a canvas would be empty', () => {
    const one = model(columns(3))
    const limit = tallest(one, new Set())
    expect(layout(one, new Set(), 150).height).toBeLessThan(limit)
    expect(layout(one, new Set(), limit + 500).height).toBe(limit)
    expect(tallest(one, new Set(['stage 0', 'stage 1', 'stage 2']))).toBeLessThan(limit)
  })

  it('name the rank once', () => {
    const [track] = model(columns(1)).tracks
    expect(rankOf({ ...track!, rank: 6 }, 'stage 1')).toBe('rank 6')
    expect(rankOf({ ...track!, rank: 6 }, 'stage 1, rank 6')).toBe('')
  })
})

describe('two answers beside each other', () => {
  it('put what was expected beneath, and keep every place', () => {
    const both = beside(columns(2), columns(2, 50))
    expect(both.tracks.map((track) => track.name)).toEqual(['passes', 'expected', 'compute', 'passes', 'expected', 'compute'])
    expect(both.tracks.map((track) => track.id)).toEqual([0, 1, 2, 3, 4, 5])
    expect(both.duration_ns).toBe(150)
    expect(both.critical).toEqual([[0, 0]])
    expect(both.marks[0]!.track).toBe(2)
    const names = both.tracks[1]!.names.map((name) => both.names[name])
    expect(names).toEqual(['forward', 'bubble', 'backward'])
  })
})

describe('times', () => {
  it('read well', () => {
    expect([0, 12, 1234, 56_780_000, 2.5e9, 152.6e9].map(span)).toEqual(['0 s', '12.0 ns', '1.23 µs', '56.8 ms', '2.50 s', '2 min 33 s'])
    expect([tick(3), tick(20), tick(60)]).toEqual([5, 20, 100])
    expect(moment(30.13e9, 1e7, 32e9)).toBe('30.13 s')
    // A step of less than a second has milliseconds, not hundredths of a second.
    expect([0, 1e7, 4e7].map((at) => moment(at, 1e7, 46e6))).toEqual(['0 ms', '10 ms', '40 ms'])
    expect(moment(2.5e3, 500, 9e3)).toBe('2.5 µs')
    expect([instant(18_203_412_345, 188e6), instant(18_203_412_345, 2000), instant(0, 5)]).toEqual(['18.203 s', '18.20341235 s', '0 s'])
  })
})

describe('names of rows without room', () => {
  it('keep the end that tells them apart', () => {
    const rows = ['communication 0', 'communication 1', 'communication 2', 'communication 2 (2)'].map((name) => shortened(name, 12))
    expect(rows).toEqual(['communicat… 0', 'communicat… 1', 'communicat… 2', 'commun… 2 (2)'])
    expect(new Set(rows).size).toBe(4)
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(13)
  })

  it('without an end are cut there, and left out where nothing would be legible', () => {
    expect(shortened('ncclDevKernel_AllReduce', 8)).toBe('ncclDevK…')
    expect(shortened('communication 0', 2)).toBe('')
  })
})
