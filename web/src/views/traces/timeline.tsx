// A measured step on the timeline: all ranks on one clock, and findings next to it with links to their places.
// Responsible for: the choice of step and rank, and the list of marks. Places of marks come from the answer.
import { useEffect, useRef } from 'preact/hooks'
import { count } from '../../charts/format'
import { change, own } from '../../state/location'
import { toast } from '../../state/toasts'
import { Timeline } from '../../timeline/Timeline'
import { useColumns } from '../../timeline/ask'
import { afresh } from '../../timeline/address'
import { beside } from '../../timeline/beside'
import type { Controller } from '../../timeline/controller'
import type { Mark } from '../../timeline/data'
import { span } from '../../timeline/time'
import { Loading, Problems } from '../../ui/states'
import { CriticalParts } from '../pipeline/numbers'
import '../pipeline/pipeline.css'
import type { TabProps } from '.'
import { MOST_DRAWN, hostSets, interesting, nameOf, notable } from './interest'
import { predicted } from './job'
import { Note } from './note'
import { placeOf } from './place'
import { RankMap } from './rank-map'
import * as texts from '../../words/traces'

/** Ratio of a predicted to a measured step from which they are of different jobs. */
const OTHER = 20

/** Value of `t.rank` for the program's own choice. */
const STAGES = 'stages'

