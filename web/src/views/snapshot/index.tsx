// A memory snapshot of PyTorch: memory over its history, the peak by kind, module and code location, fragmentation and growth. Responsible
// for: the open snapshot and device, and the texts. `memory-snapshot` computes the sums.
import type { DeviceReport, Group, Leak, MemorySnapshotAnswer } from '../../api/schema/memory_snapshot'
import type { Arguments } from '../../api/ask'
import { useAnswer } from '../../api/live'
import { StackedArea } from '../../charts/area'
import { bytes, count, percent } from '../../charts/format'
import { ChartFrame } from '../../charts/frame'
import { change, own } from '../../state/location'
import { run } from '../../state/run'
import { Loading, Problems } from '../../ui/states'
import { Table } from '../../ui/table'
import { JobsBelow, Open, Opened, pathsIn } from '../parts/open'
import '../parts/layout.css'
import './snapshot.css'
import * as texts from '../../words/snapshot'

/** Number of listed locations, modules and kinds. */
const TOP = 60

export default function View() {
  const paths = pathsIn('y')
  const file = paths[0]
  const question: Arguments | null = file ? { file, top: TOP, ...predicted() } : null
  const live = useAnswer<MemorySnapshotAnswer>('memory-snapshot', question)
  if (!file) {
    return (
      <Open
        home="snapshot"
        title={texts.openAMemorySnapshot}
        text={
          <>
            {texts.what} <code>{texts.torchCudaMemoryDumpSnapshot}</code> {texts.writesAPickleOrA}
          </>
        }
        placeholder={texts.orAPathInThe}
      />
    )
  }
  return (
    <div class="view snapshot" aria-busy={live.loading}>
      <Opened home="snapshot" paths={[file]} commandLine={live.commandLine} />
      {live.problems.length > 0 && <Problems problems={live.problems} />}
      {live.problems.length > 0 && <JobsBelow paths={[file]} />}
      {live.answer ? (
        <Answer answer={live.answer} stale={live.stale} />
      ) : (
        live.loading && <Loading heights={[64, 240, 240]} label={texts.readingTheSnapshot} />
      )}
    </div>
  )
}

/** Run for the memory prediction next to the measurement. It must be a file, because the command takes files. */
function predicted(): Arguments {
  const { run: file, cluster, gpus } = run.value
  if (typeof file !== 'string') return {}
  return { run: file, ...(cluster ? { cluster } : {}), ...(gpus ? { gpus } : {}) }
}

function Answer({ answer, stale }: { answer: MemorySnapshotAnswer; stale: boolean }) {
  const { devices } = answer
  const chosen = devices.find((one) => String(one.device) === own('y').device) ?? devices[0]
  if (!chosen) return <p class="muted">{texts.noDeviceHoldsMemoryIn}</p>
  return (
    <div class={`snapshot-grid ${stale ? 'stale' : ''}`}>
      {devices.length > 1 && (
        <label class="snapshot-wide">
          {texts.device}{' '}
          <select class="select" value={chosen.device} onChange={(event) => change({ 'y.device': event.currentTarget.value })}>
            {devices.map((one) => (
              <option key={one.device} value={one.device}>
                {one.device}
              </option>
            ))}
          </select>
        </label>
      )}
      <Head device={chosen} />
      <Curve device={chosen} />
      <Groups title={texts.kinds} about={at(chosen)} rows={chosen.kinds} peak={chosen.peak_allocated_bytes} />
      {answer.predicted && <Predicted predicted={answer.predicted} />}
      {chosen.modules.length > 0 && (
        <Groups title={texts.modules} about={at(chosen)} rows={chosen.modules} peak={chosen.peak_allocated_bytes} />
      )}
      <Places device={chosen} />
      {chosen.leaks.length > 0 && <Growth rows={chosen.leaks} />}
    </div>
  )
}

const at = (device: DeviceReport) => (device.has_history ? texts.atThePeak : texts.atTheEndWithoutHistory)

