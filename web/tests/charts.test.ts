// Layouts and numbers of charts.
import { describe, expect, it } from 'vitest'
import { band } from '../src/charts/area'
import { captioned, csvHead, csvText } from '../src/charts/export'
import * as format from '../src/charts/format'
import { settingText } from '../src/charts/source'
import { words } from '../src/views/traces/types'
import { ticks } from '../src/charts/scale'
import { squarify } from '../src/charts/treemap-layout'

describe('numbers for people', () => {
  it('have three digits and a prefix', () => {
    expect(format.seconds(21.0529)).toBe('21.1 s')
    expect(format.seconds(0.0158)).toBe('15.8 ms')
    expect(format.seconds(0.000_415_8)).toBe('416 µs')
    expect(format.seconds(0.9999)).toBe('1.00 s')
    expect(format.seconds(78_302_667)).toBe('906 days')
    expect(format.bytes(56_314_113_556)).toBe('52.4 GiB')
    expect(format.dollars(66_595_548)).toBe('$66.6 M')
    expect(format.energy(33_548_342)).toBe('33.5 GWh')
    expect(format.amount(405_853_388_800)).toBe('405.9B')
    expect(format.percent(0.51627)).toBe('51.6%')
    expect(format.percent(0.999_993)).toBe('>99.9%')
  })

  it('vouches for no digits of a chance', () => {
    expect([1, 0.28, 1e-40].map(format.chance)).toEqual(['over 99%', '28%', 'under 1%'])
    expect(format.volume(134_217_728)).toBe('134 MB')
  })

  it('says differences with a sign', () => {
    expect(format.relative(110, 100)).toBe('+10%')
    expect(format.relative(96, 100)).toBe('−4.0%')
    expect(format.relative(1, 1)).toBe('=')
    expect(format.relative(1.0001, 1)).toBe('≈')
  })
})

it('has round ticks within the domain', () => {
  expect(ticks(0, 80, 5)).toEqual([0, 20, 40, 60, 80])
  expect(ticks(5, 5)).toEqual([5])
})

describe('the treemap', () => {
  it('gives every value its area, inside the box', () => {
    const values = [6, 6, 4, 3, 2, 2, 1]
    const boxes = squarify(values, { x: 0, y: 0, width: 600, height: 400 })
    boxes.forEach((box, index) => {
      expect(box.width * box.height).toBeCloseTo(((values[index] ?? 0) / 24) * 240_000, 3)
      expect(box.x + box.width).toBeLessThanOrEqual(600.001)
      expect(box.y + box.height).toBeLessThanOrEqual(400.001)
    })
    // The example of the paper: no rectangle is longer than three times its width.
    expect(Math.max(...boxes.map((box) => Math.max(box.width / box.height, box.height / box.width)))).toBeLessThan(3.1)
  })

  it('survives nothing', () => {
    expect(squarify([0, 0], { x: 0, y: 0, width: 10, height: 10 })).toHaveLength(2)
    expect(squarify([], { x: 0, y: 0, width: 10, height: 10 })).toEqual([])
  })
})

it('quotes what CSV must quote', () => {
  expect(
    csvText({
      columns: ['a', 'b'],
      rows: [
        ['x,y', 1.5],
        ['say "no"', null],
      ],
    }),
  ).toBe('a,b\n"x,y",1.5\n"say ""no""",\n')
})

describe('a saved chart', () => {
  const caption = {
    title: 'Memory & time',
    about: 'GiB',
    legend: [
      { title: 'one', colour: '#111111' },
      { title: 'two', colour: '#222222' },
    ],
    source: 'model a (Railwright, 2026-01-01)',
  }
  const inks = { back: '#fff', text: '#000', muted: '#555', font: 'sans-serif' }
  it('carries title, unit, colours and source around its drawing', () => {
    const { text, width, height } = captioned(
      '<svg width="400" height="100"><g/></svg>',
      { width: 400, height: 100 },
      caption,
      inks,
      (part) => part.length * 6,
    )
    for (const part of ['Memory &amp; time', '>GiB<', '>one<', '#222222', 'model a (Railwright, 2026-01-01)', '<g/>'])
      expect(text).toContain(part)
    expect(width).toBe(432)
    expect(height).toBeGreaterThan(170)
  })

  it('wraps what is longer than the drawing', () => {
    const { text } = captioned(
      '<svg></svg>',
      { width: 100, height: 10 },
      { ...caption, source: 'word '.repeat(40) },
      inks,
      (part) => part.length * 6,
    )
    expect(text.match(/>word word/g)?.length).toBeGreaterThan(2)
  })

  it('names itself above a CSV', () => expect(csvHead(caption)).toBe('# Memory & time: GiB\n# model a (Railwright, 2026-01-01)\n'))
})

describe('band', () => {
  const at = (value: number) => value * 10
  it('is one line for neighbours of the same height', () => {
    expect(band([0, 0, 0, 0], [2, 2, 2, 3], at, at)).toBe('M0 20H30V30H40V0H0Z')
  })

  it('follows the floor backwards', () => {
    expect(band([1, 2, 2], [3, 3, 3], at, at)).toBe('M0 30H30V20H10V10H0Z')
  })

  it('is empty without samples', () => expect(band([], [], at, at)).toBe(''))
})

describe('settingText', () => {
  it('writes numbers with their unit or thousands', () => {
    expect(settingText('tokens', '1000000000000')).toBe('tokens 1T')
    expect(settingText('tokens', '15.6T')).toBe('tokens 15.6T')
    expect(settingText('gpus', '16384')).toBe('gpus 16,384')
  })

  it('names switches', () => {
    expect(settingText('uneven-stages', 'true')).toBe('uneven stages')
    expect(settingText('sequence-parallel', 'false')).toBe('no sequence parallel')
  })
})

describe('words of parts', () => {
  it('are those of the field', () => {
    expect(words('matrix products')).toBe('GEMMs')
    expect(words('matrix_product')).toBe('GEMM')
    expect(words('synchronisation')).toBe('synchronization')
    expect(words('tensor_communication_waiting')).toBe('tensor communication, waiting')
  })
})
