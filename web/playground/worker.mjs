// A worker of the page: one instance of the program, one task after another. The page ends the worker to stop its task.
// In: {module} once, then {id, files: [{path, bytes}], question | null}. Out: {id, progress}, {id, about, body} or {id, failed}.
import { Program } from './program.mjs'

/** Milliseconds between two messages about progress. */
const PACE = 100

let program

self.onmessage = ({ data }) => {
  const { id } = data
  try {
    if (data.module) {
      program = new Program(data.module)
      return
    }
    for (const { path, bytes } of data.files) program.file(path, new Uint8Array(bytes))
    let last = Number.NEGATIVE_INFINITY
    const report = (text) => {
      const now = performance.now()
      if (now - last < PACE) return
      last = now
      self.postMessage({ id, progress: JSON.parse(text) })
    }
    const { about, body } = data.question ? program.ask(data.question, report) : program.start()
    self.postMessage({ id, about, body }, [body.buffer])
  } catch (error) {
    self.postMessage({ id, failed: String(error?.message ?? error) })
  }
}
