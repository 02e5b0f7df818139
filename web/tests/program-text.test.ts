// Texts of the program on the page: commands that have a place lead to it, flags are settings, microseconds have their sign.
import { describe, expect, it } from 'vitest'
import { placeOfCommand } from '../src/state/commands'
import { withUnits, withoutFlags } from '../src/state/program-text'
import { views } from '../src/views/registry'

const sources = import.meta.glob<string>('../../crates/profiler/src/findings/*.rs', { query: '?raw', import: 'default', eager: true })

describe('a command in a text', () => {
  it('leads to the view that shows the same', () => {
    expect(placeOfCommand('railwright pipeline')?.view).toBe('pipeline')
    expect(placeOfCommand('railwright comm')?.own).toEqual({ 't.tab': 'communication' })
    expect(placeOfCommand('railwright profile --step N')?.own).toEqual({ 't.tab': 'timeline' })
  })

  it('stays a command where it is an example, another word or no command', () => {
    for (const text of ['railwright estimate qwen3-8b --gpus 8', 'railwright constructor', 'pipeline', '--tp 8'])
      expect(placeOfCommand(text)).toBeNull()
  })

  it('has a place in every advice of a finding, in a view that exists', () => {
    const advised = Object.values(sources).flatMap((source) =>
      [...source.matchAll(/advice:[^"]*"((?:[^"\\]|\\[\s\S])*)"/g)].flatMap(([, text]) =>
        [...(text ?? '').matchAll(/`(railwright [^`]+)`/g)].map(([, command]) => command!.replaceAll(/\\\s+/g, '')),
      ),
    )
    expect(advised.length).toBeGreaterThan(3)
    for (const command of advised) {
      const place = placeOfCommand(command)
      expect(place, command).not.toBeNull()
      expect(views.map((one) => one.id)).toContain(place!.view)
    }
  })
})

describe('a text of the program', () => {
  it.each([
    ['raise --radix, or --hosts-per-leaf 4', 'raise radix, or hosts per leaf 4'],
    ['`--layout` has one stage', '`layout` has one stage'],
    ['a well-known name -- and a dash', 'a well-known name -- and a dash'],
  ])('%s has no flag', (text, shown) => expect(withoutFlags(text)).toBe(shown))

  it('has the unit of the page', () => {
    expect(withUnits('171 us per step in 1 gaps, longest 12.5 us')).toBe('171 µs per step in 1 gaps, longest 12.5 µs')
    expect(withUnits('3 users and 2 usual ones')).toBe('3 users and 2 usual ones')
  })
})
