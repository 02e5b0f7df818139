// Scales, labels, fronts, sparse cells: what the charts draw from.
import { describe, expect, it } from 'vitest'
import { place, spread } from '../src/charts/axes/labels'
import { extent, linear, log, padded } from '../src/charts/axes/scale'
import { byPlace, jump, shade, shadesOf } from '../src/charts/heatmap/cells'
import { front, nearest, next } from '../src/charts/scatter/model'
import { roofLabels } from '../src/charts/scatter/scatter'

describe('scales', () => {
  it('name round values without stray digits', () => {
    expect(linear([0, 1], [0, 100]).ticks(5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1])
    expect(linear([17.2, 21.4], [0, 100]).ticks(4)).toEqual([18, 20])
  })
  it('name powers over many decades and fine steps within less than one', () => {
    expect(log([1, 1e6], [0, 100]).ticks(4)).toEqual([1, 10, 100, 1000, 1e4, 1e5, 1e6])
    expect(log([18.5, 21.5], [0, 100]).ticks(3)).toEqual([19, 20, 21])
  })
  it('go there and back', () => {
    const scale = log([8, 4096], [40, 640])
    expect(scale.invert(scale.at(512))).toBeCloseTo(512, 6)
    expect(scale.at(8)).toBeCloseTo(40)
  })
  it('keep what was not negative at or above zero', () => {
    expect(padded([1, 100])[0]).toBe(0)
    expect(extent([NaN, 3, Infinity, -1])).toEqual([-1, 3])
    expect(extent([])).toBeNull()
  })
})

describe('labels', () => {
  it('never lie on each other', () => {
    const wanted = Array.from({ length: 30 }, (_, n) => ({ id: String(n), text: `label ${n}`, x: 100 + (n % 3), y: 100 + n }))
    const placed = place(wanted, { x: 0, y: 0, width: 300, height: 300 })
    expect(placed.length).toBeGreaterThan(2)
    for (const a of placed) {
      for (const b of placed) {
        if (a.id < b.id && a.anchor === b.anchor && Math.abs(a.x - b.x) < 20) expect(Math.abs(a.y - b.y)).toBeGreaterThan(11)
      }
    }
  })
  it('are spread apart in order and stay inside', () => {
    const found = spread([50, 51, 10], 15, 0, 100)
    expect((found[1] ?? 0) - (found[0] ?? 0)).toBeGreaterThanOrEqual(15)
    expect(found[2]).toBe(10)
    expect(Math.max(...spread([99, 99, 99], 15, 0, 100))).toBeLessThanOrEqual(100)
  })
})

describe('points', () => {
  const spots = [
    { id: 'a', x: 0, y: 9 },
    { id: 'b', x: 5, y: 5 },
    { id: 'c', x: 9, y: 0 },
  ]
  it('are walked along the axis of the arrow', () => {
    expect(next(spots, null, 'ArrowRight')).toBe('a')
    expect(next(spots, 'a', 'ArrowRight')).toBe('b')
    expect(next(spots, 'a', 'ArrowUp')).toBe('b')
    expect(next(spots, 'c', 'ArrowRight')).toBe('c')
    expect(next(spots, 'b', 'End')).toBe('c')
    expect(next([], 'b', 'End')).toBeNull()
  })
  it('are found within reach only', () => {
    expect(nearest(spots, 4, 4, 3)).toBe('b')
    expect(nearest(spots, 100, 100, 3)).toBeNull()
  })
  it('have a front that nothing beats in both', () => {
    const points = [
      { x: 3, y: 3 },
      { x: 1, y: 5 },
      { x: 2, y: 6 },
      { x: 4, y: 1 },
      { x: 4, y: 2 },
    ]
    expect(front(points)).toEqual([
      { x: 1, y: 5 },
      { x: 3, y: 3 },
      { x: 4, y: 1 },
    ])
  })
})

describe('cells', () => {
  it('are shaded by factors, at most six decades', () => {
    const shades = shadesOf([
      [0, 0, 1],
      [0, 1, 1e9],
      [1, 1, 0],
    ])
    expect(shades).toEqual({ least: 1e3, most: 1e9 })
    expect(shade(1e6, { least: 1e3, most: 1e9 })).toBeCloseTo(0.5)
    expect(shade(1, { least: 1e3, most: 1e9 })).toBe(0)
    expect(shadesOf([])).toBeNull()
  })
  it('are jumped between', () => {
    const values = byPlace({
      side: 8,
      cells: [
        [0, 5, 1],
        [7, 5, 1],
      ],
    })
    expect(jump(values, 8, [0, 0], [0, 1])).toEqual([0, 5])
    expect(jump(values, 8, [0, 5], [1, 0])).toEqual([7, 5])
    expect(jump(values, 8, [7, 5], [0, 1])).toEqual([7, 5])
  })
})

it('labels of near roofs do not cover each other', () => {
  const scale = { at: (value: number) => value }
  const roof = (label: string, y: number) => ({ label, from: [0, y] as const, to: [500, y] as const })
  const labels = roofLabels([roof('fp16 989 TFLOP/s', 100), roof('tf32 495 TFLOP/s', 105), roof('bf16 980 TFLOP/s', 102)], scale, scale)
  expect(labels.map(({ y }) => y)).toEqual([95, 118, 97])
  expect(labels.slice(0, 2).map(({ x }) => x)).toEqual([500, 500])
  expect(labels[2]!.x).toBeLessThan(500 - labels[0]!.width)
})

it('labels of roofs leave out points', () => {
  const scale = { at: (value: number) => value }
  const roof = { label: 'bf16 989 TFLOP/s', from: [0, 100] as const, to: [500, 100] as const }
  const y = (points: readonly { x: number; y: number }[]) => roofLabels([roof], scale, scale, points)[0]!.y
  expect(y([])).toBe(95)
  expect(y([{ x: 480, y: 98 }])).toBe(113 + 13)
  expect(y([{ x: 480, y: 85 }])).toBe(113)
  expect(y([{ x: 100, y: 98 }])).toBe(95)
})
