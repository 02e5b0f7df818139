// State of the web UI as text: `#/calculator?model=llama-3.1-405b&tp=8&b.tp=4`. Pure functions with their own tests. Names without prefix
// are the run's arguments (long flags of the command line), `b.` are the overrides of scenario B, and another prefix (`s.`, `w.`, `p.`,
// `t.`, `n.`, `c.`) belongs to one view.

export type Parameters = Readonly<Record<string, string>>

export interface Location {
  readonly view: string
  readonly parameters: Parameters
}

const PREFIXED = /^([a-z])\./

/** Parses a fragment; invalid parts are ignored. */
export function parseFragment(fragment: string, fallback: string): Location {
  const text = fragment.replace(/^#\/?/, '')
  const [path = '', query = ''] = split(text, '?')
  const parameters: Record<string, string> = {}
  for (const part of query.split('&')) {
    if (!part) continue
    const [name = '', value = ''] = split(part, '=')
    const key = decode(name)
    if (key && key !== '__proto__') parameters[key] = decode(value)
  }
  return { view: decode(path) || fallback, parameters }
}

/** Fragment of a pasted text: a whole link, or only the state; null without one. */
export function stateIn(text: string): string | null {
  const trimmed = text.trim()
  const at = trimmed.indexOf('#/')
  if (at < 0 || (at > 0 && !/^https?:\/\//.test(trimmed))) return null
  return trimmed.slice(at)
}

/** A setting that occurs several times in a fragment with different values. */
export interface Repeated {
  readonly key: string
  readonly values: readonly string[]
}

/** Settings that occur several times with different values; the last value counts. */
export function repeatedIn(fragment: string): readonly Repeated[] {
  const found = new Map<string, string[]>()
  for (const part of (split(fragment, '?')[1] ?? '').split('&')) {
    const [name = '', value = ''] = split(part, '=')
    const values = found.get(decode(name))
    if (values) values.push(decode(value))
    else found.set(decode(name), [decode(value)])
  }
  return [...found].filter(([, values]) => new Set(values).size > 1).map(([key, values]) => ({ key, values }))
}

/** Writes a fragment with keys sorted by group (run, scenario B, views), so that equal states are equal texts. */
export function writeFragment(location: Location): string {
  const parts = Object.entries(location.parameters)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
  return `#/${encode(location.view)}${parts.length > 0 ? `?${parts.join('&')}` : ''}`
}

/** Prefix of a parameter: `''` for the run, `b` for scenario B, a letter for a view. */
export function prefixOf(key: string): string {
  return PREFIXED.exec(key)?.[1] ?? ''
}

/** Parameters of one prefix, without it. */
export function ofPrefix(parameters: Parameters, prefix: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [key, value] of Object.entries(parameters)) {
    if (prefixOf(key) === prefix) found[prefix ? key.slice(prefix.length + 1) : key] = value
  }
  return found
}

function rank(key: string): number {
  const prefix = prefixOf(key)
  if (key === 'model') return 0
  if (key === 'cluster') return 1
  return prefix === '' ? 2 : prefix === 'b' ? 3 : 4
}

function split(text: string, at: string): [string, string?] {
  const index = text.indexOf(at)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'))
  } catch {
    return text
  }
}

/** Escapes only characters that would be misread, so that a fragment stays readable. */
function encode(text: string): string {
  return encodeURIComponent(text)
    .replace(/%(2F|3A|2C|40|24|3B)/g, (code) => decodeURIComponent(code))
    .replaceAll('%20', '+')
}
