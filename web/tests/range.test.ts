// The sums of a marked range as rows of a table, a flame graph and CSV.

import { describe, expect, it } from 'vitest'
import { flame } from '../src/timeline/flame'
import { beside } from '../src/timeline/beside'
import { type RawColumns, model } from '../src/timeline/data'

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
