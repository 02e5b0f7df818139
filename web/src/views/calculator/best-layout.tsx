// "Best layout": applies the recommended layout of a search for the current run to the controls, if it gains time beyond the tie. All other
// settings are kept.
import { useEffect } from 'preact/hooks'
import type { Estimate } from '../../api/answers'
import * as format from '../../charts/format'
import { toArguments } from '../../state/run'
import { toast } from '../../state/toasts'
import { Problems } from '../../ui/states'
import { LongJob } from '../parts/long-job'
import { LAYOUT, fromFlags, withoutLayout } from '../parts/strategy'
import type { SearchAnswer } from '../search/answer'
import { isTied } from '../search/family'
import { edited, set } from './scenarios'
import * as texts from '../../words/calculator'

const search = new LongJob<SearchAnswer>('search')
let waiting = false

/** Replaces the layout of the edited scenario. */
export function applyLayout(flags: string): void {
  const none = Object.fromEntries(LAYOUT.filter((key) => edited.value[key] !== undefined).map((key) => [key, undefined]))
  set({ ...none, ...fromFlags(flags) })
}

/** Rows of the search: those within the tie show its width. */
const ROWS = 20

function start(): void {
  waiting = true
  search.start({ ...toArguments(withoutLayout(edited.value)), top: ROWS }, true)
}

export function BestLayout(props: { estimate: Estimate | null; ready: boolean }) {
  const { running, stopping, answer, problems, progress } = search.state.value
  useEffect(() => {
    if (running || !answer || !waiting) return
    waiting = false
    const best = answer.answer.candidates[0]
    if (!best) return
    const before = Object.fromEntries(LAYOUT.map((key) => [key, edited.value[key]]))
    const was = props.estimate?.step_time
    const now = best.ranked.candidate.step_time
    if (props.estimate?.memory.fit === 'fits' && isTied(props.estimate.step_time, answer.answer.candidates)) {
      const isFaster = now < props.estimate.step_time
      toast(texts.thePresentLayoutStays, {
        hint: texts.itIsWithinTheTie(format.seconds(props.estimate.step_time), format.seconds(now)),
        ...(isFaster ? { action: { title: texts.applyAnyway, run: () => applyLayout(best.layout) } } : {}),
      })
      return
    }
    applyLayout(best.layout)
    toast(texts.layout(best.ranked.plan_summary.split(',')[0]), {
      hint: was === undefined ? format.seconds(now) : texts.perStepBefore(format.seconds(now), format.seconds(was)),
      action: { title: texts.undo, run: () => set(before) },
    })
  }, [running, answer])
  const nothing = !running && answer !== null && answer.answer.candidates.length === 0
  return (
    <div class="best-layout">
      <button
        type="button"
        class="button"
        disabled={!props.ready}
        aria-busy={running}
        title={texts.searchForTheFastestLayout}
        onClick={() => (running ? search.stop() : start())}
      >
        {stopping
          ? 'Stopping'
          : running
            ? texts.stopTheSearch(
                progress?.done !== undefined && progress.total ? ` (${format.percent(progress.done / progress.total)})` : '',
              )
            : texts.bestLayout}
      </button>
      {nothing && (
        <p class="small warn" role="status">
          {texts.noLayoutFitsOnThese}
        </p>
      )}
      {!running && problems.length > 0 && <Problems problems={problems} />}
    </div>
  )
}
