// The overview: breakdown of a step, findings with their cost, and the same time top-down to kernels. Responsible for: bars, findings with
// links to their places, the tree. Parts are shown unrounded, so that they add up.
import { useState } from 'preact/hooks'
import { afresh } from '../../timeline/address'
import { change } from '../../state/location'
import { withUnits } from '../../state/program-text'
import { percent, span } from '../../timeline/time'
import { Ticked } from '../../ui/states'
import { Table } from '../../ui/table'
import { fitName } from '../../charts/fit-text'
import { ChartFrame } from '../../charts/frame'
import type { TabProps } from '.'
import { nameOf } from './interest'
import { JobRemedy } from './job-remedy'
import { Note } from './note'
import { Tree } from './tree'
import { type Finding, type Kernel, type Line, type Profile, classOf, signed, words } from './types'
import * as texts from '../../words/traces'

export function Overview({ profile }: TabProps) {
  return (
    <div class="traces-grid">
      <Head profile={profile} />
      <ChartFrame title={texts.whereAStepGoes} about={texts.meanOverRanksAndSteps2} name="step" rows={() => rowsOf(profile)}>
        {(width) => <Waterfall profile={profile} width={width} />}
      </ChartFrame>
      <Findings profile={profile} />
      <section class="panel traces-panel traces-wide" aria-label={texts.topDown}>
        <h2>
          {texts.topDown} <span class="muted">{texts.labelPhaseFamilyKernelTime}</span>
        </h2>
        <Tree profile={profile} />
      </section>
      <section class="panel traces-panel traces-wide" aria-label={texts.kernels}>
        <h2>
          {texts.kernels} <span class="muted">{texts.includingOverlappedTime}</span>
        </h2>
        <Kernels profile={profile} />
      </section>
      {profile.warnings.length > 0 && (
        <section class="panel traces-panel traces-wide" aria-label={texts.caveats}>
          <h2>{texts.caveats}</h2>
          <ul class="traces-doubts">
            {profile.warnings.map((warning) => (
              <li key={warning.id}>
                <Ticked text={warning.message} /> <code>{warning.id}</code> <JobRemedy id={warning.id} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

/** Shares below this are left out. */
const SMALLEST = 0.0005

function Head({ profile }: { profile: Profile }) {
  // The FLOPs of the run that was set are not those of these traces.
  const refused = profile.utilisation === null && profile.warnings.find((warning) => warning.id === 'flop-exceed-compute')
  const limits = profile.hardware
    .filter((part) => part.share >= SMALLEST)
    .map((part) => `${words(part.name)} ${percent(part.share)}`)
    .join(', ')
  const facts: (readonly [string, string])[] = [
    [texts.stepTime, span(profile.step_time_ns)],
    [
      'ranks',
      profile.missing === 0
        ? profile.ranks.toLocaleString('en')
        : texts.ofText(profile.ranks, profile.world_size_known ? '' : texts.atLeast, profile.world_size),
    ],
    ['steps', profile.steps.length.toLocaleString('en')],
    ...(profile.device ? [['on', profile.device] as const] : []),
    ...(profile.utilisation !== null ? [['MFU', percent(profile.utilisation)] as const] : []),
    ...(limits ? [[texts.limitedBy, limits] as const] : []),
    ['clocks', withUnits(profile.clocks)],
  ]
  return (
    <>
      {refused && (
        <p class="warn traces-wide">
          <Ticked text={refused.message} /> <JobRemedy id={refused.id} />
        </p>
      )}
      <dl class="traces-head traces-wide">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function rowsOf(profile: Profile) {
  return {
    columns: ['group', 'part', 'time_ns', 'mean_ns', 'share'],
    rows: profile.lines.flatMap((line) =>
      (line.parts.length > 0 ? line.parts : [line]).map((part) => [line.name, part.name, part.time_ns, part.mean_ns, part.share]),
    ),
  }
}

/** One stacked bar of the groups, and below it every part on the same scale. */
function Waterfall({ profile, width }: { profile: Profile; width: number }) {
  const row = 22
  const left = Math.min(230, width * 0.42)
  const room = Math.max(40, width - left - 120)
  const lines: { line: Line; part: string; name: string; mean: number; share: number; from: number; depth: number }[] = []
  let from = 0
  for (const line of profile.lines) {
    lines.push({ line, part: line.name, name: words(line.name), mean: line.mean_ns, share: line.share, from, depth: 0 })
    let at = from
    for (const part of line.parts) {
      if (part.share >= 0.0005)
        lines.push({ line, part: part.name, name: words(part.name), mean: part.mean_ns, share: part.share, from: at, depth: 1 })
      at += part.share
    }
    from += line.share
  }
  const height = lines.length * row + 6
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={texts.aStepOf(
        span(profile.step_time_ns),
        profile.lines.map((line) => `${words(line.name)} ${percent(line.share)}`).join(', '),
      )}
      font-size="12"
    >
      <defs>
        <pattern id="waterfall-bubble" width="6" height="6" patternUnits="userSpaceOnUse">
          <rect width="6" height="6" fill="var(--sunken)" />
          <path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="var(--line-strong)" />
        </pattern>
      </defs>
      {lines.map(({ line, part, name, mean, share, from, depth }, at) => {
        const y = at * row
        const colour = classOf(depth === 0 ? line.group : part)
        return (
          <g key={`${line.name} ${name} ${depth}`}>
            {depth === 0 && at > 0 && <line x1="0" x2={width} y1={y + 0.5} y2={y + 0.5} stroke="var(--line)" />}
            <text x={depth * 14} y={y + 15} fill={depth === 0 ? 'var(--text)' : 'var(--muted)'} font-weight={depth === 0 ? 600 : 400}>
              {fitName(name, left - depth * 14 - 6, 12, depth === 0 ? 600 : 400)}
            </text>
            <rect x={left} y={y + 5} width={room} height={row - 10} fill="var(--sunken)" />
            <rect
              x={left + from * room}
              y={y + 4}
              width={Math.max(1, share * room)}
              height={row - 8}
              fill={colour === 'bubble' ? 'url(#waterfall-bubble)' : `var(--class-${colour})`}
              stroke={colour === 'bubble' ? 'var(--line-strong)' : 'none'}
              opacity={depth === 0 ? 1 : 0.85}
            >
              <title>{texts.ofTheStep(name, span(mean), percent(share))}</title>
            </rect>
            <text x={width - 52} y={y + 15} text-anchor="end" fill="var(--text)">
              {span(mean)}
            </text>
            <text x={width} y={y + 15} text-anchor="end" fill="var(--muted)">
              {percent(share)}
            </text>
          </g>
        )
      })}
    </svg>
  )
}

function Findings({ profile }: { profile: Profile }) {
  const [all, setAll] = useState(false)
  const { findings } = profile
  const shown = all ? findings : findings.slice(0, 5)
  return (
    <section class="panel traces-panel" aria-label={texts.findings}>
      <h2>
        {texts.findings} <span class="muted">{texts.mostExpensiveFirst}</span>
      </h2>
      {findings.length === 0 && <p class="muted">{texts.noFindingCostsMoreThan}</p>}
      <ol class="traces-findings">
        {shown.map((finding, at) => (
          <FindingItem
            key={finding.id + finding.message}
            name={nameOf(findings, at)}
            finding={finding}
            hours={profile.from_host ? 'rank-hours' : 'GPU-hours'}
            step={profile.step_time_ns}
          />
        ))}
      </ol>
      {profile.joint && (
        <p class="traces-joint">
          {texts.allTogether(
            profile.joint.findings,
            span(profile.joint.cost_ns),
            percent(profile.joint.cost_ns / Math.max(profile.step_time_ns, 1)),
          )}
          {profile.joint.shared_ns > 0 && texts.overlapsAreExcluded(span(profile.joint.shared_ns))}
        </p>
      )}
      {findings.length > 5 && (
        <button type="button" class="button quiet" onClick={() => setAll(!all)}>
          {all ? 'Fewer' : texts.more(findings.length - 5)}
        </button>
      )}
    </section>
  )
}

function FindingItem({ finding, name, hours, step }: { finding: Finding; name: string; hours: string; step: number }) {
  return (
    <li>
      <p class="traces-finding">
        <b>{finding.message}</b> <code>{finding.id}</code>
      </p>
      <p class="traces-cost">
        {finding.cost_ns !== null && (
          <span>
            {texts.costs} <b>{signed(finding.certainty, span(finding.cost_ns))}</b> {texts.perStep3}
            {`, ${percent(finding.cost_ns / Math.max(step, 1))}`}
            {finding.shared_ns > 0 && `; ${texts.alsoInOtherFindings(span(finding.shared_ns))}`}
          </span>
        )}
        {finding.gpu_hours_per_day !== null && (
          <span>
            {finding.gpu_hours_per_day.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} {hours} {texts.perDay}
          </span>
        )}
        <button
          type="button"
          class="traces-link"
          onClick={() => change({ ...afresh('t'), 't.tab': 'timeline', 't.finding': name, 't.rank': undefined })}
        >
          {texts.showOnTheTimeline}
        </button>
      </p>
      <ul class="traces-evidence">
        {finding.evidence.map((line) => (
          <li key={line}>{withUnits(line)}</li>
        ))}
      </ul>
      <p class="traces-advice">
        {texts.doText} <Ticked text={finding.advice} /> <JobRemedy id={finding.id} />
      </p>
      <Note id={name} />
    </li>
  )
}

function Kernels({ profile }: { profile: Profile }) {
  return (
    <Table<Kernel>
      caption={texts.kernelsByTime}
      rows={profile.kernels}
      identify={(row, at) => `${row.name} ${row.phase} ${at}`}
      first={15}
      columns={[
        {
          key: 'name',
          title: texts.kernel,
          value: (row) => row.name,
          cell: (row) => (
            <span class="traces-kernel" title={row.name}>
              {row.name}
            </span>
          ),
          wrap: true,
        },
        {
          key: 'per_step_ns',
          title: texts.perStep2,
          value: (row) => row.per_step_ns,
          cell: (row) => span(row.per_step_ns),
          align: 'right',
        },
        {
          key: 'share',
          title: texts.share,
          value: (row) => row.per_step_ns / profile.step_time_ns,
          cell: (row) => percent(row.per_step_ns / profile.step_time_ns),
          align: 'right',
        },
        {
          key: 'count',
          title: texts.calls,
          value: (row) => row.count,
          cell: (row) => row.count.toLocaleString('en'),
          align: 'right',
          about: texts.overAllRanksAndSteps,
        },
        { key: 'mean', title: texts.mean, value: (row) => row.mean_ns, cell: (row) => span(row.mean_ns), align: 'right' },
        { key: 'longest', title: texts.longest, value: (row) => row.longest_ns, cell: (row) => span(row.longest_ns), align: 'right' },
        { key: 'phase', title: texts.phase, value: (row) => row.phase.replaceAll('_', ' ') },
        { key: 'family', title: texts.family, value: (row) => words(row.family) },
      ]}
    />
  )
}
