// Words of the frame and its shared parts.
import type { Part } from './part'

// clipboard.ts
export const copied = (what: Part) => `${what} copied`
export const theBrowserDidNotAllow = 'the browser did not allow copying'

// combobox.tsx
export const nothingMatches = 'Nothing matches “'

// dialog.tsx
export const close = 'Close'

// drop.tsx
export const reading = (name: Part) => `Reading ${name}`
export const detectingTheFormat = 'Detecting the format'
export const dropIt = 'Drop it'
export const aModelsConfigJsonA = 'a config.json, a launch or run file, a training log, traces of a job, or dumps of a hung job'

// fields.tsx
export const neededByTheOtherSettings = 'The other settings need this value.'
export const setBackToAuto = (value: Part) => `Set ${value} back to auto`
export const resetToAuto = (label: Part) => `reset ${label} to auto`
export const reset = 'reset'
export const chosenByTheProgramChange = 'Default; change it to set your own value'
export const auto = 'auto'
export const kept = 'kept'
export const byDefault = 'default'
export const oneBesideOthers = 'Default of 1, because other sizes are set; select it for auto'
export const chooseForMe = (label: Part) => `default; set ${label} to auto`
export const heldAtTheProgramsValue = 'Previous value of the plan, kept because another size was set'

// key-overlay.tsx
export const keys = 'Keys'

// link.tsx
export const pasteALinkOfThis = 'Paste a link of the web UI, or a state that starts with #/'
export const copyLink = 'Copy link'
export const aLinkOpensThisState = 'A link opens this state on any machine. A copied state opens in any Railwright web UI.'
export const aLinkWorksOnThis = 'A link works on this machine while the server runs, and after a restart with the same'
export const aStateWorksInEvery = '. A copied state opens in any Railwright web UI.'
export const droppedFilesAreNotPart = 'A link contains only a digest of dropped files, not the files.'
export const theyStayInThisTab = 'They stay in this tab. A browser that opens the link asks for the same file.'
export const theServerDeletesThemWhen = 'The server deletes them when it stops. A browser on another machine asks for the same file.'
export const openALinkOrState = 'Open a link or state'
export const calculatorModel = '#/calculator?model=…'
export const open = 'Open'
export const theProgramDoesNotAnswer = 'The program does not respond. Start'
export const railwrightServe = 'railwright serve'
export const againWithTheSame = 'again. With the same'
export const port = '--port'
export const and = 'and'
export const tokenFile = '--token-file'
export const thisPageContinuesOtherwiseCopy = 'this tab reconnects; otherwise copy its state and open it in the new web UI under'
export const link = 'Link'
export const copyState = 'Copy state'
export const tryAgain = 'Try again'

// missing-files.tsx
export const thisLinkRefersTo = 'This link refers to'
export const whichIsNotPartOfIt = ', which it does not contain. Add the file with the same content, or drop it on this page.'
export const addTheFile = 'Add the file'
export const otherContent = (name: Part) => `${name} is not the file that the link refers to: its content differs`
export const theNameIsTheSame = 'Only the name is the same.'

// report-dialog.tsx
export const theServerAnswered = (status: Part) => `the server answered ${status}`
export const reportSaved = 'Report saved'
export const theReportWasNotSaved = (choice: Part) => `The report was not saved: ${choice}`
export const report = 'Report'
export const title = 'Title'
export const notes = 'Notes'
export const printedBelowTheTitle = 'Printed below the title'
export const oneHtmlFileWithThe = 'One HTML file with the current view. It opens without a server or network.'
export const saveHtml = 'Save HTML'
export const printOrPdf = 'Print or PDF…'

// report-head.tsx
export const written = '· written'
export const utc = 'UTC'
export const railwright = '· Railwright'
export const commandsThatPrintTheseResults = 'Commands that print these results'

