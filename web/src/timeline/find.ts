// Search in the timeline: part of a name, a name with its micro-batch as written on the bar, or a micro-batch. Pure.

/** Tests whether a text matches a span by name and micro-batch (-1 for none). */
export function matcher(text: string, names: readonly string[]): (name: number, microBatch: number) => boolean {
  const wanted = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  if (wanted === '') return () => false
  const holds = (part: string) => Uint8Array.from(names, (name) => (name.toLowerCase().includes(part) ? 1 : 0))
  const whole = holds(wanted)
  const alone = /^(?:mb|micro.?batch|#)\s*(\d+)$/.exec(wanted)
  if (alone) {
    const number = Number(alone[1])
    return (name, microBatch) => microBatch === number || whole[name] === 1
  }
  // `forward 30`, as the bar of micro-batch 30 is labelled.
  const [, name = '', number = ''] = /^(.*\S) #?(\d+)$/.exec(wanted) ?? []
  if (name === '') return (at) => whole[at] === 1
  const named = holds(name)
  const batch = Number(number)
  return (at, microBatch) => whole[at] === 1 || (named[at] === 1 && microBatch === batch)
}
