// Words of messages of the state and the server.
import type { Part } from './part'

// ask.ts
export const theProgramRefused = 'the program refused'
export const theProgramDoesNotAnswer = 'the program does not answer'
export const startRailwrightServeAgain = 'start `railwright serve` again'
export const theServerAnswered = (status: Part) => `the server answered ${status}`

// jobs.ts
export const partialResultsNeedTheInstalled = 'partial results need the installed program: `railwright serve`'
export const stoppedBeforeTheAnswer = 'stopped before the answer'
export const theJobFailed = 'the job failed'
export const theConnectionToTheProgram = 'the connection to the program was lost'

// transport.ts
export const theProgramInThisBrowser = (choice: Part) => `the program in this browser failed: ${choice}`
export const pleaseReportItWithThe = 'please report it with the question; the page goes on'

// workers.ts
export const aWorkerCouldNotBe = 'a worker could not be started'
export const theProgramCouldNotBe = (error: Part) => `the program could not be loaded: ${error}`

// report.ts
export const thisReportDoesNotContain = 'this report does not contain that answer'
export const startRailwrightServeForOther = 'start `railwright serve` for other questions'

// opening.ts
export const thePageOpensAModels =
  'The web UI opens a model’s config.json, launch files, run files (.toml), training logs and memory snapshots. It opens traces of the PyTorch profiler, Nsight Systems and pipeline timers, and flight records or metrics of a job that hangs.'
export const flightRecordsThatPytorchWrote =
  'Flight records that PyTorch wrote (nccl_trace_rank_0 and so on, pickle or JSON), or metrics of XPUTimer (.prom), were expected here.'
export const aMemorySnapshotOfPytorch = 'A memory snapshot of PyTorch (a pickle) was expected here.'
export const aLogOfMegatronLm =
  'A log of Megatron-LM, Megatron-DeepSpeed, DeepSpeed or torchtitan was expected here, with a line for each report of iterations.'
export const model = (name: Part) => `Model: ${name}`
export const stepTimesOfThisLog = 'Step times of this log'
export const aRunFile = (name: Part) => `${name}: a run file`
export const is = (name: Part) => `${name} is`
export const andMoreAre = (name: Part, value: Part) => `${name} and ${value} more are`
export const nothingThatIsReadHere = (what: Part) => `${what} not a known format`

// replan.ts
export const everyPlanSettingIsAuto = 'Every plan setting is auto.'
