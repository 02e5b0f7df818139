// Traces of many ranks from the fixture's two, as xtask/peers/ranks/replicate.py makes them: pairs of tensor parallelism, one of them slow.
import { mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { repository } from './harness.mjs'

const SOURCE = join(repository, 'fixtures/traces/megatron_tp2_v100')

/** Time of change of all files: the server keeps nothing of files that have just changed. */
const OLD = new Date(0)

/** Writes one file for each rank into a folder. */
export function manyRanks(folder, ranks) {
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
