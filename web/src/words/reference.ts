// Words of the reference view.
import type { Part } from './part'

// accuracy.tsx
export const laterPublications =
  'Publications collected later had larger errors at the first prediction: medians of 11% to 30%. Expect such errors for a stack that is not listed.'
export const loadingTheBundledRuns = 'loading the bundled runs'
export const publications = (value: Part) => `${value} publications`
export const medianError2 = 'median error'
export const ofTheStepTime = 'of the step time'
export const absoluteError = 'absolute error'
export const stepTimeInSecondsConstantsFitted = 'step time in seconds; constants fitted without the publication of the run'
export const stepTimeInSecondsConstants = 'step time in seconds; constants fitted to all runs'
export const constants = 'Constants'
export const predictedAgainstMeasuredBundledRuns = 'Predicted vs. measured, bundled runs'
export const measuredStepS = 'measured step time'
export const predicted = 'predicted step time'
export const byPublication = 'By publication'
export const enterShowsOneAlone = 'Enter shows only the selected publication'
export const showAll = 'Show all'
export const errorsByPublicationOneA = 'Errors by publication, one per row'
export const publication = 'Publication'
export const runs = 'Runs'
export const heldOut = 'Held-out'
export const bias = 'Bias'
export const heldOutAboveZeroPredicted = 'Held-out runs. Above zero, the predicted time is too long.'
export const fitted = 'Fitted'
export const medianError = 'Median error'

// calibration.tsx
export const logsOfNcclTests = (choice: Part) => `Logs of nccl-tests${choice}`
export const allReduce8LogAll = 'all_reduce-8.log, all_gather-8.log'
export const tracesOrTrainingLogsOf = 'Traces or training logs of one run'
export const traces = 'traces/'
export const checkTheCostModelOn = 'Validate the cost model on your machine'
export const logsOfNcclTestsMeasure =
  'Logs of nccl-tests measure isolated collectives; traces measure kernels within a run. The table shows the error before and after the fit. The command line writes a calibration file for all commands.'
export const fitting = 'fitting'
export const fittedConstants = 'Fitted constants'
export const on = 'on'
export const oCalibrationToml = (commandLine: Part) => `${commandLine} -o calibration.toml`
export const theCommand = 'the command'
export const copyTheCommandThatWrites = 'Copy the command'
export const costModelsOnePerRow = 'Cost models, one per row'
export const what = 'Name'
export const regime = 'Regime'
export const burstMeasuredAloneSustainedMeasured = 'burst: measured alone; sustained: measured within a run'
export const sizes = 'Sizes'
export const from = 'From'
export const to = (value: Part, value2: Part) => `${value} to ${value2}`
export const measured = 'Measured'
export const errorBefore = 'Error before'
export const errorAfter = 'Error after'

// catalogues.tsx
export const aDeviceDomainsOf = (link: Part, bandwidth: Part, domainSize: Part, choice: Part) =>
  `${link}, ${bandwidth} per device, domains of ${domainSize}${choice}`
export const model = 'Model'
export const family = 'Family'
export const parameters = 'Parameters'
export const active = 'Active'
export const ofAToken = 'per token'
export const layers = 'Layers'
export const width = 'Width'
export const positions = 'Positions'
export const models = 'Models'
export const enterOpensOneAnyOther = 'Enter opens the selected model; any config.json also works'
export const activeForAToken = 'active per token'
export const noneNotLimitedByAn = 'none: not limited by an embedding'
export const alsoCalled = 'also called'
export const vendor = 'Vendor'
export const year = 'Year'
export const n16BitPeak = '16-bit peak'
export const denseByTheDataSheet = 'dense, from the data sheet'
export const reachedByLargeGemms = 'reached by large GEMMs'
export const memory = 'Memory'
export const itsBandwidth = 'Bandwidth'
export const power = 'Power'
export const perHour = '$ per hour'
export const accelerators = 'Accelerators'
export const enterOpensOneWithSources = 'Enter opens the selected accelerator, with sources'
export const nameHere = 'name'
export const peak = (format: Part) => `peak ${format}`
export const measuredMatrixProducts = 'measured GEMM rates'
export const at = (memory: Part, memoryBandwidth: Part) => `${memory} at ${memoryBandwidth}`
export const inADomain = (choice: Part, scaleUpBandwidth: Part, scaleUpDomain: Part) =>
  `${choice} ${scaleUpBandwidth}, ${scaleUpDomain} in a domain`
