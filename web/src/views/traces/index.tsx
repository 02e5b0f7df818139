// The trace explorer: time breakdown of a real job, from the whole step down to a kernel, with links to the timeline. Responsible for: the
// open traces, the tabs, and one question shared by most tabs. The program computes all shares.
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { type Arguments, type Problem, identity } from '../../api/ask'
import { playground } from '../../api/playground/marker'
import { report } from '../../api/report'
import { useKeys } from '../../state/keys'
import { change, go, own } from '../../state/location'
import { LongJob } from '../parts/long-job'
import { ProgressLine } from '../parts/progress'
import { Tabs } from '../parts/tabs'
import { Empty, Loading, Problems } from '../../ui/states'
import { Communication } from './communication'
import { Compare } from './compare'
import { JobsBelow, Open, Opened, pathsIn } from '../parts/open'
import { JobPanel, useJob } from './job'
import { Origins } from './origins'
import { Overview } from './overview'
import { Query } from './query'
import { Ranks } from './ranks'
import { RooflineTab } from './roofline'
import { Stragglers } from './stragglers'
import { MeasuredTimeline } from './timeline'
import type { Profile } from './types'
import '../parts/layout.css'
import './traces.css'
import * as texts from '../../words/traces'

export interface TabProps {
  readonly profile: Profile
  readonly paths: readonly string[]
  /** Job options in addition to the files, as on the command line. */
  readonly job: Arguments
}

/** Profile of the open job: read once for all tabs, also while another view is open. */
const reading = new LongJob<Profile>('profile')

const ALL: readonly { readonly id: string; readonly title: string; readonly view: ComponentType<TabProps> }[] = [
  { id: 'overview', title: texts.overview, view: Overview },
  { id: 'timeline', title: texts.timeline, view: MeasuredTimeline },
  { id: 'ranks', title: texts.ranks, view: Ranks },
  { id: 'origins', title: texts.modules, view: Origins },
  { id: 'communication', title: texts.communication, view: Communication },
  { id: 'stragglers', title: texts.stragglers, view: Stragglers },
  { id: 'roofline', title: texts.roofline, view: RooflineTab },
  { id: 'query', title: texts.sql, view: Query },
  { id: 'compare', title: texts.compare, view: Compare },
]

/** SQL requires SQLite, which the playground does not include. */
const TABS = playground ? ALL.filter((one) => one.id !== 'query') : ALL

/** True if the files are to blame, not the options beside them. */
const isOfFiles = (problems: readonly Problem[], paths: readonly string[]): boolean =>
  problems.some(({ place }) => {
    const file = typeof place === 'string' ? place : place?.file
    return file == null || paths.includes(file)
  })

/** Tab of a name in a link: its own, or its title. */
export const tabNamed = (name: string) => TABS.find((one) => one.id === name || one.title.toLowerCase() === name.toLowerCase())

export default function View() {
  const { path, files, tab = 'overview' } = own('t')
  const paths = pathsIn('t')
  const job = useJob()
  const question = paths.length > 0 && job !== null ? { paths, ...job, depth: 4, top: 60 } : null
  const asked = question ? identity('profile', question) : ''
  useEffect(() => {
    if (question) reading.start(question)
  }, [asked])
  reading.useShown()
  const state = reading.state.value
  const isMine = state.of === asked && asked !== ''
  // For the same files with other options, the old answer is kept until the new one.
  const profile = {
    answer: state.answer?.answer ?? null,
    commandLine: state.answer?.commandLine ?? '',
    problems: isMine ? state.problems : [],
    loading: state.running || !isMine,
    stale: !isMine && state.answer !== null,
  }
  const sameFiles = state.of.includes(JSON.stringify(paths))
  useKeys(
    TABS.map((one, at) => ({
      keys: String(at + 1),
      title: one.title,
      group: 'Traces',
      run: () => (paths.length > 0 ? change({ 't.tab': one.id }) : false),
    })),
    [path, files],
  )
  useKeys([
    { keys: 'Escape', title: texts.stopReading, group: 'Traces', run: () => (reading.state.value.running ? reading.stop() : false) },
  ])
  if (paths.length === 0) {
    return (
      <Open home="traces" title={texts.openTheTracesOfA} text={texts.tracesOfPytorchsProfilerNsight} placeholder={texts.orAPathInThe} />
    )
  }
  // Pipeline timers have passes and no kernels: `profile` then answers with the pipeline report.
  if (isMine && profile.answer && !('lines' in profile.answer)) {
    return (
      <div class="traces">
        <Opened home="traces" paths={paths} commandLine={profile.commandLine} />
        <Empty title={texts.passesOfAPipeline} text={texts.theseFilesRecordForwardAnd}>
          <button type="button" class="button primary" onClick={() => go('pipeline', { 'p.trace': paths.join('\n') })}>
            {texts.showThePipeline}
          </button>
        </Empty>
      </div>
    )
  }
  const named = tabNamed(tab)
  const shown = named ?? TABS[0]!
  // A report has the answers of the tab that was open.
  const tabs = report ? [shown] : TABS
  const Tab = shown.view
  return (
    <div class="traces" aria-busy={profile.loading}>
      <Opened home="traces" paths={paths} commandLine={profile.commandLine} />
      <div class="view traces-parts">
        <JobPanel profile={isMine ? profile.answer : null} />
        <ProgressLine state={state} unit="bytes" onStop={() => reading.stop()} />
      </div>
      <Tabs
        label={texts.partsOfTheTracesView}
        tabs={tabs}
        shown={shown.id}
        prefix="tab"
        panel="traces-tab"
        open={(id) => change({ 't.tab': id === 'overview' ? undefined : id })}
      />
      <div id="traces-tab" role="tabpanel" aria-labelledby={`tab-${shown.id}`} class={profile.stale ? 'stale' : ''}>
        {!named && <p class="warn traces-wide">{texts.thereIsNoTab(tab)}</p>}
        {profile.problems.length > 0 && (
          <div class="traces-refused">
            <Problems problems={profile.problems} />
            {isOfFiles(profile.problems, paths) && <JobsBelow paths={paths} />}
          </div>
        )}
        {profile.answer && sameFiles && job && 'lines' in profile.answer ? (
          <Tab profile={profile.answer} paths={paths} job={job} />
        ) : (
          profile.loading && <Loading heights={[80, 260, 260]} label={texts.readingTheTraces} />
        )}
      </div>
    </div>
  )
}
