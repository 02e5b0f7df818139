// Words of the hang view.
import type { Part } from './part'

// chain.tsx
export const waitGraph = 'Wait graph'
export const theNearestToAnEnd = (value: Part, value2: Part) => `${value} of ${value2}, closest to the end of a chain`
export const arrowsPointToTheRank = 'arrows point to the awaited rank'
export const noDump = 'no dump'
export const chainOfWaiting = 'Wait chain'

// graph.ts
export const root = (place: Part) => `root ${place}`
export const stuck = (places: Part) => `stuck ${places}`
export const group = (name: Part) => `group ${name}`
export const inGroups = (value: Part) => `in ${value} groups`
export const rankWaits = (waiting: Part) => `rank ${waiting} waits`
export const ranksWait = (waiting: Part) => `ranks ${waiting} wait`
export const last = (lastOperation: Part) => `last: ${lastOperation}`
export const nothingRecorded = 'nothing recorded'

// index.tsx
export const forInTheEnd = (choice: Part, choice2: Part) => `${choice} for ${choice2}, directly or indirectly. `
export const openTheDumpsOfA = 'Open the dumps of a hung job'
export const flightRecordsThatPytorchWrites =
  'Drop flight-recorder dumps of PyTorch or metrics of XPUTimer anywhere. PyTorch writes a dump per rank when a collective times out. To enable them, set'
export const torchFrBufferSize2000 = 'TORCH_FR_BUFFER_SIZE=2000'
export const and = 'and'
export const torchNcclDumpOnTimeout = 'TORCH_NCCL_DUMP_ON_TIMEOUT=1'
export const orAPathInThe = 'or a path in the served folder'
export const readingTheDumps = 'Reading dumps'
export const caveats = 'Caveats'
export const unknown = 'Unknown.'
export const noFileNamesItsRank = 'No file name contains the rank; PyTorch’s names end with it ('
export const ncclTraceRank3 = 'nccl_trace_rank_3'
export const nothingInTheseDumpsHangs = 'No hang in these dumps; the job may still hang.'
export const everyCollectiveInTheDumps = 'Every collective in the dumps of'
export const hasEndedBut = 'has ended, but'
export const nothingHangs = 'No hang'
export const inTheDumpsThatAre = ' in the available dumps'
export const everyCollectiveThat = 'Every collective that'
export const enteredHasEnded = 'entered has ended.'
export const theDumpsDoNotRecord = 'The dumps do not record the number of ranks.'
export const itHangs = 'Hang detected'
export const rankWaits2 = (victims: Part) => `Rank ${victims} is blocked`
export const ranksWait2 = (value: Part) => `${value} ranks are blocked`
export const moreOfTheChainBelow = (value: Part, choice: Part) => `${value} more ${choice} in the chain below. `
export const fromTheDumpsOf = 'From the dumps of'
export const blockedRanks = 'blocked'
export const missedAt = 'missed at'
export const ofText2 = (operation: Part, sequence: Part, name: Part) => `${operation} #${sequence} of ${name}`
export const enteredLast = 'entered last'
export const ofText = (lastGroup: Part) => ` of ${lastGroup}`
export const time = 'time'
export const beforeTheOthersCameTo = (since: Part) => `${since} before the others entered the missed collective`
export const timeout = 'timeout'
export const stackOfTheLastCallInnermost = 'Stack of the last call, innermost first'
export const stackOfTheLastCall = 'Stack of the last call'
export const stuckCollectives = 'Stuck collectives'
export const enteredButNotCompleted = 'entered but not completed'
export const collectivesThatAreStuck = 'Collectives that were not completed'
export const number = 'Number'
export const operation = 'Operation'
export const state = 'State'
export const waiting = 'Waiting'
export const missing = 'Missing'
export const noDump2 = 'No dump'
export const entered = 'Entered'
export const afterTheFirstThatIs = 'after the first incomplete collective'
export const timeout2 = 'Timeout'
export const callsByRank = 'Calls by rank'
export const whereCallsDiffer = 'different calls'
export const callsThatDiffer = 'Different calls'
export const group2 = 'Group'
export const rank = 'Rank'
export const call = 'Call'

