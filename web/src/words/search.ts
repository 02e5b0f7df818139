// Words of the search view.
import type { Part } from './part'

// cards.tsx
export const layoutsByFamily = 'Layouts by family'
export const layouts = 'Layouts'
export const theSimplestOfEachCombination = 'the simplest layout for each combination of TP, PP, CP, EP and sharding'
export const showFewer = 'Show fewer'
export const showAll = (value: Part) => `Show all ${value}`
export const withinTheModelErrorOf = 'Within the model error between two layouts'
export const mfu = 'MFU'
export const perDeviceFitsWith = 'per device, fit probability'
export const load = 'Load'
export const otherLayoutsOfThisFamily = 'Other layouts of this family'
export const searching = 'Searching…'
export const yourLayout = 'Your layout'
export const againstTheBest = 'vs. the recommended'
export const perDevice = 'per device'

// family.ts
export const noSharding = 'no sharding'
export const fsdpNoReshard = 'FSDP, no reshard'
export const dataParallelOnly = 'data parallel only'

// index.tsx
export const stopTheSearch = 'Stop the search'
export const theScopeHasChangedSince = 'The search space has changed since this result.'
export const searchAgain = 'Search again'
export const noRunYet = 'No run yet'
export const nameAModelAndA = 'Set a model and a cluster above, or start with an example.'
export const layoutsCovered = 'layouts covered'
export const mostAreNotEvaluated = ' (equivalent, pruned and too large ones without an evaluation)'
export const inS = (value: Part) => ` in ${value} s`
export const rankedEachFitsWithAt = 'ranked, each with a fit probability of at least'
export const searchAllLayouts = 'Search all layouts'
export const theSearchPricesTheValid =
  'The search evaluates all valid combinations of parallel sizes, batch, recompute, schedule and sharding. Layouts that cannot win are pruned; the others are ranked.'
export const search = 'Search'
export const onlyWithoutInterleavingAndContext = 'Exclude interleaving and context parallelism'

// landscape.tsx
export const theFastestLayoutOfEach = 'the fastest layout of each pair'
export const dashedYourLayout = 'dashed: your layout'
export const stepTimeByTpAnd = 'Step time by TP and PP'
export const noValidLayout = 'no valid layout'
export const enterLoadsTheLayoutInto = 'Enter loads the layout into the calculator'
export const tpPp = (tp: Part, pp: Part) => `TP${tp} PP${pp}`
export const stageDeviceHas = (stage: Part, deviceMemory: Part) => `stage ${stage}, device has ${deviceMemory}`
export const perDevice2 = (stepTime: Part, peak: Part) => `${stepTime}, ${peak} per device`

// nothing.tsx
export const moreGpus = 'more GPUs'
export const optimizerStatesOnTheHost = 'optimizer states on the host'
export const activationsOnTheHost = 'activations on the host'
export const parametersOnTheHost = 'parameters on the host'
export const optimizerStatesAndActivationsOn = 'optimizer states and activations on the host'
export const searchTheSettingsKeptFrom = 'search the fixed settings as well'
export const gpus2 = (devices: Part) => `${devices} GPUs`
export const stopped = 'Stopped'
export const stoppedEarlyNoLayoutThat = 'Stopped early: no fitting layout has been found so far.'
export const nothingFits = 'Nothing fits'
export const theNearestNeeds = (strategies: Part, needed: Part, stage: Part, probability: Part) =>
  `The closest of ${strategies} layouts needs ${needed} on stage ${stage} for a fit probability of ${probability}:`
export const moreThan = (missing: Part) => `${missing} more`
export const thanADeviceHas = (memory: Part) => `than the ${memory} of a device.`
export const changesThatHelp = 'Changes that help'
export const stepOf = 'step of'
export const withText = 'with'
export const searchOn = 'Search on'
export const gpus = 'GPUs'
export const loadItIntoTheCalculator = 'Load it into the calculator'
export const noneOf = 'None of'
export const remediesThatWereTriedMakes =
  'remedies tried makes it fit. Use more or larger GPUs, a shorter sequence, or a narrower number format.'
export const nearestMisses = 'Closest layouts'
export const lacks = 'missing'

// family.ts
export const recommended = 'recommended'
export const recommendedAndFastest = 'recommended, fastest'
export const fastest = 'fastest'

// plot.tsx
export const ofText2 = (device: Part, deviceMemory: Part) => `${device} of ${deviceMemory}`
export const fitsWith = 'fit probability'
export const perTrillionTokens = 'per trillion tokens'
export const strategies2 = 'Layouts'
export const stepTimeAgainst = 'Step time vs.'
export const againstMemory = 'vs. memory'
export const againstCost = 'vs. cost'
export const stepTimeAgainstCost = 'Step time vs. cost'
export const stepTimeAgainstMemory = 'Step time vs. memory'
export const dollarsForATrillionTokens = 'dollars per trillion tokens'
export const memoryOfTheFullestDevice = 'memory of the fullest device (GiB)'
export const stepTimeS = 'step time (s)'
export const device = (limit: Part) => `device: ${limit}`

