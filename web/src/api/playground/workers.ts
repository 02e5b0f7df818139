// Workers of the playground, each with an instance of the program, and their waiting tasks. Cancelled waiting tasks are dropped; a running
// one ends with its worker. Independent of the content of replies.
import * as texts from '../../words/state'

type Progress = Readonly<Record<string, unknown>>

export interface Question {
  readonly command: string
  readonly arguments: unknown
  readonly format?: string
}

export interface Reply {
  readonly about: {
    readonly status: number
    readonly media: string
    readonly outcome?: string
    readonly command?: string
    readonly notes?: readonly string[]
  }
  readonly body: Uint8Array<ArrayBuffer>
}

export interface Task {
  /** Question; null requests the start data of the web UI. */
  readonly question: Question | null
  /** Files that the question reads, by their path in the program. */
  readonly files: ReadonlyMap<string, Blob>
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly signal?: AbortSignal | null | undefined
}

interface Waiting extends Task {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

interface Desk {
  readonly worker: Worker
  readonly files: Set<string>
  task: Waiting | null
}

type Message =
  | { readonly id: number; readonly progress: Progress }
  | ({ readonly id: number } & Reply)
  | { readonly id: number; readonly failed: string }

/** Maximum number of workers: more would share the same processors. */
const MOST = Math.min(4, Math.max(2, navigator.hardwareConcurrency || 2))

/** Milliseconds that a cancelled short question may continue. */
const PATIENCE = 1000

export class Workers {
  private readonly desks: Desk[] = []
  private waiting: Waiting[] = []
  private next = 0

  constructor(private readonly module: Promise<WebAssembly.Module>) {}

  /** Runs a task; rejects with an `AbortError` when its signal aborts. */
  run(task: Task): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { ...task, resolve, reject }
      if (task.signal?.aborted) return reject(aborted())
      task.signal?.addEventListener('abort', () => this.abort(waiting), { once: true })
      this.waiting.push(waiting)
      this.assign()
    })
  }

  private assign(): void {
    while (this.waiting.length > 0) {
      let desk = this.desks.find((one) => one.task === null)
      if (!desk && this.desks.length < MOST) desk = this.open()
      if (!desk) return
      const task = this.waiting.shift()!
      desk.task = task
      void this.hand(desk, task)
    }
  }

  private open(): Desk {
    const desk: Desk = { worker: new Worker('./assets/playground/worker.mjs', { type: 'module' }), files: new Set(), task: null }
    desk.worker.onerror = (event) => this.fail(desk, event.message || texts.aWorkerCouldNotBe)
    this.desks.push(desk)
    this.module.then(
      (module) => desk.worker.postMessage({ module }),
      (error: unknown) => this.fail(desk, texts.theProgramCouldNotBe(String(error))),
    )
    return desk
  }

  /** Sends a task to a worker, with the files that the worker does not have. */
  private async hand(desk: Desk, task: Waiting): Promise<void> {
    const id = ++this.next
    desk.worker.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.id !== id || desk.task !== task) return
      if ('progress' in data) task.onProgress?.(data.progress)
      else if ('failed' in data) this.fail(desk, data.failed)
      else {
        desk.task = null
        task.resolve(data)
        this.assign()
      }
    }
    try {
      const unseen = [...task.files].filter(([path]) => !desk.files.has(path))
      const files = await Promise.all(unseen.map(async ([path, blob]) => ({ path, bytes: await blob.arrayBuffer() })))
      await this.module
      if (desk.task !== task) return
      for (const { path } of files) desk.files.add(path)
      desk.worker.postMessage(
        { id, files, question: task.question },
        files.map(({ bytes }) => bytes),
      )
    } catch (error) {
      if (desk.task === task) this.fail(desk, String(error))
    }
  }

  private abort(task: Waiting): void {
    this.waiting = this.waiting.filter((one) => one !== task)
    const desk = this.desks.find((one) => one.task === task)
    task.reject(aborted())
    if (!desk) return
    const end = () => {
      if (desk.task !== task) return
      this.close(desk)
      this.assign()
    }
    // Quick questions may finish, because starting a new worker takes longer. Jobs are stopped immediately.
    if (task.onProgress) end()
    else setTimeout(end, PATIENCE)
  }

  /** The program of a worker failed, so the worker is not reused. */
  private fail(desk: Desk, message: string): void {
    const { task } = desk
    this.close(desk)
    task?.reject(new Error(message))
    this.assign()
  }

  private close(desk: Desk): void {
    desk.worker.terminate()
    desk.task = null
    const at = this.desks.indexOf(desk)
    if (at >= 0) this.desks.splice(at, 1)
  }
}

const aborted = () => new DOMException('the question was withdrawn', 'AbortError')
