// The sums of a marked range as rows of a table, a flame graph and CSV.

import { describe, expect, it } from 'vitest'
import { flame } from '../src/timeline/flame'
import { beside } from '../src/timeline/beside'
import { type RawColumns, model } from '../src/timeline/data'
import { sumsOf } from '../src/timeline/sums'

const track = (id: number, stage: number) => ({
  id,
  group: `stage ${stage}`,
  name: 'passes',
  rank: stage,
  stage,
  starts: [0],
  lengths: [10],
  names: [0],
  colours: [0],
})
const columns = (tracks: RawColumns['tracks']): RawColumns => ({
  label: 'step 1',
  duration_ns: 10,
  tracks,
  names: ['forward'],
  classes: ['forward'],
  critical: [],
  marks: [],
})

describe('sums of a marked range', () => {
  it('rows keep their numbers of the measured answer beneath a predicted row', () => {
    const both = model(beside(columns([track(0, 0), track(1, 1)]), columns([track(0, 0), track(1, 1)])))
    expect(both.tracks.map((one) => [one.name, one.source])).toEqual([
      ['passes', 0],
      ['expected', -1],
      ['passes', 1],
      ['expected', -1],
    ])
  })

  it('nodes of the flame graph have identifiers of their own and the class of their spans', () => {
    const node = (name: string, total_ns: number, cls: 'forward' | null, children: Parameters<typeof flame>[0][] = []) => ({
      name,
      class: cls,
      count: 1,
      total_ns,
      share: total_ns / 10,
      children,
    })
    const { tree, classes } = flame(
      node('range', 10, null, [node('stream 7', 4, null, [node('forward', 4, 'forward', [node('gemm', 4, 'forward')])])]),
    )
    const gemm = tree.children[0]!.children[0]!.children[0]!
    expect([gemm.title, gemm.time, gemm.share]).toEqual(['gemm', 4e-9, 0.4])
    expect(classes.get(gemm.id)).toBe('forward')
    expect(classes.has(tree.children[0]!.id)).toBe(false)
  })
})

describe('sums of a range of a modelled step', () => {
  const passes = (id: number, stage: number) => ({
    ...track(id, stage),
    starts: [0, 4, 10],
    lengths: [4, 6, 10],
    names: [0, 1, 0],
    colours: [0, 1, 0],
  })
  const modelled = model({
    ...columns([passes(0, 0), passes(1, 1)]),
    duration_ns: 20,
    names: ['forward', 'bubble'],
    classes: ['forward', 'bubble'],
  })

  it('count the part of a span within the range, on the chosen rows alone', () => {
    const { names, count, rows, ranks } = sumsOf(modelled, { from: 2, to: 12 }, [0])
    expect([count, rows, ranks]).toEqual([3, 1, 1])
    expect(names.map((one) => [one.name, one.count, one.total_ns, one.mean_ns, one.longest_ns, one.share])).toEqual([
      ['bubble', 1, 6, 6, 6, 0.6],
      ['forward', 2, 4, 2, 2, 0.4],
    ])
  })

  it('add up in the tree, whose rows of one name are one node', () => {
    const { tree } = sumsOf(modelled, { from: 0, to: 20 }, [0, 1])
    expect([tree.total_ns, tree.share]).toEqual([40, 1])
    expect(tree.children.map((row) => [row.name, row.class, row.total_ns])).toEqual([['passes', null, 40]])
    expect(tree.children[0]!.children.map((one) => [one.name, one.class, one.total_ns])).toEqual([
      ['forward', 'forward', 28],
      ['bubble', 'bubble', 12],
    ])
  })

  it('count a merged span as many, with its busy time', () => {
    const merged = model({ ...columns([{ ...track(0, 0), counts: [5], busy: [8] }]) })
    const [one] = sumsOf(merged, { from: 0, to: 5 }, [0]).names
    expect([one!.count, one!.total_ns]).toEqual([5, 4])
  })
})