// metrics.tsx
export const noRankIsFlaggedAs = 'No rank is flagged as hanging'
export const allRanksAreFlaggedAs = 'All ranks are flagged as hanging'
export const ranks2 = 'Ranks'
export const areFlaggedAsHanging = 'are flagged as hanging'
export const byTheMonitorOf = 'by the monitor of'
export const ranks = 'ranks.'
export const gaugesCouldNotBeRead = 'gauges could not be read.'
export const metrics = 'Metrics'
export const speedsAsAShareOf = 'speeds relative to the median of all ranks'
export const metricsOfEachRank = 'Metrics of each rank'
export const hangs = 'Hangs'
export const matrixProducts = 'GEMMs'
export const communication = 'Communication'
export const queued = 'Queued'

// ranks.tsx
export const dumpsOfRanks = (value: Part, choice: Part, value2: Part) => `${value} dumps of ${choice}${value2} ranks`
export const originOfTheHang = 'origin of the hang'
export const inNoStuckCollective = 'in no stuck collective'
export const inNoStuckCollectiveAccording = 'in no stuck collective, according to its damaged dump'
export const atLeast = 'at least '
export const rank2 = (rank: Part, choice: Part) => `rank ${rank}: ${choice}`
export const theFirst = 'The first'
export const ranksAreDrawn = 'ranks are shown.'

// types.ts
export const breaksOffAtByteAfter = (cutAt: Part, read: Part, choice: Part) => `is truncated at byte ${cutAt} after ${read}${choice}`
export const notAllEntered = 'not all entered'
export const differentCalls = 'different calls'
export const notAllLeft = 'not all completed'
export const noneLeft = 'none completed'
export const ofAtLeastRank = (value: Part, worldSize: Part, plural: Part) => `${value} of at least ${worldSize} rank${plural}`
export const allRanks = (worldSize: Part) => `all ${worldSize} ranks`
export const ofRanks = (value: Part, worldSize: Part) => `${value} of ${worldSize} ranks`
export const aDumpIs = 'one dump is'
export const dumpsAre = 'dumps are'
export const theDumpsDoNotRecordThe = 'the dumps do not record the number of ranks'
export const isDamagedReadNot = (read: Part, unreadable: Part) => `is damaged: ${read} read, ${unreadable} unreadable`
export const andMoreCouldNotBe = (unreadable: Part) => `, and ${unreadable} more could not be read`
export const anUnknownRank = 'an unknown rank'
export const rank3 = (ranks: Part) => `rank ${ranks}`
export const ranks3 = (ranks: Part) => `ranks ${ranks}`
export const neverCame = 'never entered'
export const itIsOutsideAnyCollective =
  'The rank is outside any collective. Check its stack and host for data loading, a checkpoint, an exception or a wait for the GPU.'
export const calledSomethingElse = 'called a different collective'
export const otherRanksCalledAnotherOperation =
  'Other ranks called a different operation, or the same one with other sizes or types. Find a branch that only some ranks take.'
export const leftNoCompleteDump = 'has no complete dump'
export const deadOrItsDumpIs = 'The process died, or its dump is damaged or missing. Check its log and its node first.'
export const waitsForNothingAndMay = 'waits for no other rank and may be missing'
export const waitForNothingAndOne = 'wait for no other rank; one of them may be missing'
export const theGroupDoesNotList =
  'The ranks of the group are not listed, and too few are known. Finding the missing rank requires the dumps of all ranks.'
export const waitsForItself = 'waits for itself'
export const waitForEachOtherIn = 'wait for each other in a cycle'
export const collectivesOfSeveralGroupsAre = 'Collectives of several groups are called in different orders on these ranks.'
export const enteredButNothingCompletes = 'entered, but no collective completes'
export const allEnteredButNothingCompletes = 'all entered, but no collective completes'
export const dumpOfRank = (rank: Part, lost: Part) =>
  `Rank ${rank}’s dump ${lost}; its other calls are unknown, so the verdict holds only for the recorded calls.`
export const aLinkADeviceOr = 'A link, a device or a kernel; or the dump was written before the hang.'
