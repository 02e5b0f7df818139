// Words of the traces view.
import type { Part } from './part'

// measures.ts
export const ownTime = 'Own time'
export const stepTimeWithoutWaitsFor = 'step time without waits for other ranks'
export const computeTimeOfTheRank = 'compute time of the rank per step'
export const timeThatTheRankWaits = 'wait of this rank for others'
export const waitingCaused = 'Waits caused'
export const sumOfTheWaitsOf = 'sum of all waits for this rank'

// origins.tsx
export const computeTime = 'compute time'
export const exposedTransfers = 'exposed transfers'
export const exposedWaitsForOtherRanks = 'exposed waits for other ranks'
export const transferOrWaiting = 'Transfer or waiting'
export const exposedCommunicationWithRanksThat = 'exposed communication with ranks that were not recorded'
export const exposedCopies = 'exposed copies'
export const deviceIdleWhileTheHost = 'device idle during this host code'
export const timeBy = 'Time by'
export const ofTheStepHasA = 'of the step has a'
export const sourceLine2 = 'source line'
export const readingTheTraces = 'reading the traces'
export const noModulesWereRecorded = 'No modules were recorded'
export const noSourceLinesWereRecorded = 'No source lines were recorded'
export const recordTheTraceWith = 'Record the trace with'
export const orAnnotateTheCodeWith = ', or annotate the code with'
export const recordFunction = 'record_function'
export const sourceLines = 'Source lines'
export const meanOverRanksAndSteps = 'mean over ranks and steps; the rows add up to the step'
export const timeByPlace = 'Time by location'
export const module = 'Module'
export const sourceLine = 'Source line'
export const split = 'Split'
export const perStep2 = 'Per step'
export const share = 'Share'
export const kernels = 'Kernels'
export const instances = 'Instances'
export const notRecorded2 = (value: Part) => `not recorded, ${value}`
export const notRecorded = 'not recorded'

// communication.tsx
export const theseRecordsHaveNoCollectives = 'These records have no collectives to compare.'
export const groups = 'Groups'
export const number = 'Number'
export const byGroupAndOperation = 'By group and operation'
export const waitForTheLastRank = 'totals of the recording, mean over ranks; transfer time excludes waits for the last rank'
export const communicationByGroupAndOperation = 'Communication by group and operation'
export const forText = 'Group'
export const operation = 'Operation'
export const calls = 'Calls'
export const size = 'Size'
export const hatchedWaitingSolidTransfer = 'hatched: waiting; solid: transfer'
export const exposedTransfer = 'Exposed transfer'
export const busBandwidth = 'Bus bandwidth'
export const best = 'Best'
export const ranks = 'Ranks'
export const byRank = 'By rank'
export const sumsOverTheRecordingShares = 'totals and shares of the recording'
export const communicationAndWaits = 'Communication and waits'
export const shareOfTheRecordingWith =
  'Share of the recording in collectives and messages, waits for messages included. The step breakdown counts these waits as bubble.'
export const shareOfTheRecordingExposed = 'share of the recording in collectives and messages that are not overlapped with compute'
export const communicationByRank = 'Communication by rank'
export const rank = 'Rank'
export const collectives = 'Collectives'
export const communication = 'Communication'
export const exposed = 'Exposed'
export const waiting2 = 'Waiting'
export const transfer = 'Transfer'
export const lastToArrive = 'Last to arrive'
export const waiting = (share: Part) => `${share} waiting`

// compare.tsx
export const against = 'Against'
export const asTyped = 'as typed'
export const otherTracesOrARun = 'path of traces or of a run file'
export const compare = 'Compare'
export const chooseAFile = 'Choose a file…'
export const compareWithWhat = 'Compare with other traces or with a prediction'
export const aComparisonShowsWhichParts =
  'A comparison shows which parts of the step are longer or shorter. Choose the traces of another run, or a run file to predict.'
