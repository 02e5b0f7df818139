// Types of the answer of `hang` by their names in the view, and their texts.
import type { DamagedDump as Damaged, Root, Stuck, Hang as Verdict } from '../../api/schema/hang'
import * as texts from '../../words/hang'

export type { DamagedDump as Damaged, Frame, HangAnswer as Hang, Hang as Verdict, RankSpeed, Root, Stuck } from '../../api/schema/hang'

export const STATES: Readonly<Record<Stuck['state'], string>> = {
  not_entered: texts.notAllEntered,
  mismatched: texts.differentCalls,
  partly_finished: texts.notAllLeft,
  none_finished: texts.noneLeft,
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

/** `3 of 4 ranks`, or `3 of at least 4 ranks` if no dump records their number. */
export function extent({ ranks, world_size, world_size_listed }: Pick<Verdict, 'ranks' | 'world_size' | 'world_size_listed'>): string {
  if (!world_size_listed) return texts.ofAtLeastRank(ranks.length, world_size, world_size === 1 ? '' : 's')
  return ranks.length === world_size ? texts.allRanks(world_size) : texts.ofRanks(ranks.length, world_size)
}

/** Reasons why a hang cannot be excluded. */
export function doubts({
  without_dump,
  incomplete_groups,
  damaged,
  world_size_listed,
}: Pick<Verdict, 'without_dump' | 'incomplete_groups' | 'damaged' | 'world_size_listed'>): string {
  const lone = incomplete_groups[0]
  return [
    ...(without_dump.length > 0 ? [`${without_dump.length === 1 ? texts.aDumpIs : texts.dumpsAre} missing (${who(without_dump)})`] : []),
    ...(damaged.length > 0
      ? [`${damaged.length === 1 ? texts.aDumpIs : texts.dumpsAre} damaged (${who(damaged.map((one) => one.rank))})`]
      : []),
    ...(world_size_listed ? [] : [texts.theDumpsDoNotRecordThe]),
    ...(lone
      ? [
          `${lone.name} was used only by ${who(lone.ranks)}${incomplete_groups.length > 1 ? ` (and ${incomplete_groups.length - 1} more)` : ''}: other ranks of it may have no dump`,
        ]
      : []),
  ].join(', ')
}

/** Extent of the readable part of a damaged dump, and the place of the damage. */
export function damageText({ rank, entries, unreadable, cut_at }: Damaged): string {
  const read = `${entries} ${entries === 1 ? 'entry' : 'entries'}`
  const lost =
    cut_at === null
      ? texts.isDamagedReadNot(read, unreadable)
      : texts.breaksOffAtByteAfter(cut_at, read, unreadable > 0 ? texts.andMoreCouldNotBe(unreadable) : '')
  return texts.dumpOfRank(rank, lost)
}

/** `rank 3`, `ranks 0–3, 7`. */
export function who(ranks: readonly number[]): string {
  if (ranks.length === 0) return texts.anUnknownRank
  return ranks.length === 1 ? texts.rank3(ranks[0]) : texts.ranks3(ranges(ranks))
}

const CAUSES: Readonly<Record<Root['cause'], readonly [one: string, many: string, look: string]>> = {
  outside_of_collectives: [texts.neverCame, texts.neverCame, texts.itIsOutsideAnyCollective],
  different_call: [texts.calledSomethingElse, texts.calledSomethingElse, texts.otherRanksCalledAnotherOperation],
  no_dump: [texts.leftNoCompleteDump, texts.leftNoCompleteDump, texts.deadOrItsDumpIs],
  members_unknown: [texts.waitsForNothingAndMay, texts.waitForNothingAndOne, texts.theGroupDoesNotList],
  circle: [texts.waitsForItself, texts.waitForEachOtherIn, texts.collectivesOfSeveralGroupsAre],
  transfer: [texts.enteredButNothingCompletes, texts.allEnteredButNothingCompletes, texts.aLinkADeviceOr],
}

/** A cause of a newer program is shown by its name. */
export function causeText(root: Root): string {
  return CAUSES[root.cause]?.[root.ranks.length === 1 ? 0 : 1] ?? String(root.cause).replaceAll('_', ' ')
}

export function lookAt(root: Root): string {
  return CAUSES[root.cause]?.[2] ?? ''
}
