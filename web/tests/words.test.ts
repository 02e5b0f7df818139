// Words on the page: one module for each view in src/words, in the terms of docs/glossary.md and the sentences of docs/STYLE.md.
import { describe, expect, it } from 'vitest'
import { proseOf } from '../scripts/prose.mjs'

const sources = import.meta.glob<string>('../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })
const isWords = (path: string) => path.includes('/src/words/')

/** From the last column of the glossary, and its words without a term. */
const AVOIDED =
  /\b(dear|dearest|dearer|rehears\w*|whom|whoever|nobody|somebody|anybody|anew|whatever|so many|hangs on|holds? up|held up|give or take|cannot be told|cannot be said|not said|twin|alike|says?|said|tells?|told|one a row|an hour|a month|a second)\b/i

/** Texts of a module of words, gaps of sentences as `…`. */
const texts = (source: string): string[] =>
  [...source.matchAll(/'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g)]
    .map(([, plain, gaps]) => plain ?? gaps?.replaceAll(/\$\{\w+\}/g, '…') ?? '')
    .filter((text) => text !== './part')

describe('words', () => {
  it('are in src/words alone', () => {
    const found = Object.entries(sources)
      .filter(([path]) => !isWords(path) && !path.includes('/api/schema/'))
      .flatMap(([path, source]) => proseOf(source).map((one) => `${path}: ${one.value.trim().slice(0, 100)}`))
    expect(Object.keys(sources).length).toBeGreaterThan(150)
    expect(found).toEqual([])
  })

  it('are those of the glossary, in sentences of at most 25 words', () => {
    const all = Object.entries(sources)
      .filter(([path]) => isWords(path))
      .flatMap(([path, source]) => texts(source).map((text) => ({ path, text })))
    expect(all.length).toBeGreaterThan(1500)
    const wrong = all.filter(
      ({ text }) => AVOIDED.test(text) || text.split(/[.:;] /).some((sentence) => sentence.trim().split(/\s+/).length > 25),
    )
    expect(wrong.map(({ path, text }) => `${path}: ${text}`)).toEqual([])
  })

  it.each([
    ['<p>Not recorded</p>', 1],
    ["<Panel title='Ranks' />", 1],
    ["const a = { about: 'per step', id: 'per-step' }", 1],
    ['const a = `stage ${b} is slow`', 1],
    ["<p class='panel wide'>{texts.ranks}</p>", 0],
    ["ask('network cost', { paths })", 0],
    ['const a = { width: `calc(100% - ${b}px)` }', 0],
    ["row.format === 'flight record'", 0],
  ])('%s has %i', (source, count) => {
    expect(proseOf(source)).toHaveLength(count)
  })
})
