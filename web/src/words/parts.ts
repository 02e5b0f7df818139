// Words of the parts.
import type { Part } from './part'

// bubble.ts
export const bubbleOfTheSlowestStage = 'bubble of the slowest stage'
export const ofTheWholeStep = 'of the whole step'
export const idleTimeOfTheCritical = 'idle time of the critical stage / step time'
export const whatTheStepLosesBy =
  'Step time lost to the bubble. Other stages are idle for longer: the pipeline view and the balance show their mean as a share of the pipeline. The whole step also includes data parallelism, the optimizer and the jitter allowance, so this share is the smallest.'
export const bubblesMeanOverStages = 'bubbles, mean over stages'
export const meanOverStagesOfFill = 'mean over stages of (before the first pass + between passes + after the last pass) / pipeline'
export const allStagesHaveTheSame =
  'All stages have the same weight, and messages in transit do not count as bubble. The calculator’s share is that of the slowest stage in the whole step, so it is smaller.'
export const idleMeanOverStages = 'idle, mean over stages'
export const messagesInTransitAreIdle =
  'All stages have the same weight, and messages in transit count as idle. The bubbles of the pipeline view do not contain them, so they are a little smaller.'
export const meanOverStagesOfPipeline = 'mean over stages of (pipeline − busy) / pipeline'
export const bubblesOfOneStage = 'bubbles of one stage'
export const ofThePipelinesDuration = 'of the pipeline’s duration'
export const fillSteadyDrainPipelineOr =
  'bubble = (before the first pass + between passes + after the last pass) / pipeline; for measured steps, the sum of the causes'
export const fromTheFirstPassOf = 'From the first pass of any stage to the last, without data parallelism and optimizer after the pipeline.'

// command.ts
export const copyAsCommand = 'Copy as command'

// examples.ts
export const theServerAnsweredFor = (status: Part, name: Part) => `the server answered ${status} for ${name}`

// fit.ts
export const atRisk = 'at risk'
export const doesNotFit = 'does not fit'

// load.ts
export const strategyLoadedIntoTheCalculator = 'Layout loaded into the calculator'
export const pressBackToReturn = 'press Back to return'

// no-run.tsx
export const llama31405bOn = 'Llama 3.1 405B on 1,024 H100'
export const llama318bOn = 'Llama 3.1 8B on 64 H100'
export const mixtral8x7bOn128H100 = 'Mixtral 8x7B on 128 H100'

// open.tsx
export const chooseFiles = 'Choose files…'
export const openAnExample = 'Open an example'
export const path = 'Path'
export const open = 'Open'
export const filesAreReadInThis =
  'Files are read in this browser. Folders, Parquet and SQLite files (Nsight Systems) need the installed program:'
export const railwrightServeFolder = 'railwright serve FOLDER'
export const jobs = 'Jobs'
export const logs = 'Logs'
export const snapshots = 'Snapshots'
export const dumps = 'Dumps'
export const otherFiles = 'Other files'
export const job = 'Job'
export const what = 'Format'
export const ranks = 'Ranks'
export const files2 = 'Files'
export const size = 'Size'
export const andMoreThanAreListed = ', and more'
export const enterOpensOne = '; Enter opens the selected job'
export const filterJobs = 'Filter jobs'
export const filter = 'Filter'
export const oneARow = (title: Part) => `${title}, one per row`
export const jobsInIt = 'Jobs'
export const files = (value: Part, short: Part) => `${value} files: ${short} …`
export const openOthers = 'Open other files'
export const theCommand = 'the command'

// progress.tsx
export const progress2 = 'Progress'
export const progress = 'progress'
export const perSecond = 'per second'
export const bestSoFar = '· best so far'
export const stop = 'Stop'
export const esc = 'Esc'

// run-bar.tsx
export const model = 'Model'
export const llama31405b = 'llama-3.1-405b'
export const cluster = 'Cluster'
export const dgxH100 = 'dgx-h100'
export const gpus = 'GPUs'
export const oneNode = 'one node'
export const acceleratorsThatTheRunUses = 'Number of accelerators'
export const globalBatch = 'Global batch'
export const sequencesPerStep = 'Sequences per step'
export const sequence = 'Sequence'
export const tokensPerSequence = 'Tokens per sequence'
export const tokens = 'Tokens'
export const oneStep = 'one step'
export const asTyped = 'as typed'
export const tokensToTrainOnAs = 'Tokens to train on, as in 15T'
export const run = 'Run'

// replan.ts
export const model2 = (value: Part) => `Model: ${value}`
export const cluster2 = (value: Part) => `Cluster: ${value}`
export const keepThePlan = 'Keep the plan'

// narrow.tsx
export const addASetting = 'add a setting'
export const anyValueUntilOneIsChosen = 'no restriction: choose a value'
export const addAnother = 'add another'
export const removeSetting = (name: Part) => `Remove ${name}`
export const from = 'from'
export const to = 'to'

// run-problems.tsx
export const theAnswerBelowIsThat = 'The results below belong to the last valid settings.'
export const defaults = (list: Part) => `Defaults: ${list}`
export const notesOfTheProgram = 'Notes of the program'