// shell.tsx
export const allKeys = 'All keys'
export const saveOrPrintThisViewAs = 'Save or print this view as a report'
export const copyOrOpenALink2 = 'Copy or open a link'
export const filter = 'Filter'
export const closeOrLeaveAField = 'Close, or leave a field'
export const lightDarkOrAsThe = 'Light, dark or system theme'
export const skipToTheContent = 'Skip to the content'
export const railwright2 = 'Railwright'
export const views = 'Views'
export const everythingHereRunsInThis =
  'Everything here runs in this browser, and no file leaves it. SQL over traces, Parquet and SQLite files need the installed program.'
export const playground = 'Playground'
export const copyOrOpenALink = 'Copy or open a link (L)'
export const saveOrPrintThisView = 'Save or print this view as a report (R)'
export const keys2 = 'Keys (?)'
export const unknownView = 'Unknown view'
export const thisViewFailed = 'This view could not be displayed'
export const loadThePageAgain = 'Reload the page'
export const theLinkSets = 'The link sets'
export const times = (value: Part) => `${value} times`
export const theLastCounts = '. The last value applies:'
export const thereIsNoView = (value: Part) => `There is no view “${value}”`
export const theAddressNamesAView = 'This version has no such view.'
export const openTheCalculator = 'Open the calculator'
export const themeT = (value: Part) => `Theme: ${value} (T)`

// states.tsx
export const loading = 'loading'
export const andMore = (count: Part) => `and ${count} more`

// stepper.tsx
export const slider = (label: Part) => `${label} slider`
export const nearestValidValue = 'Nearest valid value'

// table.tsx
export const nothingMatches2 = 'Nothing matches.'
export const ofText = 'of'
export const rows = 'rows'
export const showMore = 'Show more'

// toasts.tsx
export const dismiss = 'Dismiss'

// why.tsx
export const flop = (value: Part) => `${value} FLOP`
export const whereComesFrom = (title: Part) => `Where ${title} comes from`
export const back = 'Back'

// registry.ts
export const calculator = 'Calculator'
export const stepTimeMemoryAndCost = 'Step time, memory and cost of a run'
export const search = 'Search'
export const theBestLayoutForA = 'The best layout for a run'
export const whatIf = 'What-if'
export const effectOfChangesOnThe = 'Effect of changes on the run'
export const machines = 'Machines'
export const clusterSizeForADeadline = 'Cluster size for a deadline or a budget'
export const pipeline = 'Pipeline'
export const allStagesOfTheStep = 'All stages of the step on one timeline'
export const traces = 'Traces'
export const stepTimeOfAJob = 'Step time of a job from its traces'
export const logs = 'Logs'
export const trainingLogStepTimeAnd = 'Training log: step time and MFU over time, slow steps, restarts'
export const memory = 'Memory'
export const aMemorySnapshotThePeak = 'A memory snapshot: the peak by module and line of code, fragmentation, growth'
export const hangs = 'Hangs'
export const causesOfAHangFrom = 'Causes of a hang, from flight-recorder dumps'
export const network = 'Network'
export const networkDesignsTrafficAndCost = 'Network designs, traffic and cost'
export const reference = 'Reference'
export const cataloguesWordsAndKeysPredictions = 'Catalogues, topics and keys; predictions vs. measured runs'

// amounts.tsx, chips.tsx, settings.tsx
export const another = 'another'
export const add = 'Add'
export const addTo = (title: Part) => `Add to ${title}`
export const removeValue = (value: Part) => `Remove ${value}`
export const addASetting = 'add a setting'
export const setTo = 'set to'
export const byFactor = 'times'
export const changeByPercent = 'change by'
export const howItChanges = (title: Part) => `Change of ${title}`
export const aNumber = 'number'
export const numberOf = (title: Part) => `Number of ${title}`
export const unitOf = (title: Part) => `Unit of ${title}`
export const choose = 'choose'

// file-button.tsx
export const readingAFile = 'Reading'

// state/commands.ts
export const selectiveRecompute = 'Selective recompute'
export const pipelineBalance = 'Pipeline balance'
export const timeline = 'Timeline'
export const communication = 'Communication'
export const stragglers = 'Stragglers'
export const sql = 'SQL'
export const compare = 'Compare'
export const accelerators = 'Accelerators'
export const clusters = 'Clusters'
export const models = 'Models'
export const words = 'Glossary'
export const calibration = 'Calibration'
