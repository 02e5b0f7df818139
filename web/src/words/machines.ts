// Words of the machines view.
import type { Part } from './part'

// charts.tsx
export const marginalEfficiency = 'marginal efficiency'
export const costPerDaySaved = 'cost per day saved'
export const largestEfficient2 = 'largest efficient size'
export const largestEfficient = (choice: Part) => `${choice}, largest efficient size`
export const gpus = 'GPUs'
export const gpusOf = (devices: Part, name: Part) => `${devices} GPUs of ${name}`
export const days2 = 'Days'
export const onePointPerSearchedCount = 'training time at each searched size'
export const hollowIfItMisses = ', hollow if it misses the goal'
export const daysOfTrainingByNumber = 'Days of training by number of GPUs'
export const deadline = (deadline: Part) => `deadline: ${deadline}`
export const dollars2 = 'Dollars'
export const rentalCostOfAllGpus = 'rental cost of all GPUs'
export const rentByNumberOfGpus = 'Rent by number of GPUs'
export const budget = (budget: Part) => `budget: ${budget}`
export const largePointsOnTheSteps = 'large points form the frontier: no other size is both faster and cheaper'
export const daysAgainstDollars = 'Days vs. dollars'
export const days = 'days'
export const dollars = 'dollars'

// frontier.ts
export const shortestWithinBudget = 'shortest within budget'
export const fewestGpuHours = 'fewest GPU-hours'
export const byDeadline = (least: Part) => `${least} by deadline`
export const byDeadlineAndWithinBudget = (least: Part) => `${least} by deadline and within budget`

// index.tsx
export const computeTheNumberOfMachines = 'Compute the number of machines'
export const stop = 'Stop'
export const machines = 'Machines'
export const goal = 'Goal'
export const deadline2 = 'Deadline'
export const longestTrainingTimeSuchAs = 'Maximum training time'
export const budget2 = 'Budget'
export const none = 'none'
export const maximumRentalCostInDollars = 'Maximum rental cost'
export const aroundTheGoal = 'near the goal'
export const sizesToCompare = 'Cluster sizes to compare'
export const machinesToCompare = 'Machines to compare'
export const theRunsCluster = 'the run’s cluster'
export const leastMarginalEfficiency = 'Minimum marginal efficiency'
export const leastThroughputOfAnAdded = 'Minimum throughput of an added GPU, relative to a GPU of the smallest cluster'
export const batchGrowsWithTheGpus = 'Scale the batch with the GPUs'
export const itChangesHowTheTraining = 'Affects convergence'
export const theGoalHasChangedSince = 'The goal has changed since this result.'
export const askAgain = 'Update'
export const deadlineOrBudget = 'Deadline or budget'
export const forEachNumberOfMachines =
  'Finds the best layout for each number of machines. Results are training days, cost and the marginal efficiency of more machines.'
export const size = 'Size'
export const howManyTokens = 'How many tokens?'
export const daysAndDollarsDependOn = 'Days and dollars depend on the number of training tokens.'
export const noRunYet = 'No run yet'
export const nameAModelAMachine = 'Set a model, a cluster and the tokens above, or start with an example.'
export const answer = 'Answer'
export const and = 'and'
export const noNumberMeetsTheGoal = 'No size meets the goal'
export const noGoalIsSetCluster = 'No goal is set: cluster sizes with their marginal efficiency.'
export const beyondAddedGpusDoLess = (devices: Part, name: Part, worth: Part) =>
  `Beyond ${gpusOf(devices, name)}, the marginal efficiency falls below ${worth}.`
export const upToAddedGpusAre = (devices: Part, name: Part) => `Up to ${gpusOf(devices, name)}, scaling is efficient.`
export const tokens = 'tokens'
export const theBatchGrowsWithThe = ', batch scales with the GPUs'
export const sequencesAStepForEvery = (globalBatch: Part) => `, ${globalBatch} sequences per step throughout`
export const sequencesAStepOrNearest = (globalBatch: Part) =>
  `, ${globalBatch} sequences per step or the nearest divisible size, because no single batch is divisible for all sizes`
export const batch = 'Batch'
export const sequencesPerStep = 'sequences per step'
export const stoppedEarlyResultsSoFar = 'Stopped early: partial results.'
export const loadIntoTheCalculator = 'Load into the calculator'
export const add = 'Add'
export const inBetween = 'between these'

// table.tsx
export const machine = 'Machine'
export const training = 'Training'
export const rent = 'Rent'
export const step = 'Step'
export const mfu = 'MFU'
export const efficiency = 'Efficiency'
export const throughputPerGpuRelativeTo = 'Throughput per GPU, relative to the smallest cluster'
export const added = 'Added'
export const theSameForTheGpus = 'Throughput per added GPU, relative to the smallest cluster'
export const daySaved = '$/day saved'
export const costOfTheAddedGpus = 'Cost of the added GPUs per day saved'
export const frontier = 'Frontier'
export const noOtherCountIsBoth = 'No other size is both faster and cheaper'
export const layout = 'Layout'
export const verdict = 'Verdict'
export const numbersOfMachines = 'Cluster sizes'
export const allNumbers = 'All sizes'
export const clickOrEnterLoadsA = 'click or Enter loads a layout into the calculator'
export const numbersOfMachinesInFigures = 'Cluster sizes: table'
export const nearestOf = (size: Part, time: Part, rent: Part, misses: Part) => `; nearest: ${size}, ${time} for ${rent}, ${misses}`
export const aGpuAndHour = (price: Part, source: Part) => `; ${price} per GPU-hour (${source})`
