// Words of the calculator view.
import type { Part } from './part'

// best-layout.tsx
export const layout = (value: Part) => `Layout: ${value}`
export const perStepBefore = (value: Part, value2: Part) => `${value} per step (was ${value2})`
export const undo = 'Undo'
export const searchForTheFastestLayout =
  'Search for the recommended layout: the simplest within the model error of the fastest that fits. Batch, precision and prices are unchanged'
export const applyAnyway = 'Apply anyway'
export const thePresentLayoutStays = 'The current layout is kept'
export const itIsWithinTheTie = (value: Part, value2: Part) =>
  `Its step time, ${value}, is within the model error of the recommended layout (${value2}).`
export const stopTheSearch = (choice: Part) => `Stop the search${choice}`
export const bestLayout = 'Best layout'
export const noLayoutFitsOnThese = 'No layout fits on these devices. Search lists changes that help.'

// blame.tsx
export const isNotValidWithThe = 'is not valid with the other settings.'
export const nearestValid = 'Nearest valid:'
export const auto = 'auto'
export const allOtherLayoutSettingsAuto = 'Reset all other layout settings to auto'

// branches.ts
export const noModule = 'no module'
export const noLayer = 'no layer'
export const layer = (layer: Part) => `layer ${layer}`

// holding.ts
export const theOtherSizesAreHeld = 'The other sizes keep the values of the plan'
export const keptUntilReset = (list: Part) => `Kept: ${list}. Data parallelism is still auto; “reset” returns a size to auto.`

// breakdown.tsx
export const whereTheTimeGoes = 'Step breakdown'
export const criticalStage = (stage: Part) => `critical stage: ${stage}`
export const showTheWholeStep = 'Show the whole step'
export const partsOfTheStep = 'Parts of the step'
export const part = 'Part'
export const share = 'Share'
export const change = 'Change'

// controls.tsx
export const run = 'Run'
export const cluster = 'Cluster'
export const aSystemOrAnAccelerator = 'a system or an accelerator'
export const devices = 'Devices'
export const acceleratorsThatTheRunUses = 'Number of accelerators'
export const parallelism = 'Parallelism'
export const dataParallel = (value: Part) => `× ${value} data parallel`
export const tensorParallel = 'Tensor parallel'
export const ranksThatShareEachMatrix = 'Ranks over which each matrix is sharded'
export const pipelineStages = 'Pipeline stages'
export const stagesThatShareTheLayers = 'Stages into which the layers are divided'
export const virtualStages = 'Virtual stages'
export const modelChunksPerStageInterleaving = 'Model chunks per stage (interleaving)'
export const contextParallel = 'Context parallel'
export const ranksThatShareEachSequence = 'Ranks over which each sequence is sharded'
export const expertParallel = 'Expert parallel'
export const ranksThatShareTheRouted = 'Ranks over which the routed experts are distributed'
export const expertTensorParallel = 'Expert tensor parallel'
export const ranksThatShareEachExpert = 'Ranks over which each expert matrix is sharded'
export const unevenStages = 'Uneven stages'
export const spreadLayersUnevenlyIfThey = 'Allow uneven stages, with fewer layers on the first and last'
export const sequenceParallel = 'Sequence parallel'
export const shardNormsDropoutAndResiduals = 'Shard norms, dropout and residuals along the sequence'
export const schedule = 'Schedule'
export const theOrderOfPassesIn = 'Order of passes in the pipeline'
export const batch = 'Batch'
export const microBatches = (value: Part) => `${value} ${value === '1' ? 'micro-batch' : 'micro-batches'}`
export const globalBatch = 'Global batch'
export const sequencesPerStep = 'Sequences per step'
export const microBatch = 'Micro-batch'
export const sequencesPerMicroBatchAnd = 'Sequences per micro-batch and replica'
export const sequenceLength = 'Sequence length'
export const tokensPerSequence = 'Tokens per sequence'
export const memoryAndPrecision = 'Memory and precision'
export const sharding = 'Sharding'
export const statesShardedOverDataParallel = 'States sharded over data-parallel ranks'
export const recompute = 'Recompute'
export const activationsThatTheBackwardPass = 'Activations that the backward pass recomputes'
export const precision = 'Precision'
export const allNumberFormatsAtOnce = 'All number formats at once'
export const overlap = 'Overlap'
export const training = 'Training'
export const tokens = 'Tokens'
export const tokensToTrainOn15 = 'Tokens to train on: 15.6T, 300B'
export const perDeviceHour = '$ per device-hour'
export const priceOfOneDeviceFor = 'Price of one device for one hour'
export const active2 = (value: Part, value2: Part) => `${value}, ${value2} active`
export const model = 'Model'
export const aModelOfTheCatalogue = 'a model of the catalogue'
export const openAConfigJsonALaunch = 'Open a config.json, a launch file or a log (or drop it anywhere)'
export const openAConfigJsonA = 'Open a config.json, a launch file or a log'
export const active = (value: Part) => `, ${value} active`
export const parameters = 'parameters'
export const layers = 'layers'
export const acceleratorsOf = (vendor: Part) => `accelerators from ${vendor}`