export const compareTheseTracesWithThe = 'Compare these traces with the prediction for the calculator’s run'
export const theCalculatorsRun = 'The calculator’s run'
export const theFirstOf = 'The first of'
export const pathsIsComparedOpenThe = 'paths is compared; open the folder to compare all.'
export const aStepTakes = 'Step time is'
export const insteadOf = 'instead of'
export const whereAStepGoes = 'Step breakdown'
export const familiesOfOperators = 'Families of operators'
export const partByPart = (title: Part) => `${title}, part by part`
export const part = 'Part'
export const other = 'Other'
export const these = 'This job'
export const change = 'Change'
export const changeAsABar = 'Change'
export const ofIt = 'Relative'

// index.tsx
export const overview = 'Overview'
export const timeline = 'Timeline'
export const modules = 'Modules'
export const stragglers = 'Stragglers'
export const roofline = 'Roofline'
export const sql = 'SQL'
export const stopReading = 'Stop reading'
export const openTheTracesOfA = 'Open the traces of a job'
export const tracesOfPytorchsProfilerNsight =
  'Traces of PyTorch’s profiler, Nsight Systems, pipeline timers: files, folders or archives. Drop them anywhere on this page; nothing leaves this machine.'
export const orAPathInThe = 'or a path in the served folder'
export const passesOfAPipeline = 'Passes of a pipeline'
export const theseFilesRecordForwardAnd =
  'These files record forward and backward passes, not kernels. The pipeline view shows all stages on one timeline.'
export const showThePipeline = 'Show the pipeline'
export const partsOfTheTracesView = 'Parts of the traces view'

// interest.ts
export const longestWaitsCaused = 'longest waits caused'
export const gpu = (at: Part) => `GPU ${at}`
export const ranksInOrder = 'ranks in order'

// job.tsx
export const ofTheCalculator = (value: Part) => `${value} (calculator)`
export const flopPerStep2 = (flops: Part) => `${flops} FLOP per step`
export const thisJobIs = 'This job:'
export const groupsMayBeUnnamed = '; the layout is not determined, so groups may be unnamed'
export const setByTheUserOr = 'set by you or by the run'
export const describedByTheFramework = 'described by the framework'
export const orderOfTheSizes = 'order of the sizes'
export const operationsOfTheGroups = 'operations of the groups'
export const noEvidence = 'none'
export const inferredFromTheEnds = 'end times of collectives'
export const notDetermined = 'Layout not determined'
export const fromTheProcessGroups = 'from the process groups'
export const changeIt = 'Change'
export const ranksEach = 'Ranks each'
export const stride = 'Stride'
export const evidence = 'Evidence'
export const noMfu = 'no MFU'
export const noPrediction = 'no prediction'
export const theCalculatorsRun2 = (value: Part) => `The calculator’s run: ${value}`
export const mfuNamesOfGroupsAnd = 'MFU, group names and the prediction come from this run'
export const openARunInThe = 'MFU and a prediction require a run of the calculator.'
export const openTheCalculator = 'Choose one'
export const layout = 'Layout'
export const specifyTheLayout = 'Specify the layout'
export const specifyTheRun = 'Specify the run'
export const addASize = 'add a size'
export const parallelSizesInnermostFirstLayout = 'Parallel sizes, innermost first'
export const accelerator = 'Accelerator'
export const fromTheTraces = 'from the traces'
export const flopPerStep = 'FLOP per step'
export const aRunOrLaunchFile = 'A run or launch file…'
export const runOfAFile = 'Run'
export const removeFile = (name: Part) => `Remove ${name}`
export const remove = 'remove'
export const cluster = 'Cluster'
export const ofTheFile = 'of the file'
export const all = 'all'
export const stepOnly = (steps: Part) => `steps ${steps} only`
export const modelFlopsOfAStep = 'Model FLOPs of a step over all ranks'

// note.tsx
export const noteOnThisFinding = 'Note on this finding'
export const save = 'Save'
export const cancel = 'Cancel'
export const note = 'Note:'
export const editNote = 'Edit note'
export const addANote = 'Add a note'

