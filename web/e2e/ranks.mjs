// Traces of many ranks from the fixture's two, as xtask/peers/ranks/replicate.py makes them: pairs of tensor parallelism, one of them slow;
// with sizes also the groups of a job with data and pipeline parallelism, as Megatron-LM describes them.
import { mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { repository } from './harness.mjs'

const SOURCE = join(repository, 'fixtures/traces/megatron_tp2_v100')

/** Time of change of all files: the server keeps nothing of files that have just changed. */
const OLD = new Date(0)

/** Groups of a rank, by the sizes of its job: tensor innermost, then data, then pipeline. */
function groupsOf(rank, { tp, dp, pp }) {
  const along = (size, stride) => {
    const first = rank - (Math.floor(rank / stride) % size) * stride
    return Array.from({ length: size }, (_, at) => first + at * stride)
  }
  return [
    ['TENSOR_MODEL_PARALLEL_GROUP', along(tp, 1)],
    ['DATA_PARALLEL_GROUP', along(dp, tp)],
    ['PIPELINE_MODEL_PARALLEL_GROUP', along(pp, tp * dp)],
  ].map(([name, members], at) => ({
    pg_name: `${20 + at}`,
    pg_desc: name,
    backend_config: 'cuda:nccl',
    pg_size: members.length,
    ranks: members,
  }))
}

/** Writes one file for each rank into a folder; `sizes`: the described groups of such a job, `{tp, dp, pp}` with `tp` 2. */
export function manyRanks(folder, ranks, sizes = null) {
  mkdirSync(folder, { recursive: true })
  for (const shard of [0, 1]) {
    const name = readdirSync(SOURCE).find((file) => file.startsWith(`rank${shard}.`) && file.includes('.pt.trace.json'))
    const trace = JSON.parse(gunzipSync(readFileSync(join(SOURCE, name))).toString())
    const moved = trace.traceEvents.filter((event) => event.args?.['Process Group Ranks'] === '[0, 1]')
    for (const event of moved) event.args['Process Group Ranks'] = '@members@'
    const all = Array.from({ length: ranks }, (_, rank) => rank)
    trace.distributedInfo = { ...trace.distributedInfo, rank: '@rank@', world_size: ranks, pg_config: '@groups@' }
    const text = JSON.stringify(trace)
    for (let rank = shard; rank < ranks; rank += 2) {
      const members = [rank - shard, rank - shard + 1]
      const groups = [
        { pg_name: '0', pg_desc: 'default_pg', backend_config: 'cpu:gloo,cuda:nccl', pg_size: ranks, ranks: all },
        { pg_name: '13', pg_desc: 'undefined', backend_config: 'cpu:gloo,cuda:nccl', pg_size: 2, ranks: members },
        ...(sizes ? groupsOf(rank, sizes) : []),
      ]
      const own = text
        .replaceAll('@members@', `[${members.join(', ')}]`)
        .replace('"@rank@"', String(rank))
        .replace('"@groups@"', JSON.stringify(groups))
      const file = join(folder, `rank${rank}.pt.trace.json.gz`)
      writeFileSync(file, gzipSync(own, { level: 1 }))
      utimesSync(file, OLD, OLD)
    }
  }
  utimesSync(folder, OLD, OLD)
}
