// A long question that continues while another view is open: reports progress and rate, can be stopped, keeps its last answer until the
// next. A new question stops the running one.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Answer, type Arguments, type Problem, Refusal, identity } from '../../api/ask'
import { type Job, type Progress, startJob } from '../../api/jobs'
import { type Used, unuse, use } from '../../api/used'

export interface State<T> {
  readonly running: boolean
  readonly stopping: boolean
  readonly progress: Progress | null
  /** Rate in progress units per second, smoothed; null if unknown. */
  readonly rate: number | null
  readonly answer: Answer<T> | null
  /** Identity of the question of the answer. */
  readonly of: string
  /** Identity of the running question. */
  readonly asking: string
  readonly problems: readonly Problem[]
  /** Seconds taken by the last answer; null without one. */
  readonly took: number | null
}

export class LongJob<T> {
  readonly state = signal<State<T>>({
    running: false,
    stopping: false,
    progress: null,
    rate: null,
    answer: null,
    of: '',
    asking: '',
    problems: [],
    took: null,
  })
  private job: Job<T> | null = null
  private turn = 0
  private answered: Used | null = null
  private views = 0

  constructor(readonly command: string) {
    // No view needs the answer after the page is closed.
    window.addEventListener('pagehide', () => this.stop())
  }

  /** Registers the answer as shown while a view is open, for its report. */
  useShown(): void {
    useEffect(() => {
      this.views++
      this.show()
      return () => {
        this.views--
        this.show()
      }
    }, [])
  }

  private show(): void {
    if (this.views > 0 && this.answered) use(this, this.answered)
    else unuse(this)
  }

  /** Starts a question, unless the same one is running or answered. */
  start(values: Arguments, again = false): void {
    const asking = identity(this.command, values)
    const now = this.state.value
    if (!again && ((now.running && now.asking === asking) || (!now.running && now.of === asking && now.problems.length === 0))) return
    void this.job?.stop().catch(() => undefined)
    const turn = ++this.turn
    const since = performance.now()
    this.state.value = { ...now, running: true, stopping: false, progress: null, rate: null, asking, problems: [], took: null }
    const job = startJob<T>(this.command, values, (progress) => {
      if (turn !== this.turn) return
      const elapsed = (performance.now() - since) / 1000
      const rate = progress.done !== undefined && elapsed > 0.2 ? progress.done / elapsed : null
      this.state.value = { ...this.state.value, progress, rate }
    })
    this.job = job
    job.done.then(
      (answer) => {
        if (turn !== this.turn) return
        this.answered = {
          command: this.command,
          arguments: values,
          outcome: answer.outcome,
          command_line: answer.commandLine,
          answer: answer.answer,
        }
        this.show()
        this.state.value = {
          ...this.state.value,
          running: false,
          stopping: false,
          answer,
          of: asking,
          problems: [],
          took: (performance.now() - since) / 1000,
        }
      },
      (error: unknown) => {
        if (turn !== this.turn) return
        const problems = error instanceof Refusal ? error.problems : [{ message: String(error) }]
        this.state.value = { ...this.state.value, running: false, stopping: false, problems, of: asking, answer: null }
      },
    )
  }

  /** Stops the program; the partial result becomes the answer. */
  stop(): void {
    if (!this.state.value.running) return
    this.state.value = { ...this.state.value, stopping: true }
    void this.job?.stop().catch(() => undefined)
  }
}