// overview.tsx
export const ofText = (ranks: Part, choice: Part, worldSize: Part) => `${ranks} of ${choice}${worldSize}`
export const meanOverRanksAndSteps2 = 'mean over ranks and steps'
export const topDown = 'Hierarchical breakdown'
export const labelPhaseFamilyKernelTime = 'by label, phase, family and kernel; time per rank and step'
export const includingOverlappedTime = 'including overlapped time'
export const caveats = 'Caveats'
export const stepTime = 'step time'
export const atLeast = 'at least '
export const aStepOf = (stepTimeNs: Part, value: Part) => `Step time ${stepTimeNs}: ${value}`
export const ofTheStep = (name: Part, mean: Part, share: Part) => `${name}: ${mean}, ${share} of the step`
export const findings = 'Findings'
export const mostExpensiveFirst = 'most expensive first'
export const noFindingCostsMoreThan = 'No finding exceeds the noise.'
export const more = (value: Part) => `${value} more`
export const costs = 'costs'
export const alsoInOtherFindings = (cost: Part) => `${cost} of this cost is also in other findings`
export const allTogether = (findings: Part, cost: Part, share: Part) =>
  `All ${findings} findings together: at most ${cost} per step (${share})`
export const overlapsAreExcluded = (cost: Part) => `; overlaps of ${cost} are excluded`
export const limitedBy = 'limited by'
export const perStep3 = 'per step'
export const perDay = 'per day'
export const showOnTheTimeline = 'Show on the timeline'
export const doText = 'Fix:'
export const kernelsByTime = 'Kernels by time'
export const kernel = 'Kernel'
export const overAllRanksAndSteps = 'over all ranks and steps'
export const mean = 'Mean'
export const longest = 'Longest'
export const phase = 'Phase'
export const family = 'Family'

// place.ts
export const thisRowHasNoRank = 'This row has no rank or no start'
export const thisStartIsNoInteger = 'This row cannot be shown on the timeline, because its rank or start is not a whole number'
export const noSpanOfThisRow = 'No drawn span covers the start of this row'
export const thisRowLiesBeforeThe = 'This row is before the first step'

// query.tsx
export const aboveTheRoofline =
  'If the value is far above 100%, the inputs were read from a cache, or the kernel ran in another format than its inputs.'
export const predictionOfAnotherJob = (predicted: Part, measured: Part) =>
  `The prediction is hidden: the predicted step takes ${predicted}, but the recorded one ${measured}. The calculator’s run is probably another job.`
export const mostExpensiveOperators = 'Most expensive operators'
export const longestOperators = 'Longest operators'
export const row = 'row'
export const mostExpensiveKernels = 'Most expensive kernels'
export const byRankAndKind = 'By rank and kind'
export const longestKernels = 'Longest kernels'
export const question = 'Question'
export const oneSelectCtrlEnterRuns = 'One SELECT; Ctrl+Enter runs it'
export const run = 'Run'
export const saveAsCsv = 'Save as CSV'
export const tables = 'Tables'
export const thereIsNoTab = (tab: Part) => `The link refers to the tab “${tab}”, which does not exist. The overview is shown.`
export const answer = 'Answer'
export const ofThePreviousQuery = 'of the previous query'
export const theRowsBelowBelongTo = 'The rows below belong to the previous query.'
export const rows2 = 'rows'
export const andMoreAddALimit = 'and more; add LIMIT or WHERE'
export const aClickShowsARow = '; a click shows a row on the timeline'
export const withRankAndStartNs = '; rows with rank and start_ns link to the timeline'
export const rows = 'Rows'

