// Words of messages of the state and the server.
import type { Part } from './part'

// ask.ts
export const theProgramRefused = 'the request was rejected'
export const theProgramDoesNotAnswer = 'the program does not respond'
export const startRailwrightServeAgain = 'start `railwright serve` again'
export const theServerAnswered = (status: Part) => `the server answered ${status}`

// jobs.ts
export const partialResultsNeedTheInstalled = 'partial results need the installed program: `railwright serve`'
export const stoppedBeforeTheAnswer = 'stopped before a result'
export const theJobFailed = 'the job failed'
export const theConnectionToTheProgram = 'the connection to the program was lost'

// transport.ts
export const theProgramInThisBrowser = (choice: Part) => `the program in this browser failed: ${choice}`
export const pleaseReportItWithThe = 'please report it with the request; the web UI keeps running'

// workers.ts
export const aWorkerCouldNotBe = 'a worker could not be started'
export const theProgramCouldNotBe = (error: Part) => `the program could not be loaded: ${error}`

// report.ts
export const thisReportDoesNotContain = 'this report does not contain that result'
export const startRailwrightServeForOther = 'start `railwright serve` for other requests'

// opening.ts
export const thePageOpensAModels =
  'The web UI opens config.json files, launch files, run files (.toml), training logs and memory snapshots. It also opens traces of the PyTorch profiler, Nsight Systems and pipeline timers, and flight-recorder dumps or metrics of a hung job.'
export const flightRecordsThatPytorchWrote =
  'Expected flight-recorder dumps of PyTorch (such as nccl_trace_rank_0, pickle or JSON) or metrics of XPUTimer (.prom).'
export const aMemorySnapshotOfPytorch = 'Expected a memory snapshot of PyTorch (a pickle).'
export const aLogOfMegatronLm = 'Expected a log of Megatron-LM, Megatron-DeepSpeed, DeepSpeed or torchtitan with iteration reports.'
export const model = (name: Part) => `Model: ${name}`
export const stepTimesOfThisLog = 'Step times of this log'
export const aRunFile = (name: Part) => `${name}: a run file`
export const is = (name: Part) => `${name} is`
export const andMoreAre = (name: Part, value: Part) => `${name} and ${value} more are`
export const nothingThatIsReadHere = (what: Part) => `${what} not a known format`

// replan.ts
export const everyPlanSettingIsAuto = 'Every plan setting is auto.'