export function MeasuredTimeline({ profile, paths, job }: TabProps) {
  const { step, rank, host, finding, expected, goto, file: ownFile } = own('t')
  // Of a large job, the notable ranks are drawn first; the program's own choice starts with one rank of each stage.
  const sample = notable(profile.rank_steps, profile.findings)
  const drawnRanks = rank === STAGES ? [] : rank ? rank.split(',') : sample.map(String)
  const question = {
    paths,
    ...job,
    ...(step ? { step } : {}),
    ...(drawnRanks.length > 0 ? { rank: drawnRanks } : {}),
    ...(host ? { host: true } : {}),
  }
  const measured = useColumns('profile', question)
  const prediction = predicted()
  const modelled = useColumns('timeline', expected && prediction ? { ...prediction, detail: 'passes' } : null)
  const factor = measured.columns && modelled.columns && expected ? modelled.columns.duration_ns / measured.columns.duration_ns : null
  // Next to a step of another size, one of the two could not be seen.
  const isOther = factor !== null && (factor > OTHER || factor < 1 / OTHER)
  const columns =
    measured.columns && modelled.columns && expected && !isOther ? beside(measured.columns, modelled.columns) : measured.columns
  const handle = useRef<Controller | null>(null)
  const shown = useRef('')
  useEffect(() => {
    if (!columns || !finding || shown.current === finding) return
    if (measured.loading) return
    const mark = columns.marks.find((_, at) => nameOf(columns.marks, at) === finding)
    // The rank of a finding is drawn first; its place is in the answer to that question.
    const named = mark?.rank
    if (named != null && columns.hidden_ranks?.includes(named)) {
      if (rank !== String(named)) change({ 't.rank': String(named) }, 'replace')
      return
    }
    shown.current = finding
    if (mark) requestAnimationFrame(() => goTo(handle.current, mark))
  }, [columns, finding, measured.loading, rank])
  // Resolves the place of an SQL row once; then the URL stores the selection.
  useEffect(() => {
    if (!columns || !goto || measured.loading) return
    requestAnimationFrame(() => {
      const controller = handle.current
      const place = controller && placeOf(controller.model, goto)
      if (place) {
        const track = controller.track(place)
        controller.goTo(place.track, track.starts[place.span]!, track.ends[place.span]! - track.starts[place.span]!, place.span)
        controller.unmark()
      } else if (controller) toast(texts.noSpanOfThisRow, { kind: 'refused' })
      change({ 't.goto': undefined }, 'replace')
    })
  }, [columns, goto, measured.loading])
  const hidden = measured.columns?.hidden_ranks ?? []
  const drawn = new Set(measured.columns?.tracks.map((track) => track.rank))
  // The profile of a large job lists no ranks; the timeline has those that it draws and those that it omits.
  const ranks = [...new Set([...profile.rows.map((row) => row.rank), ...(profile.rank_steps?.ranks ?? []), ...drawn, ...hidden])].sort(
    (a, b) => a - b,
  )
  const interests = interesting(profile.rank_steps)
  const sets = sample.length > 0 ? hostSets(profile, ranks) : []
  const stages = [...new Map((measured.columns?.tracks ?? []).map((track) => [track.stage, track.rank])).entries()].sort(
    ([a], [b]) => a - b,
  )
  return (
    <div class="traces-timeline" aria-busy={measured.loading}>
      <div class="traces-choices">
        <label>
          {texts.step3}
          <select
            class="select"
            value={step ?? ''}
            onChange={(event) => change({ ...afresh('t'), 't.step': event.currentTarget.value || undefined })}
          >
            <option value="">{texts.typicalStep}</option>
            {profile.steps.map((one) => (
              <option key={one.step} value={one.step}>
                {one.step} ({span(one.duration_ns)})
              </option>
            ))}
          </select>
        </label>
        <label>
          {texts.rank}
          <select
            class="select"
            value={rank ?? ''}
            onChange={(event) => change({ ...afresh('t'), 't.rank': event.currentTarget.value || undefined })}
          >
            <option value="">{sample.length > 0 ? texts.notableOf(sample.length, count(ranks.length)) : 'all'}</option>
            {sample.length > 0 && <option value={STAGES}>{texts.oneOfEachStageFirst(MOST_DRAWN, count(ranks.length))}</option>}
            {interests.length > 0 && (
              <optgroup label={texts.ofInterest}>
                {interests.map((one) => (
                  <option key={one.title} value={one.rank}>
                    {one.title}
                    {texts.rank5} {one.rank}
                  </option>
                ))}
              </optgroup>
            )}
            {stages.length > 1 && (!rank || rank === STAGES) && (
              <optgroup label={texts.oneOfEachStage}>
                {stages.map(([stage, one]) => (
                  <option key={stage} value={one}>
                    {texts.stage} {stage}
                    {texts.rank5} {one}
                  </option>
                ))}
              </optgroup>
            )}
            {rank?.includes(',') && !sets.some((set) => set.ranks.join(',') === rank) && <option value={rank}>{rank}</option>}
            {sets.length > 1 && (
              <optgroup label={texts.severalRanks}>
                {sets.map((set) => (
                  <option key={set.title} value={set.ranks.join(',')}>
                    {set.title}
                  </option>
                ))}
              </optgroup>
            )}
            <optgroup label={texts.allRanks}>
              {ranks.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </optgroup>
          </select>
        </label>
        <label class="traces-check">
          <input
            type="checkbox"
            checked={host !== undefined}
            onChange={() => change({ ...afresh('t'), 't.host': host ? undefined : '1' })}
          />{' '}
          {texts.hostThreads}
        </label>
        {prediction && (
          <label class="traces-check">
            <input type="checkbox" checked={expected !== undefined} onChange={() => change({ 't.expected': expected ? undefined : '1' })} />{' '}
            {ownFile ? texts.predictionForTheFileBelow : texts.predictionForTheCalculatorsRun}
          </label>
        )}
        {hidden.length > 0 && (!rank || rank === STAGES) && (
          <span class="muted">
            {!rank && interests.map((one) => `${texts.rank2(one.rank, '')} ${one.title}`.trim()).join(', ')}
            {!rank && '; '}
            {count(hidden.length)} {texts.ranksAreNotDrawnSelect}
          </span>
        )}
      </div>
      {measured.problems.length > 0 && <Problems problems={measured.problems} />}
      {modelled.problems.length > 0 && <Problems problems={modelled.problems} />}
      {isOther && modelled.columns && measured.columns && (
        <p class="warn">{texts.predictionOfAnotherJob(span(modelled.columns.duration_ns), span(measured.columns.duration_ns))}</p>
      )}
      {hidden.length > 0 && <RankMap profile={profile} about={texts.stepTimeWithoutWaitsSelect} />}
      {columns ? (
        <div class={measured.loading ? 'stale traces-beside' : 'traces-beside'}>
          <Timeline columns={columns} handle={handle} sums={question} prefix="t" />
          <Marks
            marks={columns.marks}
            chosen={finding}
            hidden={hidden}
            go={(mark, name) => (mark.track === null ? change({ 't.finding': name }) : goTo(handle.current, mark))}
          />
        </div>
      ) : (
        measured.loading && <Loading heights={[460]} label={texts.readingTheStep} />
      )}
      {measured.columns && <CriticalParts columns={measured.columns} />}
    </div>
  )
}

function goTo(controller: Controller | null, mark: Mark): void {
  controller?.goTo(mark.track, mark.at, mark.length, mark.span)
}

interface MarksProps {
  readonly marks: readonly Mark[]
  readonly chosen: string | undefined
  readonly hidden: readonly number[]
  readonly go: (mark: Mark, name: string) => void
}

function Marks(props: MarksProps) {
  if (props.marks.length === 0) return null
  /** A finding without a span on the drawn ranks of a hidden one has its place there. */
  const isElsewhere = (mark: Mark) => props.hidden.includes(mark.rank ?? -1)
  return (
    <section class="panel traces-panel traces-marks" aria-label={texts.findingsInThisStep}>
      <h2>{texts.findings}</h2>
      <ul>
        {props.marks.map((mark, at) => (
          <li key={nameOf(props.marks, at)}>
            <button
              type="button"
              aria-current={nameOf(props.marks, at) === props.chosen ? 'true' : undefined}
              disabled={mark.track === null && !isElsewhere(mark)}
              onClick={() => props.go(mark, nameOf(props.marks, at))}
              title={mark.detail}
            >
              <span class={`traces-severity ${mark.severity}`}>
                {mark.severity === 'fault' ? '▲' : mark.severity === 'warning' ? '◆' : '•'}
              </span>
              <span>
                {mark.title}
                {mark.cost_ns ? (
                  <span class="muted">
                    {' '}
                    {texts.costs} {mark.at_most ? '≤ ' : ''}
                    {span(mark.cost_ns)}
                  </span>
                ) : null}
                {mark.track === null && !isElsewhere(mark) && <span class="muted"> {texts.noSinglePlace}</span>}
              </span>
            </button>
            <Note id={nameOf(props.marks, at)} />
          </li>
        ))}
      </ul>
    </section>
  )
}