// rank-map.tsx
export const rank2 = (row: Part, choice: Part) => `rank ${row}${choice}`
export const measureOfTheCells = 'Metric of the cells'
export const ranksOfTheJob = 'Ranks of the job'
export const noRankOrNotRecorded = 'no rank, or not recorded'
export const noRank = 'no rank'
export const arrangementOfTheRanks = 'Arrangement of the ranks'
export const byLayout = 'By layout'
export const byHost = 'By host'
export const inOrder = 'In order'
export const partsOfTheLayout = 'ranks of the dimensions of the layout'
export const at = (place: Part) => `, ${place}`
export const on = (name: Part) => ` on ${name}`
export const clickOrEnterShowsIt = 'Click or Enter shows it on the timeline.'

// ranks-over-steps.tsx
export const ranksOverSteps2 = 'Ranks over steps'
export const ranksOverSteps = (value: Part) => `Ranks over steps, ${value}`
export const rank3 = (rank: Part) => `rank ${rank}`
export const step = (step: Part) => `step ${step}`
export const notRecordedInThisStep = 'not recorded in this step'
export const rankStep = (ranks: Part, steps: Part) => `rank ${ranks}, step ${steps}`
export const theStep = 'the step'

// ranks.tsx
export const compute = 'Compute'
export const mediansOverSteps = 'medians over steps, the slowest first; Enter opens the timeline'
export const host = 'Host'
export const waiting3 = 'Communication, waiting'
export const forOtherRanksWithinCommunication = 'for other ranks, within communication'
export const ranksAreTooManyTo = 'ranks are too many to label each row.'
export const sharesOfTheStepEnter = 'shares of the step; Enter shows a rank on the timeline'
export const sharesOfEachRank = 'Shares of each rank'
export const labelsOverRanks = 'Labels over ranks'
export const labelsOverSteps = 'Labels over steps'
export const meanOverRanks = 'mean over ranks'
export const eachRowOnItsOwn = 'each row on its own scale'
export const ofTheStep2 = 'of the step'

// roofline.tsx
export const tflopS = (value: Part) => `${value} TFLOP/s`
export const gflopS = (value: Part) => `${value} GFLOP/s`
export const flopB = (toPrecision: Part) => `${toPrecision} FLOP/B`
export const memory2 = (bytesPerS: Part) => `memory ${bytesPerS}`
export const noShapesWereRecorded = 'No shapes were recorded'
export const recordTheTraceWithRecord =
  'Record the trace with record_shapes=True and set the accelerator under “This job” to compare operators with its roofline.'
export const arithmeticIntensityFlopPerByte = 'arithmetic intensity (FLOP per byte)'
export const reached2 = 'reached'
export const operators = 'Operators'
export const reaching = 'reaching'
export const ofTheRoofline2 = 'of the roofline'
export const inCompute = (computeTargetShare: Part) => ` (${computeTargetShare} in compute)`
export const wouldSave = 'would save'
export const perRankAndStep = 'per rank and step'
export const operatorsAgainstTheRoofline = 'Operators vs. roofline'
export const operator = 'Operator'
export const shapes = 'Shapes'
export const format = 'Format'
export const reached = 'Reached'
export const memory = 'Memory'
export const bound = 'Bound'
export const ofTheRoofline = 'Of the roofline'
export const saving = 'Saving'
export const noSavingOfShortKernels = 'No saving is reported at the roofline, or for short kernels dominated by their launch'
export const perRankAndStepAt = 'Per rank and step, at the target share of the roofline'

// stragglers.tsx
export const theseRecordsHaveNoSteps = 'These records have no steps, so the cost per step is unknown.'
export const cannotTellWhichRankDelays = 'It is unknown which rank delays the job'
export const noStraggler = 'No straggler'
export const noDelayCostsMoreThan = ': no delay costs more than'
export const theLinkOfTheGroup = (value: Part) => `Slow link in the group of ranks ${value}`
export const stageComputesLongerThanThe = (stage: Part) => `Stage ${stage} takes longer to compute than the other stages`
export const costUnknown = 'cost unknown'
export const perStep = 'per step.'
export const rankIsAStraggler = (rank: Part) => `Rank ${rank} is a straggler`
export const ranksAreStragglers = (value: Part) => `${value} ranks are stragglers`
export const aStepWouldTake = ': step time would be'
export const withAllRanksAtPeers =
  ' with all ranks at the median speed of their peers. The cost on a card is that of its rank alone, so costs need not add up.'