export const toItsHost = 'to the host'
export const pricePerHour = 'price per hour'
export const to2 = (low: Part, high: Part) => ` (${low} to ${high})`
export const cluster = 'Cluster'
export const accelerator = 'Accelerator'
export const perNode = 'Per node'
export const domain = 'Domain'
export const scaleUp = 'Scale-up'
export const network = 'Network'
export const clusters = 'Clusters'
export const enterOpensOneAToml = 'Enter opens the selected cluster; TOML files also work'
export const perNode2 = 'per node'
export const reducesInTheNetwork = ', in-network reduction'
export const aDeviceLatency = (kind: Part, bandwidth: Part, latency: Part) => `${kind}, ${bandwidth} per device, ${latency} latency`
export const devices1 = (devices: Part, oversubscription: Part) => `${devices} devices, ${oversubscription}:1`
export const hostMemoryPerDevice = 'host memory per device'
export const hostPowerPerDevice = 'host power per device'
export const useItInTheCalculator = 'Use it in the calculator'
export const run = 'Run'
export const description = 'Description'
export const examples = 'Examples'
export const runFilesToStartFrom = 'example run files; Enter shows the selected file'
export const replaceTheRunWithIt = 'Replace the run with it'
export const openItInTheCalculator = 'Open it in the calculator'

// detected.tsx
export const aLaunchFileOrA = 'A launch file or a log'
export const pretrainShConfigTomlDs = 'path of a script, config or log'
export const readALaunchFile = 'Read a launch file'
export const scriptsAndLogsOfMegatron =
  'Scripts and logs of Megatron-LM, torchtitan, DeepSpeed, nanotron and NeMo: all recognized settings with their lines.'
export const unknownFile = 'Unknown file'
export const isNoLaunchFileAnd = (value: Part, choice: Part) => `${value} is not a known launch file or log.${choice}`
export const settingsFound = 'Settings found'
export const filterSettings = 'Filter settings'
export const filter = 'Filter  /'
export const predictIt = 'Predict it'
export const settingsOneARow = 'Settings, one per row'
export const key = 'Key'
export const value = 'Value'
export const origin = 'Origin'
export const line2 = 'Line'
export const line = (line: Part) => `line ${line}: `

// file-field.tsx
export const chooseFiles = 'Choose files…'
export const chooseAFile = 'Choose a file…'

// index.tsx
export const words = 'Glossary'
export const keys = 'Keys'
export const launchFiles = 'Launch files'
export const validation = 'Validation'
export const calibration = 'Calibration'
export const partsOfTheReferenceView = 'Parts of the reference view'

// listed.tsx
export const filter2 = (value: Part) => `Filter ${value}`
export const oneARow = (title: Part) => `${title}, one per row`
export const about = (chosen: Part) => `About ${chosen}`
export const close = 'Close'
export const unknown = 'unknown'

// validation.tsx
export const yourOwnTableOfMeasured = 'Table of your own measured runs'
export const measuredRunsCsv = 'measured_runs.csv'
export const predictingTheRuns = 'predicting the runs'
export const ofCouldBePredicted = (rows: Part) => `of ${rows} were predicted`
export const stepTimeMedianError = 'step time, median error'
export const memoryMedianError = 'memory, median error'
export const nineOfTenWithin = (p90Absolute: Part) => `90% within ${p90Absolute}`
export const withinTheInterval = 'within the interval'
export const ofMeasuredSteps = 'of measured steps'
export const orderOfLayouts = 'order of layouts'
export const rankCorrelation = 'rank correlation'
export const stepTimeTheLineIs = 'step time; the line is a perfect prediction'
export const bySource = 'By source'
export const errorsBySourceOneA = 'Errors by source, one per row'
export const source = 'Source'
export const stepMedian = 'Step, median'
export const aboveZeroPredictedTooSlow = 'Above zero, the predicted time is too long.'
export const memoryMedian = 'Memory, median'
export const runByRun = 'Run by run'
export const largestErrorFirst = 'largest error first'
export const runsOneARow = 'Runs, one per row'
export const predicted2 = 'Predicted'
export const error = 'Error'
export const leftOutBecause = 'Reason for exclusion'
export const predictedAgainstMeasured = 'Predicted vs. measured'

// words.tsx
export const kind = 'Kind'
export const identifier = 'Identifier'
export const name = 'Name'
export const warningsFindingsConventionsEnterExplains = 'warnings, findings, conventions; Enter explains the selected one'
export const meaning = 'Meaning'
export const values = 'Values'
export const defaultText = 'Default'
export const ofARunFileEach = 'of a run file; each is also a flag'
export const medianAboveZero = 'median; above zero: predicted time too long'
