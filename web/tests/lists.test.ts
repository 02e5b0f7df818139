// Lists of names that are long: folded in messages, and with a value that is not among them.
import { expect, it } from 'vitest'
import { fold } from '../src/ui/states'
import { shortened } from '../src/views/parts/open'
import { optionsOf } from '../src/views/parts/run-bar'

it('a hint with very many names shows the first, and how many there are', () => {
  const names = Array.from({ length: 197 }, (_, at) => `family${at}`)
  const folded = fold(`known families: ${names.join(', ')}`)
  expect(folded?.shown).toBe(`known families: ${names.slice(0, 8).join(', ')}`)
  expect(folded?.more).toBe(189)
  expect(`${folded?.shown}, ${folded?.rest}`).toBe(`known families: ${names.join(', ')}`)
  expect(fold('known families: llama, gpt2')).toBeNull()
})

it('a file as the model is listed before the catalogue, by its name', () => {
  expect(optionsOf(['llama-3-8b'], '').map(({ value }) => value)).toEqual(['llama-3-8b'])
  expect(optionsOf(['llama-3-8b'], 'llama-3-8b').length).toBe(1)
  expect(optionsOf(['llama-3-8b'], 'upload:56de/config.json')[0]).toEqual({ value: 'upload:56de/config.json', title: 'config.json' })
})

it('a long path keeps its end, an upload its name', () => {
  expect(shortened('/data/jobs/2026/traces/run7')).toBe('…/traces/run7')
  expect(shortened('/data/run7')).toBe('/data/run7')
  expect(shortened('upload:56de/rank0.json.gz')).toBe('rank0.json.gz')
})
