// Compares the programs as WebAssembly with the binary: node web/playground/native.mjs WASM WHOLE BINARY [DRAWS]. Exit code 1 when an answer
// differs. All get the same questions, the binary through `railwright serve`, WASM (without readers of files) those that the page sends to it.
// Status, outcome, command line and the bytes of the answer must be equal. DRAWS (100 by default) models, clusters, sizes and plans of the catalogue are drawn in addition, the same ones each time.
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startServer } from '../e2e/server.mjs'
import { isWithoutFiles, WITHOUT_FILES } from './parts.mjs'
import { Program } from './program.mjs'

const [wasm, whole, binary, draws = '100'] = process.argv.slice(2)
if (!binary) {
  console.error('usage: node web/playground/native.mjs WASM WHOLE BINARY [DRAWS]')
  process.exit(2)
}
const root = fileURLToPath(new URL('../..', import.meta.url))

const LARGE = { model: 'llama-3.1-405b', cluster: 'dgx-h100', gpus: 1024, tp: 8, cp: 2, pp: 16, 'global-batch': 512, 'uneven-stages': true }
const SMALL = { model: 'llama-3-8b', cluster: 'dgx-h100', gpus: 64, tp: 2, pp: 2, 'global-batch': 256 }
/** Two kinds of device in one job. */
const MIXED = { model: 'llama-3-8b', cluster: 'dgx-h100', gpus: 32, pools: ['dgx-a100:16'], tp: 4, pp: 4 }

/** A command, its arguments, and files of the repository for arguments that name one. */
const QUESTIONS = [
  ['estimate', LARGE],
  ['estimate', { ...LARGE, recompute: 'full' }],
  ['estimate', { ...LARGE, 'uneven-stages': false }],
  ['estimate', SMALL],
  ['estimate', { ...SMALL, tokens: '1T', 'sequence-length': 16384 }],
  ['estimate', { model: 'deepseek-v3', cluster: 'dgx-h100', gpus: 2048, 'global-batch': 4096 }],
  ['estimate', { model: 'llama-3-70b', cluster: 'dgx-h100' }],
  ['estimate', { ...SMALL, gpus: 1, tp: 1, pp: 1 }],
  ['estimate', { ...SMALL, tp: 16 }],
  ['estimate', { ...SMALL, model: 'no-such-model' }],
  ['estimate', { ...SMALL, network: 'flow' }],
  ['estimate', { cluster: 'dgx-h100', gpus: 64 }, { model: 'examples/launch/llama3_70b.sh' }],
  ['estimate', { cluster: 'dgx-h100' }, { model: 'catalog/models/llama-3-8b.json' }],
  ['estimate', SMALL, {}, 'csv'],
  ['estimate', SMALL, {}, 'table'],
  ['estimate', MIXED],
  ['balance', MIXED],
  ['search', { ...MIXED, gpus: 16, pools: ['dgx-a100:8'], tp: undefined, pp: undefined, 'global-batch': 64 }],
  ['recompute', MIXED],
  ['memory', LARGE],
  ['values', SMALL],
  ['timeline', SMALL, {}, 'columns'],
  ['timeline', SMALL, {}, 'svg'],
  ['search', { model: 'llama-3-8b', cluster: 'dgx-h100', gpus: 32, 'global-batch': 128 }],
  ['size', { model: 'llama-3-8b', cluster: 'dgx-h100', tokens: '1T', 'global-batch': 256, deadline: '30d' }],
  ['sensitivity', SMALL],
  ['balance', LARGE],
  ['recompute', SMALL],
  ['whatif', { ...SMALL, change: ['nic=x2'] }],
  ['goodput', { cluster: 'dgx-h100', gpus: 1024, 'checkpoint-time': '60 s' }],
  ['network/collective', { operation: 'all-reduce', cluster: 'dgx-h100', gpus: 64 }],
  ['network/design', { model: 'llama-3-8b', gpus: [64] }],
  ['network/rail-only', {}],
  ['network/show', { design: 'rail-optimized' }],
  ['network/sites', { model: 'llama-3-8b', bandwidth: '10 Gbit/s', step: '5 s' }],
  ['network/topologies', {}],
  ['network/cost', { gpus: 1024 }],
  ['network/traffic', LARGE],
  ['network/failures', { gpus: 1024 }],
  ['network/simulate', SMALL],
  ['explain', { id: 'mfu' }],
  ['examples', {}],
  ['keys', {}],
  ['schema', {}],
  ['models/list', {}],
  ['models/show', { name: 'deepseek-v3' }],
  ['gpus/list', {}],
  ['gpus/show', { name: 'h100-sxm5-80gb' }],
  ['clusters/list', {}],
  ['clusters/show', { name: 'dgx-h100' }],
  ['detect', {}, { file: 'examples/launch/llama3_70b.sh' }],
  ['log', {}, { file: 'fixtures/traces/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz' }],
  ['profile', {}, { paths: TRACES() }],
  ['stragglers', {}, { paths: TRACES() }],
  ['no-such-command', {}],
]

/** Every launch file and run file of the examples. */
const EXAMPLES = ['launch', 'runs'].flatMap((folder) =>
  readdirSync(`${root}/examples/${folder}`)
    .filter((name) => !name.endsWith('.md'))
    .map((name) => ['estimate', folder === 'launch' ? { cluster: 'dgx-h100' } : {}, { model: `examples/${folder}/${name}` }]),
)

