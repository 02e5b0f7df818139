// View for opened files, from the program's detection. A rejection is not an error here: the next reader is tried. For a file that no
// reader accepts, the message lists the expected formats. The program reads the files.
import { type Arguments, Refusal, ask } from '../api/ask'
import { viewOf } from '../api/jobs-on-disk'
import type { Upload } from '../api/uploads'
import { openAfresh, replaceRun } from './location'
import { runText } from './run'
import { split, statement } from './replan'
import { toast } from './toasts'
import * as texts from '../words/state'

const TRACE = /\.(pt\.trace\.json|trace\.json|json\.gz|gz|zst|nsys-rep|sqlite|pb|xplane\.pb|parquet|tar|tgz|zip)$/i
const LOG = /\.(log|out|err)(\.(gz|zst))?$/i
const DUMP = /\.(pickle|pkl|prom)(\.gz)?$|(nccl_trace|flight|fr_|dump).*rank/i
const LARGE = 512 * 1024

export const EXPECTED = texts.thePageOpensAModels

interface Detected {
  readonly format?: string
  /** Reader that accepts the file: traces, logs or dumps. */
  readonly records?: string
  readonly seen: readonly { readonly format: string; readonly why: string }[]
}

/** Opens files in their view; `meant` is the view whose button was used. Throws a rejection if no reader accepts them. */
export async function openByContent(uploads: readonly Upload[], meant: string | null): Promise<void> {
  const first = uploads[0]
  if (!first) return
  const paths = uploads.map((one) => one.path)
  if (meant === 'hang' || uploads.every((one) => DUMP.test(one.name))) {
    if (await reads('hang', { paths })) return open('hang', 'h', paths)
    if (meant === 'hang') throw unknown(first, uploads.length, texts.flightRecordsThatPytorchWrote)
  }
  if (uploads.length === 1 && (meant === 'snapshot' || DUMP.test(first.name))) {
    const read = await asked('memory-snapshot', { file: first.path })
    if (read.answer) return open('snapshot', 'y', paths)
    if (meant === 'snapshot') throw read.refusal ?? unknown(first, 1, texts.aMemorySnapshotOfPytorch)
  }
  if (meant === 'log' && uploads.length === 1) {
    if (await reads('log', { file: first.path })) return open('log', 'l', paths)
    throw unknown(first, 1, texts.aLogOfMegatronLm)
  }
  if (uploads.length > 1 || meant === 'traces') return open('traces', 't', paths)
  if (LOG.test(first.name)) {
    const detected = await answer<Detected>('detect', { file: first.path })
    if ((detected && (await takeRun(first, detected))) || (await logged(first))) return
    throw unknown(first, 1)
  }
  if (TRACE.test(first.name) || (/\.json$/i.test(first.name) && first.bytes > LARGE)) return open('traces', 't', paths)
  const detected = await answer<Detected>('detect', { file: first.path })
  if (detected && (await takeRun(first, detected))) return
  if (detected?.records) {
    const home = viewOf({ format: detected.records })
    return open(home, home.charAt(0), paths)
  }
  // A config.json is not a launch file: the model reader decides.
  const model = await asked('models/show', { name: first.path })
  if (model.answer) {
    takeModel(first)
    return
  }
  if (await logged(first)) return
  if (await reads('hang', { paths })) return open('hang', 'h', paths)
  if (await reads('profile', { paths })) return open('traces', 't', paths)
  // The reader for this format has the reason; JSON without any key of a model has no reader.
  if (/\.json$/i.test(first.name)) throw model.refusal && !model.refusal.message.includes('not a model') ? model.refusal : unknown(first, 1)
  if (/\.toml$/i.test(first.name)) throw (await asked('estimate', { run: first.path })).refusal ?? unknown(first, 1)
  throw unknown(first, 1)
}

/** Opens a custom model: the plan is reset to auto, and the UI lists the kept and reset settings. */
function takeModel(file: Upload): void {
  const { kept, reset } = split(runText.value, 'model')
  replaceRun({ model: file.path, ...Object.fromEntries(kept.map((key) => [key, runText.value[key] ?? ''])) }, 'calculator')
  toast(texts.model(file.name), { hint: statement(kept, reset) })
}

/** Opens a launch file or a run file as the run. */
async function takeRun(file: Upload, detected: Detected): Promise<boolean> {
  const seen = detected.seen[0]
  const { cluster } = runText.value
  const alsoLog = LOG.test(file.name) ? { action: { title: texts.stepTimesOfThisLog, run: () => open('log', 'l', [file.path]) } } : {}
  if (seen?.format === 'run-file') {
    // An error in the file can only be mended there: the open run stays.
    const { refusal } = await asked('estimate', { run: file.path })
    const inFile = refusal?.problems.some((one) => typeof one.place === 'object' && (one.place?.line ?? null) !== null)
    if (refusal && inFile) throw refusal
    replaceRun({ run: file.path }, 'calculator')
    toast(texts.aRunFile(file.name), { hint: seen.why })
    return true
  }
  if (!detected.format) return false
  // The launch file has a plan too. Settings of the URL would override it, so only the cluster is kept.
  replaceRun({ model: file.path, ...(cluster ? { cluster } : {}) }, 'calculator')
  toast(`${file.name}: ${detected.format.replaceAll('-', ' ')}`, { hint: seen?.why, ...alsoLog })
  return true
}

async function logged(file: Upload): Promise<boolean> {
  if (!(await reads('log', { file: file.path }))) return false
  open('log', 'l', [file.path])
  return true
}

function open(home: string, prefix: string, paths: readonly string[]): void {
  openAfresh(home, { [`${prefix}.files`]: paths.join(',') })
}

/** Answer, or the rejection of the question; other errors are thrown. */
async function asked<T>(command: string, values: Arguments): Promise<{ readonly answer: T | null; readonly refusal: Refusal | null }> {
  try {
    return { answer: (await ask<T>(command, values)).answer, refusal: null }
  } catch (error) {
    if (error instanceof Refusal && error.status === 422) return { answer: null, refusal: error }
    throw error
  }
}

async function answer<T>(command: string, values: Arguments): Promise<T | null> {
  return (await asked<T>(command, values)).answer
}

async function reads(command: string, values: Arguments): Promise<boolean> {
  return (await answer(command, values)) !== null
}

function unknown(first: Upload, count: number, expected = EXPECTED): Refusal {
  const what = count === 1 ? texts.is(first.name) : texts.andMoreAre(first.name, count - 1)
  return new Refusal([{ message: texts.nothingThatIsReadHere(what), hint: expected }], 422)
}