// export-dialog.tsx
export const exportAsALaunchFile = 'Export as a launch file'
export const framework = 'Framework'
export const oneSettingDiffersThere = 'One setting differs'
export const settingsDifferThere = (value: Part) => `${value} settings differ`
export const copy = 'Copy'
export const save = 'Save'

// headline.tsx
export const executedArithmeticRecomputeIncludedIn = 'Executed FLOPs including recompute, in the same convention as the MFU above.'
export const stepTime = 'Step time'
export const to = 'to'
export const mfu = 'MFU'
export const countingFullAttention = 'counting full attention'
export const hfu = 'HFU'
export const tokensPerSecond = 'Tokens/s'
export const perDevice = 'per device'
export const memory = 'Memory'
export const free = (value: Part) => `${value} free`
export const over = (value: Part) => `${value} over`
export const chance = 'fit probability'
export const tokens2 = 'tokens'
export const steps = 'steps'
export const cost = 'Cost'
export const at = 'at $'
export const each = 'per device-h'
export const noPriceKnown = 'unknown price'
export const energy = 'Energy'
export const ofPower = (value: Part) => `${value} of power`
export const noPowerKnown = 'unknown power'
export const noTokensSet = 'no tokens set'
export const setTokens = 'set tokens'
export const headlineNumbers = 'Headline numbers'
export const notFitSoThereIs = (value: Part, choice: Part) => `${value} ${choice} not fit, so the difference is not meaningful`
export const withinTheInterval = 'within the interval'
export const intervalsOfTheStepTime = (value: Part, value2: Part, value3: Part, value4: Part, value5: Part) =>
  `${value}% intervals of the step time overlap: A ${value2} to ${value3}, B ${value4} to ${value5}`
export const noDifferenceThatARun = 'no significant difference'
export const betterThanA = 'better than A'
export const worseThanA = 'worse than A'
export const better = ' better'
export const worse = ' worse'
export const mDeviceH = (value: Part) => `${value} M device-h`
export const deviceH = (value: Part) => `${value} device-h`

// index.tsx
export const closeTheSettings = 'Close the settings'
export const changeTheRun = 'Change the run'
export const settings = 'Settings'
export const scenario = 'Scenario'
export const backToAValidPlan = 'Changed on a valid plan'
export const theNumbersBelowAreThose = 'The numbers below belong to the last valid plan.'
export const whichCluster = 'Which cluster?'
export const chooseASystemOrAn = 'Choose a system or an accelerator on the left.'
export const whichModel = 'Which model?'
export const chooseOneOnTheLeft = 'Choose one on the left, or drop a config.json, a launch file or a log anywhere on the page.'
export const computing = 'computing'
export const noCommonLayoutFitsAll =
  'No common layout fits: all layouts are searched. Set tensor or pipeline parallelism on the left for an immediate answer.'

// memory-inside.tsx
export const memoryOfStage = (letter: Part, stage: Part) => (letter ? `${letter}memory of stage ${stage}` : `Memory of stage ${stage}`)
export const groupedBy = 'Grouped by'
export const memoryOfStageBy = (stage: Part, by: Part) => `memory of stage ${stage} by ${by}`
export const stageGib = (a: Part) => `stage ${a}, GiB`
export const stageOfAStageOf = (a: Part, b: Part) => `stage ${a} of A, stage ${b} of B, GiB`
export const memoryOverTheStep2 = 'Memory over the step'
export const thisStepHasTooMany = 'This step has too many passes for a timeline.'
export const all = 'all'
export const memoryOverTheStep = 'memory over the step'
export const deviceHas = (deviceMemory: Part) => `device has ${deviceMemory}`
export const fullestAt = (time: Part, bytes: Part) => `peak at ${time}: ${bytes}`

