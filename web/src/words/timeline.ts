// Words of the timeline.
import type { Part } from './part'

// Details.tsx
export const details = 'Details'
export const microBatch2 = 'micro-batch'
export const openAll = 'open all'
export const criticalPath = 'critical path'
export const allKeys = 'all keys'
export const dragPansCtrlAndWheel =
  'Drag to pan, Ctrl and wheel to zoom. Shift and drag marks a range on some rows; drag on the ruler marks it on all rows.'
export const dragSidewaysPansTwoFingers = 'Drag sideways to pan, pinch to zoom, tap to select.'
export const ofText = 'of'
export const spansAreMergedWithTheir = 'spans are merged with their neighbours, because the tracks have too many spans to draw.'
export const selectedSpan = 'Selected span'
export const microBatch = 'Micro-batch'
export const onAllRows = 'on all rows'
export const pinThisRow = 'Pin this row'
export const endsByNoKnownPass = 'No pass of another rank is known to end this bubble.'
export const waitsFor = 'waits for'
export const waitedFor = 'awaited'
export const lastRankToArrive = 'last rank to arrive'
export const launchedBy = 'launched by'
export const awaitedBy = 'awaited by'
export const neededBy = 'needed by'
export const otherRanksOfTheCollective = 'other ranks of the collective'
export const andMore = (value: Part) => ` and ${value} more`
export const fix = 'Fix:'

// RangeSums.tsx
export const fromUntil = (value: Part, from: Part, to: Part) => `${value}, from ${from} until ${to}`
export const sumsOfTheMarkedRange = 'Totals of the marked range'
export const markedRange2 = 'Marked range:'
export const rows = 'Rows'
export const marked = 'marked ('
export const allShown = 'all shown'
export const hostThreads = 'host threads'
export const zoomToIt = 'Zoom to it'
export const escapeDoesTheSame = 'Escape does the same'
export const removeTheMark = 'Remove the mark'
export const theseRowsArePredictedOnly = 'Only measured rows are summed, not predicted rows.'
export const name = 'Name'
export const classText = 'Class'
export const count = 'Count'
export const total = 'Total'
export const timeWithinTheRange = 'Time within the range'
export const self = 'Self'
export const withoutRowsBelow = 'Hide nested rows'
export const mean = 'Mean'
export const longest = 'Longest'
export const share = 'Share'
export const ofTheRangeOnAll = 'Share of the range over all summed rows'
export const spanOn = 'span on'
export const spansOn = 'spans on'
export const aRowFindsItsSpans = '. Select a row to find its spans on the timeline.'
export const saveAsCsv = 'Save as CSV'
export const spansOfTheMarkedRange = 'Spans of the marked range by name'
export const flameGraph = 'Flame graph'
export const rowsThenClassesAndNames = 'rows, then classes and names, or nested spans; widths are time, a click zooms'
export const theMarkedRange = 'the marked range'

// SpanTable.tsx
export const spansInSight = 'Visible spans'
export const spansBetween = 'spans between'
export const and = 'and'
export const inOrderOfTimeCsv = ', by time; CSV contains all'
export const where = 'Row'
export const what = 'Span'
export const from2 = 'Start'
export const takes = 'Duration'

// Timeline.tsx
export const zoomOut = 'Zoom out'
export const panLeft = 'Pan left'
export const panRight = 'Pan right'
export const focusOnWhatIsSelected = 'Focus on the selection'
export const markARangeTheSelected = 'Mark a range: the selected span or the visible range'
export const highlightTheMicroBatchOf = 'Highlight the micro-batch of the selected span on all rows'
export const pinTheRowOfThe = 'Pin the row of the selected span to the top'
export const nextSpanThatWasFound = 'Next match (N: previous match)'
export const alongTheCriticalPathComma = 'Next span on the critical path (comma: previous)'
export const theCriticalPathAlone = 'Show only the critical path'
export const openOrCloseAllGroups = 'Open or close all groups'
export const theWholeStep = 'The whole step'
export const timelineOfGroupsOfTracks = (label: Part, value: Part, value2: Part, duration: Part) =>
  `Timeline of ${label}: ${value} groups of tracks, ${value2} spans, ${duration}`
export const timeline = 'timeline'
export const arrowKeysGoFromSpan =
  'Arrow keys move between spans, Enter zooms to the selected span. W and S zoom, A and D pan, M marks a range, slash searches. Comma and full stop follow the critical path, E opens all tracks. The button “Table” lists the visible spans.'
export const microBatch3 = (batch: Part) => `, micro-batch ${batch}`
export const chunk = (chunk: Part) => `, chunk ${chunk}`

// Tools.tsx
export const saveAsPng = 'Save as PNG'
export const saveAsSvg = 'Save as SVG'
export const timeline2 = 'Timeline'
export const findASpan = 'Find a span'
export const findSpansByNameOr = 'Find spans by name, or #12 for a micro-batch'
export const ofText2 = (value: Part) => `${value} of `
export const underlineTheChainOfSpans = 'Underline the critical path'
export const criticalPath2 = 'Critical path'
export const fadeAllElseCComma = 'Fade everything off the critical path (c); comma and full stop move along it'
export const pathOnly = 'Path only'
export const allStreamsOfEveryStage = 'All streams of every stage (e)'
export const openAll2 = 'Open all'
export const closeAll = 'Close all'
export const theWholeStep0 = 'The whole step (0)'
export const fit = 'Fit'
export const theSpansInSightAs = 'Visible spans as a table'
export const table = 'Table'
export const saveTheTimeline = 'Save the timeline'
export const colours = 'Colours'

// counters.ts
export const max = (counter: Part) => `max ${counter}`

// describe.ts
export const weightGradient = 'weight gradient'
export const tensorCommunication = 'tensor communication'
export const contextCommunication = 'context communication'
export const dataCommunication = 'data communication'
export const pipelineMessage = 'pipeline message'
export const expertCommunication = 'expert communication'
export const waitingForOtherRanks = 'waiting for other ranks'
export const spansTheLongest = (count: Part, name: Part) => `${count} spans, the longest: ${name}`
export const ofTheStep = 'of the step'
export const spansBusyFor = (count: Part, busy: Part) => `${count} spans, busy for ${busy}`
export const neighboursWithinOfEachOther = (resolution: Part, value: Part) =>
  `spans closer than ${resolution} are merged, because the track has ${value} spans`
export const microBatch4 = (batch: Part) => `micro-batch ${batch}`
export const takesFrom = (ends: Part, starts: Part) => `${ends} from ${starts}`
export const onTheCriticalPath = 'on the critical path'
export const spanOf = (value: Part, count: Part) => `span ${value} of ${count}`

// export.ts
export const fromTo = (from: Part, to: Part) => `from ${from} to ${to}`

// flame.ts
export const markedRange3 = 'marked range'

// renderer.ts
export const rank = (rank: Part) => `rank ${rank}`
export const moreNamesAreNotListed = (count: Part) => `; ${count} more names are not listed`
export const spansNestDeeperThanThe = (count: Part) =>
  `; ${count} spans of the step are nested deeper than the drawn rows and are not counted`
export const zoomInHold = 'Zoom in (hold; Shift is faster)'
export const nextSpanArrows = 'Next span; arrow keys move along and between tracks'

export const otherByName = 'other, one tint per name'
