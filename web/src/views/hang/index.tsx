// A hung job: waits in the flight records of its ranks, the rank at which the search ends, and its last activity.
// Responsible for: the open dumps, and the verdict as text. The analysis is in `hang`.
import { useAnswer } from '../../api/live'
import { seconds } from '../../charts/format'
import { change, own } from '../../state/location'
import { Loading, Problems, Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { JobsBelow, Open, Opened, pathsIn } from '../parts/open'
import { Chain } from './chain'
import { Metrics } from './metrics'
import { RankGrid } from './ranks'
import { type Hang, type Root, type Stuck, type Verdict, STATES, causeText, damageText, doubts, extent, lookAt, ranges, who } from './types'
import './hang.css'
import * as texts from '../../words/hang'

export default function View() {
  const paths = pathsIn('h')
  const live = useAnswer<Hang>('hang', paths.length > 0 ? { paths } : null)
  if (paths.length === 0) {
    return (
      <Open
        home="hang"
        title={texts.openTheDumpsOfA}
        text={
          <>
            {texts.flightRecordsThatPytorchWrites} <code>{texts.torchFrBufferSize2000}</code> {texts.and}{' '}
            <code>{texts.torchNcclDumpOnTimeout}</code>.
          </>
        }
        placeholder={texts.orAPathInThe}
      />
    )
  }
  const { answer } = live
  return (
    <div class="hang" aria-busy={live.loading}>
      <Opened home="hang" paths={paths} commandLine={live.commandLine} />
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.problems.length > 0 && <JobsBelow paths={paths} />}
      {answer ? (
        <Answer answer={answer} notes={live.notes} stale={live.stale} />
      ) : (
        live.loading && <Loading heights={[64, 200, 200]} label={texts.readingTheDumps} />
      )}
    </div>
  )
}

