// Restrictions of a search as stored in the URL: `tp=2,4 vp=1..4`. Pure; valid values come from the program.

/** Restriction of one dimension. */
export interface Restriction {
  readonly name: string
  /** Values as typed; empty while none is chosen. */
  readonly values: readonly string[]
}

/** Values after `=`: a list, or a range of the offered values. A range of other values is kept as text. */
function valuesOf(text: string, offered: readonly string[]): readonly string[] {
  const range = /^(\d*)\.\.=?(\d*)$/.exec(text)
  if (range) {
    const [low, high] = [Number(range[1] || 0), Number(range[2] || Number.POSITIVE_INFINITY)]
    const within = offered.filter((value) => Number(value) >= low && Number(value) <= high)
    return within.length > 0 ? within : [text]
  }
  // A comma in `selective:a,b` belongs to the value.
  const list: string[] = []
  for (const piece of text.split(',').filter(Boolean)) {
    const isInner = list.at(-1)?.startsWith('selective:') && !offered.includes(piece)
    if (isInner) list[list.length - 1] += `,${piece}`
    else list.push(piece)
  }
  return list
}

export function restrictionsOf(
  parts: readonly string[],
  nameOf: (name: string) => string,
  offered: (name: string) => readonly string[],
): readonly Restriction[] {
  return parts.map((part) => {
    const at = part.indexOf('=')
    if (at < 0) return { name: nameOf(part), values: [] }
    const name = nameOf(part.slice(0, at))
    return { name, values: valuesOf(part.slice(at + 1), offered(name)) }
  })
}

/** Restrictions as text for the URL; a dimension without a value is kept. */
export function textOf(restrictions: readonly Restriction[]): string {
  return restrictions.map((one) => `${one.name}=${one.values.join(',')}`).join(' ')
}

/** Arguments of a search: dimensions with a value. */
export function spaceArguments(text: string | undefined): readonly string[] {
  return (text ?? '').split(' ').filter((part) => part !== '' && !part.endsWith('='))
}

/** Restriction with a value toggled, in the order of the offered values. */
export function toggled(one: Restriction, value: string, offered: readonly string[]): Restriction {
  const chosen = one.values.includes(value) ? one.values.filter((other) => other !== value) : [...one.values, value]
  const place = (text: string) => (offered.includes(text) ? offered.indexOf(text) : offered.length)
  return { ...one, values: [...chosen].sort((a, b) => place(a) - place(b)) }
}

/** True if values are all offered ones from the first to the last; an empty list is the whole range. */
export function isRange(values: readonly string[], offered: readonly string[]): boolean {
  const [first, last] = [offered.indexOf(values[0] ?? ''), offered.indexOf(values.at(-1) ?? '')]
  return values.length === 0 || (first >= 0 && last - first + 1 === values.length && values.every((value) => offered.includes(value)))
}