function TRACES() {
  return [0, 1, 2, 3].map((rank) => `fixtures/traces/generated_torch215_gloo_pp2dp2/rank${rank}_step5.pt.trace.json.gz`)
}

const unasked = WITHOUT_FILES.filter((command) => !QUESTIONS.some(([asked]) => asked === command))
if (unasked.length > 0) throw new Error(`no question for ${unasked}`)

const server = await startServer(binary)
const [quick, program] = await Promise.all([wasm, whole].map(async (file) => new Program(await WebAssembly.compile(readFileSync(file)))))
const uploaded = new Map()

/** A file of the repository in both programs; the handle that the server gave it. */
async function handed(path) {
  if (!uploaded.has(path)) {
    const bytes = readFileSync(`${root}/${path}`)
    const name = path.split('/').at(-1)
    const response = await fetch(`${server.url}api/v1/uploads?name=${encodeURIComponent(name)}`, { method: 'POST', body: bytes })
    const handle = (await response.json()).path
    program.file(handle.replace('upload:', 'uploads/'), bytes)
    uploaded.set(path, handle)
  }
  return uploaded.get(path)
}

const header = (response, name) => decodeURIComponent(response.headers.get(name) ?? '')
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)]

/** Questions about what the catalogue has, drawn by a small generator with a fixed start. */
function drawn(count) {
  const listed = (kind) =>
    JSON.parse(new TextDecoder().decode(program.ask({ command: `${kind}/list`, arguments: {}, format: 'json' }).body))[kind].map(
      (one) => one.name,
    )
  const [models, clusters] = [listed('models'), listed('clusters')]
  let state = 1
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const one = (all) => all[below(all.length)]
  return Array.from({ length: count }, () => {
    const [tp, pp, data] = [one([1, 1, 2, 4, 8]), one([1, 1, 2, 4, 8]), one([1, 2, 4, 8, 16])]
    const plan = {
      model: one(models),
      cluster: one(clusters),
      gpus: tp * pp * data,
      tp,
      pp,
      'global-batch': data * one([4, 16, 64]),
      'micro-batch': one([1, 1, 2]),
      ...one([{}, { recompute: 'full' }, { recompute: 'selective' }]),
      ...one([{}, {}, { 'sequence-length': 8192 }, { tokens: '1T' }]),
    }
    return [one(['estimate', 'estimate', 'estimate', 'memory', 'sensitivity', 'network/traffic', 'recompute']), plan]
  })
}

let failed = 0
const outcomes = {}
const questions = [...QUESTIONS, ...EXAMPLES, ...drawn(Number(draws))]
for (const [index, [command, values, files = {}, format = 'json']] of questions.entries()) {
  const args = { ...values }
  for (const [name, path] of Object.entries(files)) {
    args[name] = Array.isArray(path) ? await Promise.all(path.map(handed)) : await handed(path)
  }
  const since = performance.now()
  const response = await fetch(`${server.url}api/v1/${command}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args, format }),
  })
  const expected = Buffer.from(await response.arrayBuffer())
  const middle = performance.now()
  const question = { command, arguments: args, format }
  const differences = (isWithoutFiles(question) ? [quick, program] : [program]).flatMap((one) => {
    const { about, body } = one.ask(question)
    return [
      ['status', about.status, response.status],
      ['outcome', about.outcome ?? '', header(response, 'railwright-outcome')],
      ['command', about.command ?? '', header(response, 'railwright-command')],
      ['answer', Buffer.from(body).toString(), expected.toString()],
    ].filter(([, here, there]) => here !== there)
  })
  const end = performance.now()
  const text = `${command} ${JSON.stringify(values)} ${format}`.slice(0, 110)
  const times = `${(end - middle).toFixed(0)} ms, binary ${(middle - since).toFixed(0)} ms`
  outcomes[response.status] = (outcomes[response.status] ?? 0) + 1
  // Those drawn are many: only the ones that differ are listed.
  if (differences.length > 0 || index < QUESTIONS.length + EXAMPLES.length) {
    console.log(`${differences.length === 0 ? 'ok  ' : 'FAIL'} ${response.status} ${text}: ${expected.length} bytes, ${times}`)
  }
  for (const [what, here, there] of differences) {
    const at = [...String(there)].findIndex((letter, index) => letter !== String(here)[index])
    console.log(
      `     ${what}: ${String(here).slice(Math.max(0, at - 40), at + 120)}\n     binary: ${String(there).slice(Math.max(0, at - 40), at + 120)}`,
    )
  }
  failed += differences.length > 0 ? 1 : 0
}

// The same estimate with another number each time, so that no answer is remembered.
const times = Array.from({ length: 30 }, (_, index) => {
  const since = performance.now()
  quick.ask({ command: 'estimate', arguments: { ...LARGE, tokens: 1e12 + index } })
  return performance.now() - since
})
console.log(`estimate in WebAssembly: median ${median(times).toFixed(1)} ms of ${times.length}`)
await server.stop()
const statuses = Object.entries(outcomes)
  .map(([status, count]) => `${count} with ${status}`)
  .join(', ')
console.log(
  `${failed === 0 ? `${questions.length} answers are the same` : `${failed} of ${questions.length} answers differ`} (${statuses})`,
)
process.exit(failed === 0 ? 0 : 1)
