// Words of the log view.
import type { Part } from './part'

// chart.tsx
export const iterationsTo = (from: Part, to: Part) => `iterations ${from} to ${to}`
export const typically = (value: Part) => `typically ${value}`
export const slow = (value: Part) => `slow: ${value}`
export const restartedHere = 'restarted here'
export const iteration2 = (under: Part) => `iteration ${under}`
export const lineChart = 'line chart'
export const iteration = 'iteration'
export const restart = 'restart'

// index.tsx
export const openATrainingLog = 'Open a training log'
export const logsOfMegatronLmMegatron =
  'Logs of Megatron-LM, Megatron-DeepSpeed, DeepSpeed or torchtitan, also compressed: step time, MFU, loss, gradient norm and learning rate over time, slow steps, restarts. Drop one anywhere on this page.'
export const orAPathInThe = 'or a path in the served folder'
export const openTheModelAndThe = 'Open the model and the plan of this log in the calculator'
export const predictThisRun = 'Predict this run'
export const readingTheLog = 'reading the log'
export const accelerator = 'Accelerator'
export const notSetNoMfu = 'not set: no MFU'
export const loss = 'Loss'
export const gradientNorm = 'Gradient norm'
export const learningRate2 = 'Learning rate'
export const learningRate = 'learning rate'
export const iterations = 'Iterations'
export const to2 = 'to'
export const allIterations = 'All iterations'
export const iterationTime = 'Iteration time'
export const reportsOfIterations = (reports: Part, iterations: Part) => `${reports} reports of ${iterations} iterations`
export const ofEachLevel = 'of each level'
export const asReported = 'as reported'
export const caveats = 'Caveats'
export const typicalIteration = 'typical iteration'
export const noise = (noise: Part) => `± ${noise} noise`
export const atTheLastLevel = 'at the latest step time level'
export const overTheLastPeriod = 'over the last period'
export const slowReports2 = 'slow reports'
export const ofTheTime = (slowShare: Part) => `${slowShare} of the time`
export const everyIterationsTimes = (period: Part, count: Part) => `every ${period} iterations, ${count} times`
export const withCause = (text: Part, cause: Part) => `${text}: ${cause}`
export const evaluationAndCheckpoint = 'evaluation and checkpoint'
export const evaluation = 'evaluation'
export const checkpoint = 'checkpoint'
export const doneTwice2 = (reduce: Part) => `${reduce} repeated`
export const updatesLost = 'skipped updates'
export const skippedNotANumber = (skipped: Part, notANumber: Part) => `${skipped} skipped, ${notANumber} not a number`
export const levels = 'Levels'
export const periodsOfConstantStepTime = 'periods of constant step time'
export const levelsOneARow = 'Levels, one per row'
export const from = 'From'
export const to = 'To'
export const batch = 'Batch'
export const tflopS = 'TFLOP/s'
export const mfu = 'MFU'
export const slowReports = 'Slow reports'
export const everyIterationsAreLost = (period: Part, lost: Part) => `${lost} lost every ${period} iterations`
export const wellAboveTheirNeighbours = 'far above their neighbours'
export const noReportExceedsTheNoise = 'No report exceeds the noise.'
export const slowReportsOneARow = 'Slow reports, one per row'
export const iteration3 = 'Iteration'
export const restarts = 'Restarts'
export const restartsOneARow = 'Restarts, one per row'
export const endedAt = 'Ended at'
export const beganAt = 'Began at'
export const repeated = 'Repeated'
export const lost = 'Lost'
export const line = 'Line'
export const timers = 'Timers'
export const minimumAndMaximumOverThe = 'minimum and maximum over the ranks, if the log records both'
export const timersOfAnIteration = 'Timers of an iteration'
export const timer = 'Timer'
export const minimum = 'Minimum'
export const maximum = 'Maximum'
export const ofAnIteration = 'Of an iteration'
export const stragglers = 'Stragglers'
export const theLastLineOfThe = 'last straggler report in the log'
export const linesOfStragglerDetectors = 'Straggler lines'
export const measure = 'Measure'
export const lowest = 'Lowest'
export const highest = 'Highest'
export const onRank = (highest: Part, highest2: Part) => `${highest} on rank ${highest2}`
export const afterIteration = 'After iteration'
export const dragOverAChart = 'Drag across a chart to zoom all charts; double-click to show all iterations.'
