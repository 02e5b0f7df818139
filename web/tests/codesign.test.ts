// The answer of a co-design on the program's own: 64 H100, domains of 8 and 64 (fixtures made by `network design --json`).
import { describe, expect, it } from 'vitest'
import type { DesignAnswer, DesignRow } from '../src/views/network/answer'
import { groupsOf, sorted, stepOf, verdictOf } from '../src/views/network/codesign-answer'
import { usedBy } from '../src/views/network/codesign-scope'
import { COUNT, GIGABITS } from '../src/state/amounts'
import answered from './fixtures/codesign.json'

const answer = answered as unknown as DesignAnswer

describe('co-design', () => {
  it('has the lowest cost per token first, and networks that cannot be distinguished together', () => {
    const verdict = verdictOf(answer)
    expect(verdict.is).toBe('cheapest')
    if (verdict.is !== 'cheapest') return
    expect(verdict.best.rows.map((row) => row.topology)).toEqual(['clos', 'rail-optimized', 'rail-only'])
    expect(verdict.token).toBeCloseTo(0.03002, 5)
    expect(verdict.tied).toBe(3)
    expect(verdict.dearer).toBeNull()
    expect(verdict.next?.row.speed).toBe(50e9)
    expect(verdict.next?.by).toBeCloseTo(0.0378, 3)
  })
  it('names the price difference within a tie', () => {
    const costly = answer.rows.map((row, at): DesignRow => (at === 6 ? { ...row, dollars: row.dollars + 1000 } : row))
    const verdict = verdictOf({ ...answer, rows: costly })
    if (verdict.is !== 'cheapest') throw new Error(verdict.is)
    expect(verdict.best.rows.map((row) => row.topology)).toEqual(['clos', 'rail-optimized'])
    expect(verdict.dearer).toBeCloseTo(1000)
  })
  it('recommends nothing after a stop, and has the reason where nothing fits', () => {
    expect(verdictOf({ ...answer, complete: false }).is).toBe('stopped')
    const none = answer.rows.map((row): DesignRow => ({ ...row, step_time: null }))
    const classes = answer.classes.map((one) => ({ ...one, reason: 'too large' }))
    expect(verdictOf({ ...answer, rows: none, classes })).toEqual({ is: 'nothing', reason: 'too large' })
    expect(verdictOf({ ...answer, contenders: [] }).is).toBe('unpriced')
  })
  it('has lines that decide first, no network twice', () => {
    const groups = groupsOf(answer)
    expect(groups.reduce((sum, group) => sum + group.rows.length, 0)).toBe(answer.rows.length)
    const { first, rest } = sorted(groups)
    expect(first[0]?.isContender).toBe(true)
    expect(first.every((group) => group.isFront || group.isContender)).toBe(true)
    expect(rest.some((group) => group.isFront)).toBe(false)
    expect(first.length).toBe(4)
  })
  it('shows the simulated step, as reports and pictures of the program do', () => {
    const [row] = answer.rows.filter((one) => one.simulated !== null)
    if (!row?.simulated) throw new Error('no simulated row')
    expect(stepOf(row)).toBe(row.simulated.step_time)
    expect(stepOf({ ...row, simulated: null })).toBe(row.step_time)
    const slow: DesignRow = { ...row, simulated: { ...row.simulated, step_time: 2 * row.simulated.step_time } }
    expect(groupsOf({ rows: [row, slow], contenders: [] })).toHaveLength(2)
  })
  it('has what the program took for open fields', () => {
    expect(usedBy(answer.rows, (row) => row.domain, COUNT)).toBe('8, 64')
    expect(usedBy(answer.rows, (row) => (row.speed * 8) / 1e9, GIGABITS)).toBe('200, 400, 800')
  })
})