export const theHostsNotSingleRanks =
  ' Every device is idle longer than it computes, excluding waits for other ranks: reduce host time before tuning the network.'
export const rank4 = (rank: Part) => `Rank ${rank}`
export const perStep4 = 'per step ('
export const cause2 = 'cause:'
export const against2 = 'vs.'
export const ofItsPeers = 'for its peers'
export const when = 'When'
export const step2 = (step: Part) => `step ${step}, `
export const took = 'took'
export const longerThanElsewhere = 'longer than on other ranks'
export const before = (before: Part) => `, before ${before}`
export const allRanks = 'All ranks'
export const theMostThatEachCan = (boundsOnly: Part) => `upper bound on each cost, because ${boundsOnly}`
export const costByReplayOfThe = 'cost by replay of the job'
export const ranksByCost = 'Ranks by cost'
export const costPerStep = 'Cost per step'
export const waitsCaused = 'Waits caused'
export const lateBy = 'Total delay'
export const perStepOverItsCollectives =
  'per step, summed over all collectives of the rank. Concurrent collectives count separately, so the sum can exceed the step.'
export const cause = 'Cause'
export const noDelay = 'no delay'
export const delayWithoutCost = 'its delay costs no step time'
export const belowTheLeastCost = 'below the reporting threshold'
export const notReported = 'not reported'
export const ranksDelayEachOther = (cause: string) => `Ranks take turns delaying each other (${cause})`

// timeline.tsx
export const step3 = 'Step'
export const typicalStep = 'typical step'
export const ofText2 = (size: Part, value: Part) => `${size} of ${value}`
export const ofInterest = 'Notable'
export const notableOf = (shown: Part, all: Part) => `${shown} notable of ${all}`
export const oneOfEachStageFirst = (shown: Part, all: Part) => `${shown} of ${all}, one per stage first`
export const severalRanks = 'Ranks of a host'
export const ranksFromTo = (range: Part) => `ranks ${range}`
export const oneOfEachStage = 'One per stage'
export const stage = 'stage'
export const rank5 = ': rank'
export const hostThreads = 'host threads'
export const predictionForTheFileBelow = 'prediction for the run’s file below'
export const predictionForTheCalculatorsRun = 'prediction for the calculator’s run below'
export const ranksAreNotDrawnSelect = 'ranks are hidden; select one to show it'
export const stepTimeWithoutWaitsSelect = 'step time without waits; select a cell to show its rank'
export const readingTheStep = 'reading the step'
export const findingsInThisStep = 'Findings in this step'
export const noSinglePlace = '(no single location)'

// tree.tsx
export const timeOfAStepTop = 'Hierarchical breakdown of a step'

// types.ts
export const unknown = 'unknown'
export const notSpecified = (lacking: Part) => `no run is set, so there is ${lacking}`
export const unnamed = (ranks: Part) => `(${ranks} unnamed)`
export const processGroupsOfTheLayout = 'Process groups of the layout'
export const layoutOf = (sizes: Part) => `layout ${sizes}`
export const processGroups = (number: Part) => `Process groups: ${number}`
export const annotationsStandForModules = '; annotations are shown in place of modules, which were not recorded'
export const rowsAre = (meaning: Part, rows: Part) => `${meaning}; rows are ${rows}`
export const ofTheTimeOfArithmetic = (accelerator: Part, share: Part) => `${accelerator}; shapes are recorded for ${share} of compute time`

export const steps2 = 'Steps'
export const firstStep = 'First step'
export const lastStep = 'Last step'
export const to = 'to'
export const numbersOfTheSteps = 'Numbers of the first and the last step to profile, warm-up included'