// memory-stages.tsx
export const deviceHas2 = (choice: Part, value: Part) => `${choice}device has ${value}`
export const memoryByStage = 'Memory by stage'
export const aLeftBRightGib = 'A left, B right, GiB'
export const ofOneRankAtIts = 'one rank at its peak, GiB'
export const memoryOfEachStageBy = 'memory of each stage by kind'
export const stage = 'stage'
export const peak = ', peak'

// near.tsx
export const on = 'On'
export const sequence = 'Sequence'
export const measured = 'Measured'
export const predicted = 'Predicted'
export const stepTimeByConstantsFitted = 'Step time, with constants fitted without this publication'
export const error = 'Error'
export const publication = 'Publication'
export const measuredRunsNearThisOne = 'Similar measured runs'
export const bySizeGpuNumberOf = 'by model size, GPU, number of GPUs and sequence length; with errors'
export const allMeasuredRuns = 'All measured runs'
export const nearestMeasuredRuns = 'Nearest measured runs'

// notes.tsx
export const notes = 'Notes'
export const warnings = 'Warnings'
export const oneRemarkOnTheInput = 'One note on the input'
export const remarksOnWhatWasRead = (value: Part) => `${value} notes on the input`
export const defaults = 'Defaults'
export const evidenceOfTheStepTime = 'Evidence for the step time'
export const constantsOf = 'Constants of'

// other-settings.tsx
export const otherSettings = 'Other settings'
export const takeBack = (flag: Part) => `Reset ${flag}`
export const addASetting2 = 'Add a setting'
export const addASetting = 'Add a setting…'

// remedies.ts
export const fullRecompute = 'full recompute'
export const recomputeCoreAttention = 'recompute core attention'
export const optimizerStatesOnTheHost = 'optimizer states on the host'
export const microBatch2 = (value: Part) => `micro-batch ${value}`

export const withRecompute = (value: Part) => `, with recompute ${value}`

// suggestions.ts
export const allow = (value: Part) => `allow ${value}`

// tables.tsx
export const what = 'Collective'
export const operation = 'Operation'
export const ranks = 'Ranks'
export const ranksAndTheScaleUp = 'Ranks and their scale-up domains'
export const over2 = (ranks: Part, domains: Part) => `${ranks} in ${domains} domains`
export const bytes = 'Bytes'
export const times = 'Calls'
export const timeA = 'Time A'
export const time = 'Time'
export const exposedA = 'Exposed A'
export const notHiddenByCompute = 'Not overlapped with compute'
export const timeB = 'Time B'
export const exposedB = 'Exposed B'
export const difference = 'Difference'
export const bus = 'Bus BW'
export const busBandwidthAsDefinedBy = 'Bus bandwidth as defined by nccl-tests'
export const algorithm = 'Algorithm'
export const evidence = 'Evidence'
export const ofOneRankOverThe = 'one rank over the step'
export const thereIsNoCommunicationBetween = 'There is no communication between ranks.'
export const communication = 'Communication'
export const inBubble = 'in bubble'
export const stage2 = 'Stage'
export const layers2 = 'Layers'
export const differencesAre = (mark: Part) => `; differences ${mark}`
export const fromTo = (least: Part, most: Part) => `${least} to ${most}`
export const showEachStage = 'Show each stage'
export const foldEqualStages = 'Fold equal stages'
export const alsoHolds = 'Also contains'
export const forward = 'Forward'
export const oneMicroBatch = 'One micro-batch'
export const backward = 'Backward'
export const oneMicroBatchRecomputeIncluded = 'One micro-batch, recompute included'
export const busy = 'Busy'
export const overTheStep = 'Over the step'
export const exposed = 'Exposed'
export const communicationNotHiddenByCompute = 'Communication not overlapped with compute'
export const idle = 'Idle'
export const bubbleAndTransfers = 'Bubble and transfers'
export const stages2 = 'Stages'
export const passesOfOneMicroBatch = 'passes of one micro-batch, then sums over the step'
export const stages = (letter: Part) => `Stages ${letter}`