// ranking.tsx
export const strategy = 'Layout'
export const on = 'On'
export const step = 'Step'
export const behind = 'Vs. recommended'
export const timePerTokenOverThe =
  'Time per token relative to the recommended layout. Tied layouts differ by less than the model error: benchmark them.'
export const tie = 'tie'
export const modelFlopUtilisation = 'Model FLOP utilization'
export const memory = 'Memory'
export const memoryOfTheFullestDevice2 = 'Memory of the fullest device'
export const fits = 'Fits'
export const probabilityThatItStaysBelow = 'Probability of staying below the limit'
export const tTokens = '$/T tokens'
export const whereTimeGoes = 'Step breakdown'
export const computeExposedCommunicationByDimension =
  'Compute, exposed communication by dimension, bubble and rest; sorted by non-compute time'
export const ranking = 'Ranking'
export const clickOrEnterLoadsA = 'click or Enter loads a layout into the calculator'
export const filterStrategies = 'Filter layouts'
export const filterPp16Zero1Full = 'Filter: pp16 zero-1 full'
export const rankedStrategies = 'Ranked layouts'

// scope.tsx
export const shortestStep = 'shortest step'
export const cheapestToken = 'cheapest token'
export const fewestGpus = 'fewest GPUs'
export const leastMemory = 'least memory'
export const startTheSearch = 'Start the search'
export const scope = 'Scope'
export const objective = 'Objective'
export const gpusToCompare = 'GPUs to compare'
export const severalNumbersWithCommasPut = 'Several sizes in one table'
export const clustersToCompare = 'Clusters to compare'
export const asAbove = 'as above'
export const severalNamesWithCommasDgx = 'Catalogue clusters or cluster files to rank in one table'
export const narrowTo = 'Restrict to'
export const tp28RecomputeNone = 'tp=2..8 recompute=none,full'
export const dimensionsWithTheValuesThat = 'Dimensions with allowed values, separated by spaces'
export const leastFitProbability = 'Minimum fit probability'
export const leastProbabilityThatALayout = 'Minimum probability that a layout fits in memory'
export const ignoreSoftwareLimits = 'Ignore software limits'
export const alsoWhatTheSoftwareGeneration = 'Include features that the software generation does not support'
export const keepFromTheCalculator2 = 'Keep settings of the calculator'
export const keepFromTheCalculator = 'Fixed settings of the calculator:'

// space.ts
export const oom = (lacks: Part) => `OOM ${lacks}`
export const outOfMemoryBy = (lacks: Part) => `out of memory by ${lacks}`
export const notSearched = 'not searched'
export const doesNotDivideTheGpus = 'does not divide the GPUs'

// why-not.tsx
export const whyNot = 'Why not'
export const whyNotMine = 'Why not my layout?'
export const namedSettingsAreFixedThe = 'listed settings are fixed, all others are searched'
export const strategyNumber = (number: Part) => `Layout ${number}`
export const anotherStrategy = 'Another layout'
export const theCalculatorsLayout = 'The calculator’s layout'
export const explain = 'Explain'
export const wasNotEvaluatedTheSearch = 'was not evaluated: the search was stopped.'
export const isTheBestLayout = 'is the recommended layout.'
export const isNotAValidLayout = 'is not a valid layout.'
export const doesNotFit = 'does not fit'
export const stage = ': stage'
export const evenWith = 'even with'
export const slower2 = 'slower:'
export const faster2 = 'faster:'
export const aTie = 'a tie'
export const withinTheModelErrorOfTwo = ', within the model error between two layouts.'
export const is = 'is'
export const slower = 'slower'
export const itsStepTakes = 'Its step time is'
export const againstTheBest3 = 'Vs. the recommended'
export const timeLostAndGainedBy = 'time lost and gained by part'
export const againstTheBest2 = (named: Part) => `${named} vs. the recommended layout`
export const perStepIn = (unit: Part) => `${unit} per step`

// winner.tsx
export const bestStrategy = 'Recommended layout'
export const best = 'Recommended'
export const theSimplestWithinTheTie = 'Recommended: the simplest layout within the model error of the fastest.'
export const toInOfRuns = (low: Part, high: Part, coverage: Part) => `${coverage} interval ${low} to ${high}`
export const tokensS = (tokensPerSecond: Part) => `${tokensPerSecond} tokens/s`
export const fitsWith2 = (probabilityOfFitting: Part) => `fit probability ${probabilityOfFitting}`
export const training = 'Training'
export const loadIntoTheCalculator = 'Load into the calculator'
export const loadTheFastest = 'Load the fastest,'
export const copyAsCommand = 'Copy as command'
export const saveRunFile = 'Save run file'
export const layoutsAreWithinTheModel =
  'layouts are within the model error of the fastest. They are ordered by simplicity, then time: measure the first few.'
export const stoppedEarlyBestResultSo = 'Stopped early: best result so far.'
export const defaults = 'Defaults:'
export const pointsDiamonds = (count: Part) => `${count} points; diamonds are Pareto-optimal`
export const lookingForTheRest = '; computing the rest of the Pareto front'
