// Answers of changing questions: an old answer under a refusal is dimmed, and a question that takes too long goes on as a job.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Follower, type Live, sameDrawn } from '../src/api/live'

afterEach(() => vi.unstubAllGlobals())

const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status })

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 100 && !holds(); tries++) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(holds()).toBe(true)
}

describe('an answer for charts', () => {
  const live: Live<number> = { answer: 1, outcome: 'yes', commandLine: '', notes: [], problems: [], loading: false, stale: false, of: 'a' }
  const drawn = (next: Live<number> | null) => sameDrawn<number, Live<number> | null>(live, next)

  it('is not drawn again for a question on its way', () => {
    expect(drawn({ ...live, loading: true })).toBe(live)
  })

  it('is drawn again for another answer, and dimmed when it is that of an older question', () => {
    for (const change of [{ answer: 2 }, { stale: true }, { problems: [{ message: 'no' }] }, { notes: ['x'] }]) {
      const next = { ...live, ...change }
      expect(drawn(next)).toBe(next)
    }
    expect(drawn(null)).toBe(null)
  })
})

describe('a question', () => {
  it('that is refused dims the answer of the one before, and the next answer is not dimmed', async () => {
    vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) =>
      body.includes('bad') ? json(422, { problems: [{ message: 'no' }] }) : json(200, { asked: body.length }),
    )
    const follower = new Follower<{ asked: number }>()
    follower.put('live-a', { model: 'x' })
    await until(() => follower.state.value.answer !== null)
    expect(follower.state.value.stale).toBe(false)
    follower.put('live-a', { model: 'bad' })
    await until(() => follower.state.value.problems.length > 0)
    expect(follower.state.value.answer).not.toBeNull()
    expect(follower.state.value.stale).toBe(true)
    follower.put('live-a', { model: 'yy' })
    await until(() => follower.state.value.problems.length === 0 && !follower.state.value.loading)
    expect(follower.state.value.stale).toBe(false)
  })

  it('for details waits for a rest of the changes, and only the last one is sent', async () => {
    const asked: string[] = []
    vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => (asked.push(body), json(200, { asked: 1 })))
    const follower = new Follower<{ asked: number }>(40, false)
    for (const model of ['r1', 'r2', 'r3']) {
      follower.put('live-rest', { model })
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(asked).toEqual([])
    await until(() => follower.state.value.answer !== null)
    expect(asked.length).toBe(1)
    expect(asked[0]).toContain('r3')
  })

  it('for details waits for key figures on their way', async () => {
    const open: (() => void)[] = []
    const asked: string[] = []
    vi.stubGlobal('fetch', (url: string) => {
      asked.push(url)
      return new Promise((resolve) => open.push(() => resolve(json(200, { asked: 1 }))))
    })
    const figures = new Follower<{ asked: number }>()
    const details = new Follower<{ asked: number }>(10, false)
    figures.put('live-figures', { model: 'f1' })
    details.put('live-details', { model: 'f1' })
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(asked.length).toBe(1)
    open[0]!()
    await until(() => asked.length === 2)
    expect(asked[1]).toContain('live-details')
    open[1]!()
    await until(() => details.state.value.answer !== null)
  })

  it('for details waits for the one that runs, and for no longer than a slow one may delay it', async () => {
    const open: (() => void)[] = []
    const asked: string[] = []
    vi.stubGlobal('fetch', (_: string, { body }: { body: string }) => {
      asked.push(body)
      return new Promise((resolve) => open.push(() => resolve(json(200, { asked: 1 }))))
    })
    const followers = [1, 2, 3].map(() => new Follower<{ asked: number }>(10))
    followers.forEach((one, at) => one.put('live-turn', { model: `t${at}` }))
    expect(asked.length).toBe(1)
    open[0]!()
    await until(() => asked.length === 2)
    expect(followers[0]!.state.value.answer).not.toBeNull()
    // The second never answers: the third is sent after 250 ms.
    await until(() => asked.length === 3)
    open[2]!()
    await until(() => followers[2]!.state.value.answer !== null)
    followers[1]!.stop()
  })

  it('that takes longer than a reply may wait goes on as a job', async () => {
    const asked: string[] = []
    vi.stubGlobal('fetch', async (path: string) => {
      asked.push(path)
      return path.endsWith('/jobs') ? json(202, { job: '7' }) : json(504, { problems: [{ message: 'this took more than 120 s' }] })
    })
    class Events {
      readyState = 1
      constructor(readonly path: string) {
        asked.push(path)
      }
      addEventListener(kind: string, act: (event: { data: string }) => void) {
        if (kind === 'answer') setTimeout(() => act({ data: '{"answer":{"ranks":4096},"outcome":"yes"}' }), 1)
      }
      close() {}
    }
    vi.stubGlobal('EventSource', Events)
    const follower = new Follower<{ ranks: number }>()
    follower.put('stragglers', { paths: ['/traces'] })
    await until(() => follower.state.value.answer !== null)
    expect(follower.state.value.answer).toEqual({ ranks: 4096 })
    expect(follower.state.value.problems).toEqual([])
    expect(asked).toEqual(['./api/v1/stragglers', './api/v1/jobs', './api/v1/jobs/7/events'])
  })
})