// toolbar.tsx
export const exportToAFramework = 'Export to a framework'
export const compareOpenOrCloseScenario = 'Compare: open or close scenario B'
export const changeTheOtherScenario = 'Change the other scenario'
export const theScenarioThatTheControls = 'Scenario changed by the controls'
export const on2 = 'on'
export const keepOneScenario = 'Keep one scenario'
export const keepA = 'Keep A'
export const keepB = 'Keep B'
export const keep = 'Keep…'
export const openScenarioBBesideThis = 'Open scenario B next to this one (c)'
export const compare = 'Compare'
export const copyTheCommandLineThat = 'Copy the command line that gives these numbers (y)'
export const copyAsCommand = 'Copy as command'
export const megatronFlagsAndOtherLaunch = 'Megatron flags and other launch files (e)'
export const exportText = 'Export…'
export const more = 'More'
export const saveReportHtml = 'Save report (HTML)'
export const saveNumbersJson = 'Save numbers (JSON)'
export const saveNumbersCsv = 'Save numbers (CSV)'
export const saveAsMarkdown = 'Save as Markdown'
export const bIsACopyOf = 'B is a copy of A; change a setting on the left.'
export const bDiffersIn = 'B differs in'
export const asChosen = 'default'
export const takeBackInB = (key: Part) => `Reset ${key} in B`
export const saved = (name: Part) => `${name} saved`

// verdict.tsx
export const aDevice = 'each device'
export const stage3 = (worst: Part) => `stage ${worst}`
export const verdictOn = (letter: Part) => `Verdict on ${letter}`
export const verdict = 'Verdict'
export const hasFreeOf = (where: Part, value: Part, value2: Part) => `${where}: ${value} of ${value2} free`
export const needsMoreThanTheOf = (where: Part, value: Part, value2: Part) => `${where} needs ${value} more than the device’s ${value2}`
export const largest = '. Largest:'
export const lookingForChangesThatFit = 'Searching for changes that fit…'
export const closestLayout = (layout: Part, needed: Part) => `Closest of all layouts: ${layout}, ${needed} for a fit probability of 90%.`
export const noneOf = 'None of'
export const commonChangesMakesItFit =
  'common changes makes it fit. “Best layout” on the left searches all layouts; more devices also help.'
export const onDevices = (count: Part) => `${count} devices`
export const devicesWithLayoutOnAuto = (count: Part) => `${count} devices, all layout settings on auto`
export const changesThatFit = 'Changes that fit'
export const apply = 'Apply'
export const layoutOnAuto = 'All layout settings on auto'
export const isComputed = 'is being computed'
export const step = '; step'
export const againstThisPlan = 'vs. this plan'

// wording.ts
export const notSet = 'not set'
export const interleaved1F1b = 'Interleaved 1F1B'
export const zeroBubbleH1 = 'Zero bubble H1'
export const zeroBubbleH2 = 'Zero bubble H2'
export const zeroBubbleV = 'Zero bubble V'
export const fsdpKeptAfterForward = 'FSDP, no reshard'
export const hsdpAmong8 = 'HSDP, groups of 8'
export const coreAttention = 'Core attention'
export const normsActivations = 'Norms, activations'
export const wholeLayers = 'Whole layers'
export const gradientReduction = 'Gradient reduction'
export const overlapGradientReductionWithThe = 'Overlap gradient reduction with the backward pass'
export const parameterAllGather = 'Parameter all-gather'
export const overlapParameterAllGatherWith = 'Overlap parameter all-gather with the forward pass'
export const overlapTensorParallelCommunicationWith = 'Overlap tensor-parallel communication with GEMMs'
export const pipelineTransfers = 'Pipeline transfers'
export const overlapPipelineSendAndReceive = 'Overlap pipeline send and receive with compute'
export const expertAllToAll = 'Expert all-to-all'
export const overlapExpertAllToAll = 'Overlap expert all-to-all with compute'
export const tensorParallel2 = 'tensor parallel'
export const pipelineStages2 = 'pipeline stages'
export const contextParallel2 = 'context parallel'
export const virtualStages2 = 'virtual stages'
export const expertParallel2 = 'expert parallel'
export const expertTensorParallel2 = 'expert tensor parallel'
export const dataParallel2 = 'data parallel'
export const intervalOf = (percent: Part, source: Part) => `${percent}% interval; ${source}`
export const chanceOfFitting = (chance: Part) => `; fit probability ${chance}`

export const devicesOfOtherKinds = 'Devices of other kinds'
export const none = 'none'
export const addDevicesOfAnotherKind = 'Add devices of another kind'
export const devicesOf = (name: Part) => `Number of ${name} devices`
export const removeKind = (name: Part) => `Remove ${name}`
export const ranksOfKind = (first: Part, last: Part, name: Part) => `Ranks ${first} to ${last}: ${name}`
