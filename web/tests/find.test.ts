// What the timeline finds for a text.
import { describe, expect, it } from 'vitest'
import { matcher } from '../src/timeline/find'

const names = ['forward', 'backward', 'ncclDevKernel_AllReduce', 'layer 30']
const found = (text: string) => {
  const hits = matcher(text, names)
  return names.flatMap((name, at) => [-1, 3, 30].filter((batch) => hits(at, batch)).map((batch) => `${name}:${batch}`))
}

describe('find', () => {
  it('takes a part of a name', () =>
    expect(found('allreduce')).toEqual(['ncclDevKernel_AllReduce:-1', 'ncclDevKernel_AllReduce:3', 'ncclDevKernel_AllReduce:30']))
  it('takes a bar as it is labelled', () => expect(found('forward 30')).toEqual(['forward:30']))
  it('takes a name that ends in a number', () => expect(found('Layer  30')).toEqual(['layer 30:-1', 'layer 30:3', 'layer 30:30']))
  it('takes a micro-batch', () => expect(found('#3')).toEqual(names.map((name) => `${name}:3`)))
  it('waits while a name is typed', () => expect(found('forward ')).toEqual(['forward:-1', 'forward:3', 'forward:30']))
  it('finds nothing for nothing', () => expect(found(' ')).toEqual([]))
})
