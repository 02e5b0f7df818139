// What failed links, NICs and switches take away, class by class, for one or several designs.
import { useAnswer } from '../../api/live'
import { count, digits, percent } from '../../charts/format'
import { Loading, Problems } from '../../ui/states'
import { type Column, Table } from '../../ui/table'
import { Choice, Figure, Text } from '../parts/controls'
import type { FailureClass, FailuresAnswer } from './answer'
import { ShareBar } from './bits'
import { DesignChoice, DesignFields, Swatch } from './fields'
import { useOwnCluster } from './own-cluster'
import { chosenDesigns, designFlags, said, say } from './state'

export function FailuresDesk() {
  const ready = useOwnCluster()
  const question = {
    designs: chosenDesigns(),
    ...designFlags(),
    ...(said('exposed') ? { 'exposed-share': said('exposed') } : {}),
    ...(said('recovery') ? { recovery: said('recovery') } : {}),
  }
  const live = useAnswer<FailuresAnswer>('network/failures', ready ? question : null)
  const { answer } = live
  const most = Math.max(0, ...(answer?.designs ?? []).flatMap((one) => one.expected.classes.map((part) => part.lost_hours_per_month)))
  return (
    <>
      <section class="panel scope" aria-label="Designs and job">
        <DesignChoice />
        <div class="entries">
          <DesignFields withKind={false} />
          <Text
            title="Exposed share"
            placeholder="0.2"
            about="Share of the step that is exposed network time"
            value={said('exposed')}
            onChange={(value) => say('exposed', value)}
          />
          <Choice
            title="Who carries the traffic"
            value={said('recovery')}
            options={[
              ['', 'the whole domain'],
              ['neighbour', 'one neighbour'],
              ['alone', 'itself alone'],
            ]}
            onChange={(value) => say('recovery', value)}
          />
        </div>
      </section>
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {!answer && live.problems.length === 0 && <Loading heights={[240]} />}
      {answer && (
        <div class={`columns ${live.stale ? 'stale' : ''}`}>
          {answer.designs.length > 1 && <Compared answer={answer} />}
          <div class="columns failures">
            {answer.designs.map(({ expected }) => (
              <section key={expected.design} class="panel" aria-label={`Failures of ${expected.design}`}>
                <div class="panel-head">
                  <h2 class="swatched">
                    <Swatch id={expected.design} /> {expected.design}
                  </h2>
                </div>
                <div class="panel-body">
                  <dl class="figures">
                    <Figure title="Fail a month" note={`${digits(expected.interruptions_per_month, 2)} stop the job`}>
                      {digits(expected.failures_per_month, 2)}
                    </Figure>
                    <Figure title="Lost a month" note="GPU-hours">
                      {count(expected.lost_hours_per_month)}
                    </Figure>
                    <Figure title="Of all" note={`as if ${digits(expected.mean_lost_devices, 2)} GPUs were missing`}>
                      {percent(expected.lost_share)}
                    </Figure>
                  </dl>
                </div>
                <Classes name={expected.design} classes={expected.classes} most={most} />
              </section>
            ))}
          </div>
        </div>
      )}
    </>
  )
}

type Expected = FailuresAnswer['designs'][number]['expected']

/** Designs side by side: what they lose in a month. */
function Compared({ answer }: { answer: FailuresAnswer }) {
  const rows = answer.designs.map((one) => one.expected)
  const most = Math.max(...rows.map((row) => row.lost_hours_per_month))
  const columns: Column<Expected>[] = [
    {
      key: 'design',
      title: 'Design',
      value: (row) => row.design,
      cell: (row) => (
        <span class="swatched">
          <Swatch id={row.design} /> {row.design}
        </span>
      ),
    },
    {
      key: 'fail',
      title: 'Failures a month',
      value: (row) => row.failures_per_month,
      cell: (row) => digits(row.failures_per_month, 2),
      align: 'right',
    },
    {
      key: 'stop',
      title: 'Stop the job',
      value: (row) => row.interruptions_per_month,
      cell: (row) => digits(row.interruptions_per_month, 2),
      align: 'right',
    },
    {
      key: 'lost',
      title: 'GPU-hours lost a month',
      value: (row) => row.lost_hours_per_month,
      cell: (row) => count(row.lost_hours_per_month),
      align: 'right',
    },
    {
      key: 'bar',
      title: 'Of the most',
      value: (row) => row.lost_hours_per_month,
      cell: (row) => <ShareBar share={row.lost_hours_per_month / most} colour="var(--class-data)" />,
    },
    { key: 'share', title: 'Of all', value: (row) => row.lost_share, cell: (row) => percent(row.lost_share), align: 'right' },
    {
      key: 'missing',
      title: 'As if missing',
      about: 'GPUs',
      value: (row) => row.mean_lost_devices,
      cell: (row) => digits(row.mean_lost_devices, 2),
      align: 'right',
    },
    {
      key: 'step',
      title: 'Step on average',
      about: 'Interruptions aside',
      value: (row) => row.mean_slowdown,
      cell: (row) => `+${percent(row.mean_slowdown - 1)}`.replace('+<', '<'),
      align: 'right',
    },
  ]
  return (
    <section class="panel" aria-label="Designs compared">
      <div class="panel-head">
        <h2>
          Designs compared <span class="about">what failures of single parts take away</span>
        </h2>
      </div>
      <Table caption="Losses of designs" columns={columns} rows={rows} identify={(row) => row.design} />
    </section>
  )
}

const RESPONSES: Readonly<Record<string, string>> = { 'run-on': 'runs on', 'go-without': 'goes without', wait: 'waits' }

function Classes({ name, classes, most }: { name: string; classes: readonly FailureClass[]; most: number }) {
  const columns: Column<FailureClass>[] = [
    {
      key: 'part',
      title: 'One part fails',
      value: (row) => row.part,
      cell: (row) => <span title={row.remark || row.rate.fit_source}>{row.part}</span>,
    },
    { key: 'count', title: 'Parts', value: (row) => row.count, cell: (row) => count(row.count), align: 'right' },
    {
      key: 'cut',
      title: 'Cut off',
      about: 'Devices whose own NIC reaches no other',
      value: (row) => row.cut_off,
      cell: (row) => count(row.cut_off),
      align: 'right',
    },
    {
      key: 'step',
      title: 'Step',
      about: 'Exposed network time grows by what is lost; empty: the step cannot finish',
      value: (row) => row.slowdown,
      cell: (row) => (row.slowdown === null ? <span class="tone-bad">stops</span> : `+${percent(row.slowdown - 1)}`),
      align: 'right',
    },
    { key: 'then', title: 'Then it', value: (row) => RESPONSES[row.response] ?? row.response },
    {
      key: 'month',
      title: 'A month',
      about: 'Failures of all parts of this kind',
      value: (row) => row.failures_per_month,
      cell: (row) => digits(row.failures_per_month, 2),
      align: 'right',
    },
    {
      key: 'hours',
      title: 'GPU-hours a month',
      value: (row) => row.lost_hours_per_month,
      cell: (row) => count(row.lost_hours_per_month),
      align: 'right',
    },
    {
      key: 'bar',
      title: 'Of the worst',
      value: (row) => row.lost_hours_per_month,
      cell: (row) => <ShareBar share={most > 0 ? row.lost_hours_per_month / most : 0} colour="var(--class-data)" />,
    },
  ]
  return <Table caption={`Failures of ${name} by part`} columns={columns} rows={classes} identify={(row) => row.part} />
}
