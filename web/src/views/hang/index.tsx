// A job that hangs: who waits for whom in the flight records of its ranks, at whom the search ends, and what that rank did last.
// Responsible for: which dumps are open and the verdict in words. Refuses to follow the chain itself: `hang` does.
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

export default function View() {
  const paths = pathsIn('h')
  const live = useAnswer<Hang>('hang', paths.length > 0 ? { paths } : null)
  if (paths.length === 0) {
    return (
      <Open
        home="hang"
        title="Open the dumps of a job that hangs"
        text={
          <>
            Flight records that PyTorch writes when a collective times out, one of each rank, or metrics of XPUTimer. Drop them anywhere on
            this page. PyTorch writes them with <code>TORCH_FR_BUFFER_SIZE=2000</code> and <code>TORCH_NCCL_DUMP_ON_TIMEOUT=1</code>.
          </>
        }
        placeholder="or a path below the given folder"
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
        live.loading && <Loading heights={[64, 200, 200]} label="reading the dumps" />
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
        <section class="panel hang-panel hang-wide" aria-label="Doubts">
          <h2>Doubts</h2>
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
        <b>Cannot tell.</b> No file names its rank; PyTorch’s own names end in the rank (<code>nccl_trace_rank_3</code>).
      </p>
    )
  }
  if (hang.stuck.length === 0 && !isWhole) {
    return (
      <p class="hang-verdict none hang-wide">
        <b>Nothing in these dumps hangs; whether the job does cannot be known from them.</b> Every collective in the dumps of {from} has
        ended, but {doubts(hang)}.
        <Damages hang={hang} />
      </p>
    )
  }
  if (hang.stuck.length === 0) {
    return (
      <p class="hang-verdict fine hang-wide">
        <b>Nothing hangs{hang.world_size_listed ? '' : ' in the dumps that are here'}.</b> Every collective that {from} entered has ended.{' '}
        {hang.world_size_listed ? '' : 'The dumps do not record the number of ranks.'}
      </p>
    )
  }
  return (
    <p class="hang-verdict bad hang-wide" role="status">
      <b>It hangs{first ? `: ${who(first.ranks)} ${causeText(first)}` : ''}.</b>{' '}
      {first &&
        first.victims.length > 0 &&
        `${first.victims.length === 1 ? `Rank ${first.victims[0]} waits` : `${first.victims.length} ranks wait`} for ${first.ranks.length === 1 ? 'it' : 'them'} in the end. `}
      {hang.roots.length > 1 && `${hang.roots.length - 1} more ${hang.roots.length === 2 ? 'end' : 'ends'} of the chain below. `}
      <span class="muted">From the dumps of {from}.</span>
      <Damages hang={hang} />
    </p>
  )
}

/** Dumps that were read in part. */
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
    ...(root.victims.length > 0 ? [['blocked ranks', who(root.victims)] as const] : []),
    ...(missed ? [['missed at', `${missed.operation} #${missed.sequence} of ${missed.group.name}`] as const] : []),
    ...(root.last_operation ? [['entered last', `${root.last_operation}${root.last_group ? ` of ${root.last_group}` : ''}`] as const] : []),
    ...(since !== null && since > 0 ? [['that was', `${seconds(since)} before the others came to what it missed`] as const] : []),
    ...(missed?.timeout_ms ? [['given up after', seconds(missed.timeout_ms / 1000)] as const] : []),
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
          <h3>From where, innermost first</h3>
          <ol class="hang-frames" tabIndex={0} aria-label="Stack of the last call">
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
    <section class="panel hang-panel hang-wide" aria-label="What is stuck">
      <h2>
        What is stuck <span class="muted">entered by some rank and not left</span>
      </h2>
      <Table<Stuck>
        caption="Collectives that are stuck"
        rows={hang.stuck}
        identify={(row) => hang.stuck.indexOf(row)}
        chosen={place}
        onChoose={(row) => choose(`stuck ${hang.stuck.indexOf(row)}`)}
        maxHeight="420px"
        columns={[
          { key: 'group', title: 'Group', value: (row) => row.group.name, wrap: true },
          { key: 'sequence', title: 'Number', value: (row) => row.sequence, align: 'right' },
          { key: 'operation', title: 'Operation', value: (row) => row.operation },
          { key: 'state', title: 'State', value: (row) => STATES[row.state] },
          { key: 'waiting', title: 'Waiting', value: (row) => row.waiting.length, cell: (row) => ranges(row.waiting), wrap: true },
          { key: 'missing', title: 'Missing', value: (row) => row.missing.length, cell: (row) => ranges(row.missing) || '–', wrap: true },
          { key: 'unknown', title: 'No dump', value: (row) => row.unknown.length, cell: (row) => ranges(row.unknown) || '–', wrap: true },
          {
            key: 'since',
            title: 'Entered',
            about: 'after the first that is stuck',
            value: (row) => row.since_ns,
            cell: (row) => (row.since_ns === first ? 'first' : `+${seconds((row.since_ns - first) / 1e9)}`),
            align: 'right',
          },
          {
            key: 'timeout',
            title: 'Given up after',
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
    <section class="panel hang-panel hang-wide" aria-label="Who called what">
      <h2>
        Who called what <span class="muted">where calls differ</span>
      </h2>
      <Table<Call>
        caption="Calls that differ"
        rows={rows}
        identify={(row) => `${row.group} ${row.rank}`}
        maxHeight="320px"
        columns={[
          { key: 'group', title: 'Group', value: (row) => row.group },
          { key: 'rank', title: 'Rank', value: (row) => row.rank, align: 'right' },
          { key: 'call', title: 'Call', value: (row) => row.call, wrap: true },
        ]}
      />
    </section>
  )
}
