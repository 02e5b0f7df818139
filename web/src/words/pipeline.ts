// Words of the pipeline view.
import type { Part } from './part'

// index.tsx
export const notInThisReport = 'Not in this report'
export const theReportContainsNoStep = 'The report contains no step. Start `railwright serve` to compute one.'
export const noStepYet = 'No step yet'
export const describeARunInThe = 'Create a run in the calculator or open a pipeline trace to show all stages on one timeline.'
export const showAnExample405bOn = 'Show an example: 405B on 16 stages'
export const open = 'Open'
export const computingTheStep = 'computing the step'

// numbers.tsx
export const stepOf = 'step of'
export const predicted = 'predicted'
export const stagesTheTrace = 'stages, the trace'
export const theRunHas = 'the run has'
export const microBatchesTheTrace = 'micro-batches, the trace'
export const theyAreNotTheSame = ': different jobs'
export const bubbles2 = 'bubbles'
export const ofThePipelineMeanOver = 'of the pipeline, mean over stages'
export const onStage = (share: Part, stage: Part) => `, ${share} on stage ${stage}`
export const spans = 'spans'
export const stage = 'Stage'
export const rank = 'Rank'
export const ofThePipeline = 'Of the pipeline'
export const allBubblesOfTheStage =
  'All bubbles of the stage over the time from the first to the last pass, without data parallelism and optimizer'
export const bubbles = 'Bubbles'
export const bubblesOfEachStage = 'Bubbles of each stage'
export const shorterParts = (rest: Part) => `${rest} shorter parts`
export const criticalPath = 'Critical path'
export const criticalPathByPart = 'Critical path by part'

// switches.tsx
export const zeroBubbleH1 = 'Zero bubble H1'
export const zeroBubbleH2 = 'Zero bubble H2'
export const zeroBubbleV = 'Zero bubble V'
export const optionsOfTheTimeline = 'Options of the timeline'
export const schedule = 'Schedule'
export const chunksPerStage = 'Chunks per stage'
export const globalBatch = 'Global batch'
export const defaultText = 'default'
export const detail = 'Detail'
export const automatic = 'Automatic'
export const passes = 'Passes'
export const operators = 'Operators'
export const layers = 'Layers and operators'
export const measured = 'Measured'
export const aTraceShownAboveThe = 'path of a trace'
export const step = 'Step'
export const slowest = 'slowest'
export const theCommand = 'the command'
export const copyAsCommand = 'Copy as command'
