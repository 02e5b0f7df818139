// Words on the page: none that docs/glossary.md replaces by a term of the field.
import { expect, it } from 'vitest'

const sources = import.meta.glob<string>('../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })

/** From the last column of the glossary, as far as no key of an answer is called so. */
const AVOIDED =
  /\b(dearest|dearer|rehears\w*|whom|whoever|nobody|anew|whatever|hangs on|holds? up|held up|give or take|cannot be told|cannot be said|not said|twin|alike)\b/i

/** Texts of a source: literals and what stands between tags, without comments, imports and names of classes. */
function texts(source: string): string[] {
  const code = source
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '')
    .replaceAll(/^(import|export)\b.*\bfrom\b.*$/gm, '')
    .replaceAll(/import\('[^']*'\)/g, '')
    .replaceAll(/class(Name)?=("[^"]*"|\{`[^`]*`\})/g, '')
  return [...code.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`|>([^<>{}();=]+)</g)].map(([, a, b, c, d]) => a ?? b ?? c ?? d ?? '')
}

it('are those of the glossary', () => {
  const found = Object.entries(sources).flatMap(([path, source]) =>
    texts(source)
      .filter((text) => AVOIDED.test(text))
      .map((text) => `${path}: ${text.trim().slice(0, 100)}`),
  )
  expect(Object.keys(sources).length).toBeGreaterThan(150)
  expect(found).toEqual([])
})
