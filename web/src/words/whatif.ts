// Words of the whatif view.
import type { Part } from './part'

// changes.ts
export const n2Network = '2× network'
export const n2ScaleUp = '2× scale-up'
export const n15MemoryBandwidth = '1.5× memory bandwidth'
export const fp8Gemms = 'FP8 GEMMs'
export const overlapTpCommunication = 'overlap TP communication'
export const fullRecompute = 'full recompute'
export const noRecompute = 'no recompute'
export const microBatch2 = 'micro-batch 2'
export const zeroBubble = 'zero bubble'
export const oneGpuAt80 = 'one GPU at 80%'
export const oneNicAtHalf = 'one NIC at 50%'
export const oneSlowHost = 'one slow host'

// index.tsx
export const noRunYet = 'No run yet'
export const whatIfChangesARun =
  'What-if compares a run with and without changes. Set a run above, create one in the calculator, or start with an example.'
export const run = 'Run'
export const step = 'Step'
export const memory = 'Memory'
export const changeThePlanInThe = 'Change the plan in the calculator'
export const changesToCompare = 'Changes to compare'
export const whatIf = 'What-if'
export const layoutBatchAndNumberOf = 'layout, batch and number of GPUs stay the same'
export const results = 'Results'
export const noChangeSelected = 'No change selected'
export const selectAChangeOrPress = 'Select a change, or press Enter on a parameter. Each change is compared alone and combined.'

// picker.tsx
export const anyOtherChange = 'Any other change'
export const settingsOfOneChange = 'Settings that change together; each change is compared alone and combined with the others'
export const chooseASetting = 'choose a setting'
export const andASetting = 'and a setting'
export const compareIt = 'Compare it'
export const machine = 'machine and model'
export const cluster2 = 'cluster'
export const model2 = 'model'
export const slowParts = 'slow part'
export const shareOfItsRate = 'Remaining rate, as a share of the full rate'
export const oneGpu = 'one GPU'
export const oneServer = 'the GPUs of one server'
export const oneHost = 'the host of one server'
export const oneNic = 'the NICs of one server'
export const oneScaleUpLink = 'scale-up links of one server'
export const clearAll = 'Clear all'
export const changes = 'Changes'
export const remove = (one: Part) => `Remove ${one}`

// rehearsals.tsx
export const aloneAndTogether = 'Alone and together'
export const changesOfTheStep = 'Changes of the step'
export const changeOfTheStep = 'change of the step'
export const speedupCombined = 'Speedup combined:'
export const productOfTheSingleChanges = '; product of the individual changes:'
export const ofText = (memory: Part, deviceMemory: Part) => `${memory} of ${deviceMemory}`
export const changesInFiguresTable = 'Changes in numbers: table'
export const changesInFigures = 'Changes in numbers'
export const change = 'Change'
export const speedUp = 'Speed-up'
export const mfu = 'MFU'
export const mTokens = '$/M tokens'
export const fits = 'Fits'
export const actions = 'Actions'
export const asItIs = 'current'
export const impossible = 'impossible'
export const openAsScenarioB = 'Open as scenario B'
export const effectByPart = 'Effect by part'
export const partsOfTheStageThat = (name: Part) => `${name}: parts of the critical stage`
export const noEffect = 'No effect.'
export const whatMoves = (name: Part) => `Effect of ${name} by part`
export const perStepIn = (unit: Part) => `${unit} per step`
export const accuracyOf = 'Accuracy: of'
export const measuredPairsThatDifferIn = 'measured pairs that differ in'
export const aloneHalfWerePredictedWithin = 'individual changes: median error'
export const nineOfTenWithin = ', 90% within'
export const solves = 'Resolves'

// sensitivity.tsx
export const changeOfWhenAFigure = (stepTime: Part, swing: Part) => `change of ${stepTime} when a parameter changes by ${swing}`
export const figures = 'Figures'
export const first = (fIRST: Part) => `first ${fIRST}`
export const sensitivity = 'Sensitivity'
export const more = (swing: Part) => `${swing} more`
export const less = (swing: Part) => `${swing} less`
export const atItsBest = 'without its cost'
export const mostlyThrough = 'most affected part'
export const enterOrClickApplies = (id: Part) => `Enter or click applies ${id}`
export const aConstantOfTheSoftware = 'A software constant: fitted, not configurable'
export const hardware = 'hardware'
export const software = 'software'
export const host = 'host'
export const memoryCapacityChangesNothingUntil = 'Memory capacity does not change the step while the run fits:'
export const theRunNeedsMoreThan = (peak: Part, device: Part, verdict: Part) =>
  `The run needs ${peak} of ${device} (${verdict}). The times above assume enough memory.`
export const ofText2 = 'of'

// solvers.tsx
export const stage2 = (stage: Part, choice: Part, time: Part, choice2: Part, choice3: Part) =>
  `stage ${stage}: ${choice}${time}${choice2}${choice3}`
export const asSpecified = 'As specified'
export const bestTheSameOnEvery = 'Best uniform policy'
export const bestStageByStage = 'Best per stage'
export const selectiveRecompute = 'Selective recompute'
export const modulesAndLayersToRecompute = 'modules and layers to recompute so that the run fits at minimum cost'
export const sameOnEveryStage = 'same on every stage'
export const allowOffload = 'allow offload'
export const waysToRecomputeTable = 'Recompute policies: table'
export const waysToRecompute = 'Recompute policies'
export const againstNone = 'Vs. none'
export const byStage = 'by stage'
export const moreTokensPerSecondThan = 'more tokens per second than full recompute'
export const nothingFitsEvenWithFull = 'Nothing fits, even with full recompute.'
export const stageByStage = 'Stage by stage'
export const stageByStageTable = 'Stage by stage: table'
export const stage = 'Stage'
export const layers = 'Layers'
export const recompute = 'Recompute'
export const costPerMicroBatch = 'Cost per micro-batch'
export const memoryWithout = 'Memory without recompute'
export const pipelineBalance = 'Pipeline balance'
export const layersPerStageCountingEmbedding = 'layers per stage, counting embedding and head'
export const withRecompute = 'with recompute'
export const divisionsOfLayersTable = 'Layer assignments: table'
export const divisionsOfLayers = 'Layer assignments'
export const layersByStage = 'Layers by stage'
export const idle = 'Idle'
export const timeOfTheSlowestStage = 'Time of the slowest stage relative to the mean of all stages'
export const uneven = 'Imbalance'
export const loadItIntoTheCalculator = 'Load it into the calculator'
export const theCurrentAssignmentIsThe = 'The current assignment is the best:'
export const divisionsPriced = 'assignments evaluated'
export const noDivisionFitsTryIt = 'No layer assignment fits. Try recompute.'
export const timeOfAMicroBatch = 'Time of a micro-batch by stage, current and best'
export const timeThen = (time: Part) => `${time}, then `
export const hasTheEmbedding = ', includes the embedding'
export const hasTheHead = ', includes the head'
export const doesNotFit = 'does not fit'
export const againstAStepOf = (time: Part) => `against a step of ${time}; Enter shows the parts`
export const notValidWithTheRun = (change: Part) => `${change} is not valid with this run`
