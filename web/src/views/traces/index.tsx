// The trace explorer: where the time of a real job went, from the whole step down to a kernel, and where on the timeline.
// Responsible for: which traces are open, the tabs, and one question that most tabs share. Refuses to compute a share.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAnswer } from '../../api/live'
import { type Start, start } from '../../api/start'
import { useKeys } from '../../state/keys'
import { change, go, own } from '../../state/location'
import { Empty, Loading, Problems } from '../../ui/states'
import { Communication } from './communication'
import { Compare } from './compare'
import { Open, Opened } from './open'
import { Overview } from './overview'
import { Query } from './query'
import { Ranks } from './ranks'
import { Stragglers } from './stragglers'
import { MeasuredTimeline } from './timeline'
import type { Profile } from './types'
import './traces.css'

export interface TabProps {
  readonly profile: Profile
  readonly paths: readonly string[]
}

const TABS: readonly { readonly id: string; readonly title: string; readonly view: ComponentType<TabProps> }[] = [
  { id: 'overview', title: 'Overview', view: Overview },
  { id: 'timeline', title: 'Timeline', view: MeasuredTimeline },
  { id: 'ranks', title: 'Ranks', view: Ranks },
  { id: 'communication', title: 'Communication', view: Communication },
  { id: 'stragglers', title: 'Stragglers', view: Stragglers },
  { id: 'query', title: 'SQL', view: Query },
  { id: 'compare', title: 'Compare', view: Compare },
]

/** Paths in the address are one for each line, so that a comma may be part of one. */
export function pathsOf(text: string | undefined): string[] {
  return (text ?? '').split('\n').filter(Boolean)
}

export default function View() {
  const { path, files, tab = 'overview' } = own('t')
  // Dropped files come as one text with commas; their handles have none.
  const paths = files ? files.split(',') : pathsOf(path)
  const [known, setKnown] = useState<Start | null>(null)
  useEffect(() => {
    start().then(setKnown, () => {})
  }, [])
  const profile = useAnswer<Profile>('profile', paths.length > 0 ? { paths, depth: 4, top: 60 } : null)
  useKeys(
    TABS.map((one, at) => ({ keys: String(at + 1), title: one.title, group: 'Traces', run: () => (paths.length > 0 ? change({ 't.tab': one.id }) : false) })),
    [path, files],
  )
  if (paths.length === 0) return <Open given={known} />
  // Timers of a pipeline have passes and no kernels: `profile` answers with the pipeline's page.
  if (profile.answer && !('lines' in profile.answer)) {
    return (
      <div class="traces">
        <Opened paths={paths} commandLine={profile.commandLine} />
        <Empty title="Passes of a pipeline" text="These files time forward and backward passes, not kernels: all stages stand on one timeline in the pipeline view.">
          <button type="button" class="button primary" onClick={() => go('pipeline', { 'p.trace': paths[0] ?? '' })}>
            Show the pipeline
          </button>
        </Empty>
      </div>
    )
  }
  const shown = TABS.find((one) => one.id === tab) ?? TABS[0]!
  const Tab = shown.view
  return (
    <div class="traces" aria-busy={profile.loading}>
      <Opened paths={paths} commandLine={profile.commandLine} />
      <div class="traces-tabs" role="tablist" aria-label="What of the traces">
        {TABS.map((one) => (
          <button
            key={one.id}
            id={`tab-${one.id}`}
            type="button"
            role="tab"
            aria-selected={one === shown}
            aria-controls="traces-tab"
            tabIndex={one === shown ? 0 : -1}
            onClick={() => change({ 't.tab': one.id === 'overview' ? undefined : one.id })}
            onKeyDown={(event) => {
              const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
              if (by === 0) return
              event.preventDefault()
              const next = TABS[(TABS.indexOf(shown) + by + TABS.length) % TABS.length]!
              change({ 't.tab': next.id })
              requestAnimationFrame(() => document.getElementById(`tab-${next.id}`)?.focus())
            }}
          >
            {one.title}
          </button>
        ))}
      </div>
      <div id="traces-tab" role="tabpanel" aria-labelledby={`tab-${shown.id}`} class={profile.stale ? 'stale' : ''}>
        {profile.problems.length > 0 && <Problems problems={profile.problems} />}
        {profile.answer ? <Tab profile={profile.answer} paths={paths} /> : profile.loading && <Loading heights={[80, 260, 260]} label="reading the traces" />}
      </div>
    </div>
  )
}