function Answer({ answer, notes, stale }: { answer: Hang; notes: readonly string[]; stale: boolean }) {
  const { hang, metrics } = answer
  const { at } = own('h')
  const choose = (id: string | undefined) => change({ 'h.at': id })
  const doubts = [
    ...notes,
    ...(hang?.warnings.map((one) => one.message).filter((text) => !notes.some((note) => note.includes(text))) ?? []),
  ]
  return (
    <div class={`hang-grid ${stale ? 'stale' : ''}`}>
      {hang && <Spoken hang={hang} isWhole={answer.hangs !== null} />}
      {hang && hang.stuck.length > 0 && (
        <div class="hang-wide">
          <Chain verdict={hang} chosen={at} choose={choose} />
        </div>
      )}
      {hang?.roots.map((root, place) => (
        <Blamed key={place} root={root} hang={hang} chosen={at === `root ${place}`} />
      ))}
      {hang && hang.world_size > 0 && <RankGrid hang={hang} />}
      {hang && hang.stuck.length > 0 && <StuckTable hang={hang} chosen={at} choose={choose} />}
      {hang && <Calls stuck={hang.stuck} />}
      {metrics && <Metrics metrics={metrics} />}
      {doubts.length > 0 && (
        <section class="panel hang-panel hang-wide" aria-label={texts.caveats}>
          <h2>{texts.caveats}</h2>
          <ul class="hang-doubts">
            {doubts.map((text) => (
              <li key={text}>
                <Ticked text={text} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

/** The verdict as a sentence. */
function Spoken({ hang, isWhole }: { hang: Verdict; isWhole: boolean }) {
  const from = extent(hang)
  const first = hang.roots[0]
  if (hang.ranks.length === 0) {
    return (
      <p class="hang-verdict none hang-wide">
        <b>{texts.unknown}</b> {texts.noFileNamesItsRank}
        <code>{texts.ncclTraceRank3}</code>).
      </p>
    )
  }
  if (hang.stuck.length === 0 && !isWhole) {
    return (
      <p class="hang-verdict none hang-wide">
        <b>{texts.nothingInTheseDumpsHangs}</b> {texts.everyCollectiveInTheDumps} {from} {texts.hasEndedBut} {doubts(hang)}.
        <Damages hang={hang} />
      </p>
    )
  }
  if (hang.stuck.length === 0) {
    return (
      <p class="hang-verdict fine hang-wide">
        <b>
          {texts.nothingHangs}
          {hang.world_size_listed ? '' : texts.inTheDumpsThatAre}.
        </b>{' '}
        {texts.everyCollectiveThat} {from} {texts.enteredHasEnded} {hang.world_size_listed ? '' : texts.theDumpsDoNotRecord}
      </p>
    )
  }
  return (
    <p class="hang-verdict bad hang-wide" role="status">
      <b>
        {texts.itHangs}
        {first ? `: ${who(first.ranks)} ${causeText(first)}` : ''}.
      </b>{' '}
      {first &&
        first.victims.length > 0 &&
        texts.forInTheEnd(
          first.victims.length === 1 ? texts.rankWaits2(first.victims[0]) : texts.ranksWait2(first.victims.length),
          first.ranks.length === 1 ? 'it' : 'them',
        )}
      {hang.roots.length > 1 && texts.moreOfTheChainBelow(hang.roots.length - 1, hang.roots.length === 2 ? 'end' : 'ends')}
      <span class="muted">
        {texts.fromTheDumpsOf} {from}.
      </span>
      <Damages hang={hang} />
    </p>
  )
}

/** Partly read dumps. */
function Damages({ hang }: { hang: Verdict }) {
  return (
    <>
      {hang.damaged.map((one) => (
        <span key={one.rank} class="hang-damage">
          {' '}
          {damageText(one)}
        </span>
      ))}
    </>
  )
}

function Blamed({ root, hang, chosen }: { root: Root; hang: Verdict; chosen: boolean }) {
  const missed = hang.stuck[root.stuck]
  const since = missed && root.last_time_ns !== null ? (missed.since_ns - root.last_time_ns) / 1e9 : null
  const facts: (readonly [string, string])[] = [
    ...(root.victims.length > 0 ? [[texts.blockedRanks, who(root.victims)] as const] : []),
    ...(missed ? [[texts.missedAt, texts.ofText2(missed.operation, missed.sequence, missed.group.name)] as const] : []),
    ...(root.last_operation
      ? [[texts.enteredLast, `${root.last_operation}${root.last_group ? texts.ofText(root.last_group) : ''}`] as const]
      : []),
    ...(since !== null && since > 0 ? [[texts.time, texts.beforeTheOthersCameTo(seconds(since))] as const] : []),
    ...(missed?.timeout_ms ? [[texts.timeout, seconds(missed.timeout_ms / 1000)] as const] : []),
  ]
  return (
    <section class={`panel hang-panel ${chosen ? 'chosen' : ''}`} aria-label={`${who(root.ranks)} ${causeText(root)}`}>
      <h2>
        <span class="hang-who">{who(root.ranks)}</span> {causeText(root)}
      </h2>
      <p class="muted">{lookAt(root)}</p>
      <dl class="hang-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {root.last_frames.length > 0 && (
        <>
          <h3>{texts.stackOfTheLastCallInnermost}</h3>
          <ol class="hang-frames" tabIndex={0} aria-label={texts.stackOfTheLastCall}>
            {root.last_frames.map((frame, at) => (
              <li key={at}>
                <code>{frame.name}</code>{' '}
                <span class="muted">
                  {frame.file}:{frame.line}
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  )
}

function StuckTable({ hang, chosen, choose }: { hang: Verdict; chosen: string | undefined; choose: (id: string | undefined) => void }) {
  const first = Math.min(...hang.stuck.map((one) => one.since_ns))
  const place = chosen?.startsWith('stuck ') ? Number(chosen.slice(6)) : null
  return (
    <section class="panel hang-panel hang-wide" aria-label={texts.stuckCollectives}>
      <h2>
        {texts.stuckCollectives} <span class="muted">{texts.enteredButNotCompleted}</span>
      </h2>
      <Table<Stuck>
        caption={texts.collectivesThatAreStuck}
        rows={hang.stuck}
        identify={(row) => hang.stuck.indexOf(row)}
        chosen={place}
        onChoose={(row) => choose(texts.stuck(hang.stuck.indexOf(row)))}
        maxHeight="420px"
        columns={[
          { key: 'group', title: texts.group2, value: (row) => row.group.name, wrap: true },
          { key: 'sequence', title: texts.number, value: (row) => row.sequence, align: 'right' },
          { key: 'operation', title: texts.operation, value: (row) => row.operation },
          { key: 'state', title: texts.state, value: (row) => STATES[row.state] },
          { key: 'waiting', title: texts.waiting, value: (row) => row.waiting.length, cell: (row) => ranges(row.waiting), wrap: true },
          {
            key: 'missing',
            title: texts.missing,
            value: (row) => row.missing.length,
            cell: (row) => ranges(row.missing) || '–',
            wrap: true,
          },
          {
            key: 'unknown',
            title: texts.noDump2,
            value: (row) => row.unknown.length,
            cell: (row) => ranges(row.unknown) || '–',
            wrap: true,
          },
          {
            key: 'since',
            title: texts.entered,
            about: texts.afterTheFirstThatIs,
            value: (row) => row.since_ns,
            cell: (row) => (row.since_ns === first ? 'first' : `+${seconds((row.since_ns - first) / 1e9)}`),
            align: 'right',
          },
          {
            key: 'timeout',
            title: texts.timeout2,
            value: (row) => row.timeout_ms,
            cell: (row) => (row.timeout_ms === null ? '–' : seconds(row.timeout_ms / 1000)),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}

interface Call {
  readonly group: string
  readonly rank: number
  readonly call: string
}

function Calls({ stuck }: { stuck: readonly Stuck[] }) {
  const rows = stuck.flatMap((one): Call[] => one.calls.map(([rank, call]) => ({ group: one.group.name, rank, call })))
  if (rows.length === 0) return null
  return (
    <section class="panel hang-panel hang-wide" aria-label={texts.callsByRank}>
      <h2>
        {texts.callsByRank} <span class="muted">{texts.whereCallsDiffer}</span>
      </h2>
      <Table<Call>
        caption={texts.callsThatDiffer}
        rows={rows}
        identify={(row) => `${row.group} ${row.rank}`}
        maxHeight="320px"
        columns={[
          { key: 'group', title: texts.group2, value: (row) => row.group },
          { key: 'rank', title: texts.rank, value: (row) => row.rank, align: 'right' },
          { key: 'call', title: texts.call, value: (row) => row.call, wrap: true },
        ]}
      />
    </section>
  )
}
