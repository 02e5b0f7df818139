// The answer of `hang` by the names that the view has for it, and its words.
import type { DamagedDump as Damaged, Root, Stuck, Hang as Verdict } from '../../api/schema/hang'

export type { DamagedDump as Damaged, Frame, HangAnswer as Hang, Hang as Verdict, RankSpeed, Root, Stuck } from '../../api/schema/hang'

export const STATES: Readonly<Record<Stuck['state'], string>> = {
  not_entered: 'not all entered',
  mismatched: 'different calls',
  partly_finished: 'not all left',
  none_finished: 'none left',
}

/** `0–3, 7`. */
export function ranges(ranks: readonly number[]): string {
  const sorted = [...ranks].sort((a, b) => a - b)
  const parts: string[] = []
  for (let from = 0; from < sorted.length; ) {
    let to = from
    while (to + 1 < sorted.length && sorted[to + 1] === sorted[to]! + 1) to += 1
    parts.push(to === from ? `${sorted[from]}` : `${sorted[from]}${to === from + 1 ? ', ' : '–'}${sorted[to]}`)
    from = to + 1
  }
  return parts.join(', ')
}

/** `3 of 4 ranks`, `3 of at least 4 ranks` where no dump says how many there are. */
export function extent({ ranks, world_size, world_size_listed }: Pick<Verdict, 'ranks' | 'world_size' | 'world_size_listed'>): string {
  if (!world_size_listed) return `${ranks.length} of at least ${world_size} rank${world_size === 1 ? '' : 's'}`
  return ranks.length === world_size ? `all ${world_size} ranks` : `${ranks.length} of ${world_size} ranks`
}

/** Why nobody knows that nothing hangs. */
export function doubts({
  without_dump,
  incomplete_groups,
  damaged,
  world_size_listed,
}: Pick<Verdict, 'without_dump' | 'incomplete_groups' | 'damaged' | 'world_size_listed'>): string {
  const lone = incomplete_groups[0]
  return [
    ...(without_dump.length > 0 ? [`${without_dump.length === 1 ? 'a dump is' : 'dumps are'} missing (${who(without_dump)})`] : []),
    ...(damaged.length > 0 ? [`${damaged.length === 1 ? 'a dump is' : 'dumps are'} damaged (${who(damaged.map((one) => one.rank))})`] : []),
    ...(world_size_listed ? [] : ['the dumps do not record the number of ranks']),
    ...(lone
      ? [
          `${lone.name} was used only by ${who(lone.ranks)}${incomplete_groups.length > 1 ? ` (and ${incomplete_groups.length - 1} more)` : ''}: other ranks of it may have no dump`,
        ]
      : []),
  ].join(', ')
}

/** What was read of a damaged dump, and where the rest was lost. */
export function damageText({ rank, entries, unreadable, cut_at }: Damaged): string {
  const read = `${entries} ${entries === 1 ? 'entry' : 'entries'}`
  const lost =
    cut_at === null
      ? `is damaged: ${read} read, ${unreadable} not`
      : `breaks off at byte ${cut_at} after ${read}${unreadable > 0 ? `, and ${unreadable} more could not be read` : ''}`
  return `Rank ${rank}’s dump ${lost}; what else it entered is not known, and the verdict is a bound.`
}

/** `rank 3`, `ranks 0–3, 7`. */
export function who(ranks: readonly number[]): string {
  if (ranks.length === 0) return 'a rank that is not known'
  return ranks.length === 1 ? `rank ${ranks[0]}` : `ranks ${ranges(ranks)}`
}

const CAUSES: Readonly<Record<Root['cause'], readonly [one: string, many: string, look: string]>> = {
  outside_of_collectives: [
    'never came',
    'never came',
    'It is outside any collective: its host is busy elsewhere or idle. Look at its stack and its host: data loading, a checkpoint, an exception, a wait for the GPU.',
  ],
  different_call: [
    'called something else',
    'called something else',
    'Others called another operation, or with other sizes or types. Compare what each rank called: a branch that not all ranks take.',
  ],
  no_dump: [
    'left no whole dump',
    'left no whole dump',
    'Dead, or its dump is damaged or not among these files. Look at its log and its node before anything else.',
  ],
  members_unknown: [
    'waits nowhere and may be the one',
    'wait nowhere, and one of them may be missing',
    'The group does not list its ranks and too few are known to be in it: who does not come is not known. Dumps of all ranks tell.',
  ],
  circle: [
    'waits for itself',
    'wait for each other in a circle',
    'Collectives of several groups are called in different orders on these ranks.',
  ],
  transfer: [
    'is there, and nothing ends',
    'are all there, and nothing ends',
    'A link, a device or a kernel; or the dump was taken while all was well.',
  ],
}

/** A cause of a newer program is told by its name. */
export function causeText(root: Root): string {
  return CAUSES[root.cause]?.[root.ranks.length === 1 ? 0 : 1] ?? String(root.cause).replaceAll('_', ' ')
}

export function lookAt(root: Root): string {
  return CAUSES[root.cause]?.[2] ?? ''
}