function Head({ device }: { device: DeviceReport }) {
  const facts: (readonly [string, string, string?])[] = [
    [device.has_history ? texts.peakAllocated : 'allocated', bytes(device.peak_allocated_bytes), texts.byTensors],
    [texts.peakReserved, bytes(device.peak_reserved_bytes), texts.byTheAllocator],
    ...(device.fragmented_bytes !== null ? [['fragmented', bytes(device.fragmented_bytes), texts.freeInSegmentsWithTensors] as const] : []),
    ...(device.cached_bytes !== null ? [['cached', bytes(device.cached_bytes), texts.freeSegments] as const] : []),
    [texts.largestFreeBlock, bytes(device.largest_free_bytes)],
    [
      'events',
      count(device.events),
      device.cache_flushes > 0 ? texts.cache(count(device.cache_flushes), device.cache_flushes === 1 ? 'flush' : 'flushes') : undefined,
    ],
    ...(device.out_of_memory > 0
      ? [
          [
            texts.outOfMemory,
            device.out_of_memory === 1 ? 'once' : texts.times(count(device.out_of_memory)),
            device.first_failure ? texts.firstFor(bytes(device.first_failure[0])) : undefined,
          ] as const,
        ]
      : []),
  ]
  return (
    <dl class="panel numbers-row snapshot-wide">
      {facts.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={name === 'out of memory' ? 'tone-bad' : undefined}>
            {value}
            {note && <span class="muted">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Curve({ device }: { device: DeviceReport }) {
  const { curve, peak } = device
  if (curve.length < 2) return null
  const last = curve.at(-1)!
  const timed = last.time_us !== null && last.time_us > 0
  const rows = () => ({
    columns: ['event', 'time_us', 'allocated_bytes', 'reserved_bytes'],
    rows: curve.map((one) => [one.event, one.time_us, one.allocated_bytes, one.reserved_bytes]),
  })
  // Small snapshots are shown in MiB.
  const [unit, name] = Math.max(...curve.map((one) => one.reserved_bytes)) >= 2 * 2 ** 30 ? [2 ** 30, 'GiB'] : [2 ** 20, 'MiB']
  const near = (share: number) => curve[Math.min(curve.length - 1, Math.floor(share * curve.length))]!
  return (
    <ChartFrame
      title={texts.memoryOverTheHistory}
      about={texts.overInOrderOfEvents(name, timed ? texts.ms(((last.time_us ?? 0) / 1e3).toPrecision(3)) : '')}
      name="snapshot-memory"
      rows={rows}
      class="snapshot-wide"
    >
      {(width) => (
        <StackedArea
          label={texts.memoryOverTheHistory}
          width={width}
          height={240}
          unit={unit}
          duration={1}
          format={bytes}
          formatTime={(share) => {
            return texts.event(count(near(share).event))
          }}
          limit={null}
          mark={
            peak && {
              at: curve.findIndex((one) => one.event >= peak.event) / curve.length,
              value: peak.allocated_bytes,
              title: texts.peak(bytes(peak.allocated_bytes)),
            }
          }
          layers={[
            { key: 'allocated', title: texts.allocated, colour: 'var(--class-backward)', values: curve.map((one) => one.allocated_bytes) },
            {
              key: 'free',
              title: texts.reservedNotAllocated,
              colour: 'var(--class-bubble)',
              values: curve.map((one) => Math.max(0, one.reserved_bytes - one.allocated_bytes)),
            },
          ]}
        />
      )}
    </ChartFrame>
  )
}

function Groups({ title, about, rows, peak }: { title: string; about: string; rows: readonly Group[]; peak: number }) {
  return (
    <section class="panel snapshot-panel" aria-label={title}>
      <h2>
        {title} <span class="muted">{about}</span>
      </h2>
      <Table<Group>
        caption={texts.byMemory(title)}
        rows={rows}
        identify={(row, at) => `${row.name} ${at}`}
        maxHeight="360px"
        columns={[
          { key: 'name', title: title.replace(/s$/, ''), value: (row) => row.name, wrap: true },
          { key: 'bytes', title: texts.memory, value: (row) => row.bytes, cell: (row) => bytes(row.bytes), align: 'right' },
          {
            key: 'share',
            title: texts.share,
            value: (row) => row.bytes / peak,
            cell: (row) => percent(row.bytes / Math.max(1, peak)),
            align: 'right',
          },
          { key: 'blocks', title: texts.blocks, value: (row) => row.blocks, cell: (row) => count(row.blocks), align: 'right' },
        ]}
      />
    </section>
  )
}

function Places({ device }: { device: DeviceReport }) {
  return (
    <section class="panel snapshot-panel snapshot-wide" aria-label={texts.places}>
      <h2>
        {texts.placesInTheCode}{' '}
        <span class="muted">
          {at(device)}
          {texts.innermostFrameOutsideOfThe}
        </span>
      </h2>
      <ul class="snapshot-places">
        {device.places.map((place, index) => (
          <li key={`${place.name} ${index}`}>
            <details>
              <summary>
                <span class="snapshot-bar" aria-hidden="true">
                  <span style={{ width: `${(place.bytes / Math.max(1, device.places[0]!.bytes)) * 100}%` }} />
                </span>
                <b>{bytes(place.bytes)}</b> <code>{place.name}</code>{' '}
                <span class="muted">
                  {count(place.blocks)} {place.blocks === 1 ? 'block' : 'blocks'}
                  {place.kind && `, ${place.kind}`}
                  {place.module && place.module !== place.name && `, in ${place.module}`}
                </span>
              </summary>
              <ol>
                {(place.stack ?? []).map((frame, at) => (
                  <li key={at}>
                    <code>{frame}</code>
                  </li>
                ))}
              </ol>
            </details>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Growth({ rows }: { rows: readonly Leak[] }) {
  return (
    <section class="panel snapshot-panel snapshot-wide" aria-label={texts.growth}>
      <h2>
        {texts.growth} <span class="muted">{texts.allocatedOverTheHistoryAnd}</span>
      </h2>
      <Table<Leak>
        caption={texts.memoryThatGrows}
        rows={rows}
        identify={(row) => row.place}
        columns={[
          { key: 'place', title: texts.place, value: (row) => row.place, wrap: true },
          { key: 'bytes', title: texts.memory, value: (row) => row.bytes, cell: (row) => bytes(row.bytes), align: 'right' },
          { key: 'blocks', title: texts.blocks, value: (row) => row.blocks, cell: (row) => count(row.blocks), align: 'right' },
          {
            key: 'rate',
            title: texts.perSecond,
            value: (row) => row.bytes_per_s,
            cell: (row) => (row.bytes_per_s === null ? '–' : bytes(row.bytes_per_s)),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}

function Predicted({ predicted }: { predicted: NonNullable<MemorySnapshotAnswer['predicted']> }) {
  return (
    <section class="panel snapshot-panel" aria-label={texts.measuredAndPredicted}>
      <h2>
        {texts.measuredAndPredicted}{' '}
        <span class="muted">
          {texts.stage} {predicted.stage}
        </span>
      </h2>
      <Table
        caption={texts.memoryByKindMeasuredAnd}
        rows={predicted.rows}
        identify={(row) => row.kind}
        columns={[
          { key: 'kind', title: texts.kind, value: (row) => row.kind },
          {
            key: 'measured',
            title: texts.measured,
            value: (row) => row.measured_bytes,
            cell: (row) => bytes(row.measured_bytes),
            align: 'right',
          },
          {
            key: 'predicted',
            title: texts.predicted,
            value: (row) => row.predicted_bytes,
            cell: (row) => bytes(row.predicted_bytes),
            align: 'right',
          },
        ]}
      />
    </section>
  )
}
