// Numbers with units and settings by name: texts of older links to controls, and back to the same texts.
import { describe, expect, it } from 'vitest'
import { COUNT, DAYS, GIGABITS, MILLIONS, PERCENT, quantityOf, unitsOf } from '../src/state/amounts'
import { changeOf, changeText, chosenPairs, controlOf, formOf, pairsOf, pairsText } from '../src/state/settings'
import { failures, kindsOf, partsOf } from '../src/views/network/failures-of-parts'
import { priceArguments, pricesOf } from '../src/views/network/scale-up-prices'
import { named, strategiesOf } from '../src/views/search/strategies'
import { nameOfModel } from '../src/views/calculator/wording'
import { placeText } from '../src/ui/states'
import { titleOf } from '../src/views/whatif/changes'

describe('amounts', () => {
  it.each([
    [GIGABITS, '200G', 200],
    [GIGABITS, '400 Gbit/s', 400],
    [GIGABITS, '50 GB/s', 400],
    [GIGABITS, '1.6T', 1600],
    [GIGABITS, 'fast', null],
    [COUNT, '64', 64],
    [COUNT, '64..128', null],
    [PERCENT, '0.2', 20],
    [PERCENT, 'spare=0.5', null],
    [DAYS, '90d', 90],
    [DAYS, '48h', 2],
    [DAYS, '90', null],
    [MILLIONS, '300K', 0.3],
    [MILLIONS, '$30M', 30],
    [MILLIONS, '1.5B', 1500],
  ])('%o reads %s as %s', (unit, text, value) => {
    expect(unit.read(text)).toBe(value)
  })
  it('write what they read', () => {
    for (const [unit, value] of [
      [GIGABITS, 800],
      [PERCENT, 35],
      [DAYS, 30],
      [MILLIONS, 2.5],
    ] as const)
      expect(unit.read(unit.write(value))).toBe(value)
  })
  it('have the units of the program’s examples', () => {
    expect(unitsOf(['400 Gbit/s', '50 GB/s'])).toEqual(['Gbit/s', 'GB/s'])
    expect(unitsOf(['14.8T', '300B'])).toEqual(['T', 'B'])
    expect(quantityOf('5us')).toEqual({ value: 5, unit: 'us' })
    expect(quantityOf('fast')).toBeNull()
  })
})

describe('settings', () => {
  it('get the control of their kind', () => {
    expect(controlOf({ kind: 'flag' })).toEqual({ is: 'choice', options: ['true', 'false'] })
    expect(controlOf({ kind: 'count' }, ['1', '2'])).toEqual({ is: 'choice', options: ['1', '2'] })
    expect(controlOf({ kind: 'count' })).toEqual({ is: 'number', whole: true })
    expect(controlOf({ kind: 'quantity', choices: ['5 us', '2 ms'] })).toEqual({ is: 'quantity', units: ['us', 'ms'] })
    expect(controlOf({ kind: 'choice', choices: ['ecmp', 'spray'] })).toEqual({ is: 'choice', options: ['ecmp', 'spray'] })
  })
  it('of a form are a word, with its number where an example has one', () => {
    const control = controlOf({ kind: 'form', choices: ['none', 'full', 'full:5', 'selective:moe:4'] })
    expect(control.is).toBe('form')
    if (control.is !== 'form') return
    expect(formOf('full', control.forms)).toEqual({ form: { head: 'full', hasNumber: false }, number: '' })
    expect(formOf('full:7', control.forms)).toEqual({ form: { head: 'full:', hasNumber: true }, number: '7' })
    expect(formOf('selective:core_attention,mlp', control.forms)).toBeNull()
  })
  it('are read from older links, a comma within a value included', () => {
    expect(pairsOf('tp=8,recompute=selective:a,b,pp=2')).toEqual([
      ['tp', '8'],
      ['recompute', 'selective:a,b'],
      ['pp', '2'],
    ])
    expect(pairsOf('tiers=2 speed=400 Gbit/s routing=spray', ' ')).toEqual([
      ['tiers', '2'],
      ['speed', '400 Gbit/s'],
      ['routing', 'spray'],
    ])
    expect(pairsText(pairsOf('tiers=2 routing=spray', ' '), ' ')).toBe('tiers=2 routing=spray')
    expect(chosenPairs(pairsOf('tp=,pp=2'))).toEqual([['pp', '2']])
  })
  it('change by a factor or a percentage', () => {
    expect(changeOf('x2')).toEqual({ operator: 'x', value: '2' })
    expect(changeOf('-10%')).toEqual({ operator: '%', value: '-10' })
    expect(changeOf('800 Gbit/s')).toEqual({ operator: '=', value: '800 Gbit/s' })
    for (const text of ['x1.5', '+10%', '-10%', '4']) expect(changeText(changeOf(text).operator, changeOf(text).value)).toBe(text)
  })
})

describe('failed parts', () => {
  it('are kinds with numbers', () => {
    expect(partsOf('nic:3 leaf#0,link:leaf-spine:5')).toEqual([
      { kind: 'nic', number: '3' },
      { kind: 'leaf', number: '0' },
      { kind: 'link:leaf-spine', number: '5' },
    ])
    expect(failures('nic:3 spine:')).toEqual(['nic:3'])
  })
  it('are those that the design has', () => {
    const counts = { nics: 8, tiers: [{ name: 'leaf', switches: 2 }], layers: [{ layer: 'leaf_spine', links: 0 }] }
    const kinds = kindsOf({ counts } as unknown as Parameters<typeof kindsOf>[0])
    expect(kinds.map((one) => [one.name, one.count])).toEqual([
      ['nic', 8],
      ['leaf', 2],
    ])
  })
})

describe('prices of scale-up domains', () => {
  it('are rows of a size and a price, with blanks or commas between them', () => {
    expect(pricesOf('64=2500, 256=6000')).toEqual([
      ['64', '2500'],
      ['256', '6000'],
    ])
    expect(priceArguments('64=2500 72=')).toEqual(['64=2500'])
  })
})

describe('strategies', () => {
  it('are separated by blanks; those without a value are not asked about', () => {
    expect(strategiesOf('tp=8,pp=4 tp=4')).toEqual([
      [
        ['tp', '8'],
        ['pp', '4'],
      ],
      [['tp', '4']],
    ])
    expect(named('tp=8,pp= cp=')).toEqual(['tp=8'])
  })
})

describe('changes', () => {
  it('have words', () => {
    expect(titleOf('plan.tensor_parallel=4,plan.pipeline_parallel=8')).toBe('tensor parallel 4, pipeline parallel 8')
    expect(titleOf('cluster.memory=x1.5')).toBe('memory × 1.5')
    expect(titleOf('all together')).toBe('all together')
  })
})

describe('names', () => {
  it('of settings and files are those of the page, not flags and places on the server', () => {
    expect(placeText({ file: '--pipeline-parallel' })).toBe('pipeline parallel')
    expect(placeText({ file: 'run.toml', line: 3, key: 'plan.tp' })).toBe('run.toml:3 plan.tp')
    expect(nameOfModel('upload:44136fa355', 'upload:44136fa355/config.json')).toBe('config.json')
    expect(nameOfModel('llama-3-8b', 'llama-3-8b')).toBe('llama-3-8b')
  })
})
