// The bundled runs are those of the catalogue, and their errors are those of docs/validation.md.
import { describe, expect, it } from 'vitest'
import source from '../../catalog/evidence/left_out.csv?raw'
import report from '../../docs/validation.md?raw'
import readme from '../../README.md?raw'
import { byPublication, distance, errors, nearest, runsOf } from '../src/views/reference/evidence'
import evidence from '../src/views/reference/left-out.json'
import { laterPublications } from '../src/words/reference'

const runs = runsOf(evidence)

describe('the bundled runs', () => {
  it('are the rows of the catalogue (node scripts/left-out.mjs)', () => {
    const [names, ...lines] = source.trim().split('\n')
    // Only the first columns may hold a comma.
    const behind = (name: string) => (names?.split(',').reverse().indexOf(name) ?? -1) + 1
    expect(runs.length).toBe(lines.length)
    lines.forEach((line, at) => {
      const [leftOut, fitted, measured] = ['left_out_s', 'fitted_s', 'measured_s'].map((name) => Number(line.split(',').at(-behind(name))))
      expect([runs[at]?.measured, runs[at]?.fitted, runs[at]?.heldOut]).toEqual([measured, fitted, leftOut])
      expect(line).toContain(runs[at]?.publication.replaceAll('"', '""'))
    })
  })

  it('that are nearest are like the run, one of a kind each', () => {
    const own = { parameters: 70, experts: false, gpu: 'H100 SXM5 80GB', gpus: 64, sequence: 8192 }
    const found = nearest(own, runs, 6)
    expect(found.length).toBe(6)
    for (const run of found) {
      expect(run.gpu).toMatch(/^H100/)
      expect(run.experts).toBe(false)
      expect(run.parameters).toBeGreaterThan(30)
    }
    expect(new Set(found.map((run) => `${run.publication} ${run.model} ${run.gpu} ${run.gpus}`)).size).toBe(6)
    const far = found.map((run) => distance(own, run))
    expect(far).toEqual([...far].sort((a, b) => a - b))
  })

  it('have the errors of docs/validation.md', () => {
    const [, publications, count, heldOut, heldOut90, , , fitted, fitted90] = (/^\| \*\*all\*\* .*$/m.exec(report)?.[0] ?? '')
      .split('|')
      .slice(1)
      .map((cell) => parseFloat(cell))
    expect(byPublication(runs).length).toBe(publications)
    expect(runs.length).toBe(count)
    const figures = [errors(runs, 'heldOut'), errors(runs, 'fitted')].flatMap((one) =>
      [one.median, one.ninth].map((share) => Math.round(share * 1000) / 10),
    )
    for (const [at, figure] of [heldOut, heldOut90, fitted, fitted90].entries())
      expect(Math.abs((figures[at] ?? 0) - (figure ?? 0))).toBeLessThanOrEqual(0.11)
  })
})

it('errors of later publications are those of the README', () => {
  const medians = /medians of [\d.]+% to [\d.]+%/.exec(readme)?.[0]
  expect(medians).toBeDefined()
  expect(laterPublications).toContain(medians)
})
