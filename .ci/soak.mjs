#!/usr/bin/env node
// Soak test of `railwright serve`: mixed requests, broken ones among them, abandoned questions and aborted jobs.
//
//   .ci/soak.mjs BINARY [REQUESTS]
//
// Reads the resident memory of the server (Linux) after every hundredth of the requests and writes it as a table. The first fifth fills
// caches. One value depends on the requests in progress, so the medians of two fifths are compared. Fails if that of the last exceeds that
// of the second by 5%, if a repeated question gets another answer, if a status is not the expected one, or if the server does not end on
// Ctrl-C.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { served } from './served.mjs'

const GROWTH = 1.05
const AT_ONCE = 8
const [binary, wanted = '10000'] = process.argv.slice(2)
const total = Number(wanted)
if (!binary || !(total >= 400)) {
  console.error('error: soak.mjs BINARY [REQUESTS, at least 400]')
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
const at = (path) => root + path
const TP2 = at('fixtures/traces/megatron_tp2_v100')
const PP2 = at('fixtures/traces/generated_torch215_gloo_pp2dp2')
const given = [at('fixtures/traces'), at('fixtures/logs'), at('examples')]

const { server, url, stop } = await served(binary, given, 'inherit')
const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })

/** Sends a request; `after` milliseconds later the connection is dropped. */
function send(method, path, body, { after, headers = {}, base = url } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(base + path, { method, agent: after === undefined ? agent : undefined, headers }, (response) => {
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(parts) }))
      response.on('error', failed)
    })
    const failed = (error) => (after === undefined ? reject(error) : resolve({ status: 0 }))
    request.on('error', failed)
    if (after !== undefined) setTimeout(() => request.destroy(), after)
    request.end(body)
  })
}

const ask = (command, args, options) => send('POST', `api/v1/${command}`, JSON.stringify({ arguments: args }), options)
const problems = []
const seen = new Map()
const statuses = new Map()
function expect(what, answer, ...allowed) {
  const key = `${what} ${answer.status}`
  statuses.set(key, (statuses.get(key) ?? 0) + 1)
  if (!allowed.includes(answer.status)) problems.push(`${what}: status ${answer.status} ${String(answer.body).slice(0, 200)}`)
}

/** The same question has the same answer. */
function same(what, args, answer) {
  const key = `${what} ${JSON.stringify(args)}`
  const hash = createHash('sha256').update(answer.body).digest('hex')
  if (seen.has(key) && seen.get(key) !== hash) problems.push(`${key}: another answer than before`)
  seen.set(key, hash)
}

async function question(command, args) {
  const answer = await ask(command, args)
  expect(command, answer, 200)
  same(command, args, answer)
}

/** A job that is stopped some time after its start; its events end. */
async function job(command, args, after) {
  const started = await send('POST', 'api/v1/jobs', JSON.stringify({ command, arguments: args }))
  // The number of concurrent jobs is limited.
  expect(`job ${command}`, started, 202, 429, 503)
  if (started.status !== 202) return
  const { job: number } = JSON.parse(started.body)
  await new Promise((resolve) => setTimeout(resolve, after))
  expect('stop', await send('DELETE', `api/v1/jobs/${number}`), 204, 404)
  const events = await send('GET', `api/v1/jobs/${number}/events`)
  expect('events', events, 200, 404)
  if (events.status === 200 && !/event: (answer|problems)/.test(String(events.body))) problems.push(`job ${command}: its events have no end`)
}

const small = { model: 'llama-3.1-8b', cluster: 'dgx-h100', gpus: 8 }
const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
const log = readFileSync(at('fixtures/logs/torchtitan.log'))
const kinds = [
  (n) => question('estimate', { ...small, 'global-batch': 64 + (n % 97) }),
  (n) => question('estimate', { ...small, gpus: 64, tp: 1 << n % 4, 'micro-batch': 1 + (n % 3) }),
  (n) => question('memory', { ...small, 'sequence-length': 1024 * (1 + (n % 16)) }),
  (n) => question('timeline', { ...small, pp: 4, 'global-batch': 32 + 2 * (n % 40), detail: 'operators' }),
  (n) => question('search', { ...small, top: 3, 'global-batch': [64, 128, 256][n % 3], tp: 1 }),
  () => question('profile', { paths: [TP2] }),
  () => question('stragglers', { paths: [PP2] }),
  (n) => question('query', { sql: `SELECT name, count(*) FROM gpu GROUP BY name LIMIT ${1 + (n % 30)}`, paths: [TP2] }),
  () => question('hang', { paths: [at('examples/hang')] }),
  (n) => question('models/show', { name: ['llama-3-8b', 'deepseek-v3', 'mixtral-8x7b'][n % 3] }),
  async (n) => {
    // A name of 200 letters, and another file every time.
    const sent = await send('POST', `api/v1/uploads?name=${'x'.repeat(n % 200)}run.log`, Buffer.concat([log, Buffer.from(`\n${n}\n`)]))
    expect('upload', sent, 201)
    const { path } = JSON.parse(sent.body)
    expect('log', await ask('log', { file: path }), 200)
  },
  (n) => ask('query', { sql: ENDLESS, paths: [TP2] }, { after: n % 50 }),
  (n) => ask('timeline', { ...small, pp: 8, 'global-batch': 4000 + n, detail: 'operators' }, { after: 1 + (n % 40) }),
  (n) => job('search', { model: 'deepseek-v3', cluster: 'dgx-h100', gpus: [2048, 4096], unlimited: true, threads: 1 }, n % 100),
  (n) => job('network/failures', { designs: ['clos'], gpus: 4096, samples: 1000000, fail: ['leaf=20'] }, n % 60),
  async (n) => expect('broken', await send('POST', 'api/v1/estimate', '{"arguments": {'.repeat(1 + (n % 50))), 400, 422),
  async (n) => expect('unknown', await ask(`no/such/${n}`, {}), 404),
  async () => expect('refused', await ask('estimate', { ...small, gpus: -1 }), 422),
  async () => expect('foreign host', await send('GET', 'api/v1/start', undefined, { headers: { host: 'example.org' } }), 400, 403, 421),
  async (n) => expect('no token', await send('GET', 'api/v1/start', undefined, { base: `${url.split('/').slice(0, 3).join('/')}/wrong${n}/` }), 404),
]

/** Resident memory in MiB. */
function resident() {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))
  return Number(line[1]) / 1024
}

const samples = []
const begun = Date.now()
let next = 0
async function worker() {
  while (next < total) {
    const n = next++
    try {
      await kinds[n % kinds.length](Math.floor(n / kinds.length))
    } catch (error) {
      problems.push(`request ${n}: ${error}`)
    }
    if (n % Math.max(1, Math.floor(total / 100)) === 0) samples.push({ n, mib: resident(), seconds: (Date.now() - begun) / 1000 })
    if (problems.length > 50) next = total
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, worker))
await new Promise((resolve) => setTimeout(resolve, 2000))
samples.push({ n: total, mib: resident(), seconds: (Date.now() - begun) / 1000 })
agent.destroy()
const unended = await stop()
if (unended) problems.push(unended)

console.log('requests  seconds  resident MiB')
for (const { n, mib, seconds } of samples.filter((_, at) => at % 5 === 0 || at + 1 === samples.length)) {
  console.log(`${String(n).padStart(8)} ${seconds.toFixed(0).padStart(8)} ${mib.toFixed(1).padStart(13)}`)
}
for (const [what, count] of [...statuses].sort()) console.log(`${what}: ${count}`)
const median = (from, to) => {
  const own = samples.filter(({ n }) => n >= total * from && n <= total * to).map(({ mib }) => mib)
  return own.sort((a, b) => a - b)[Math.floor(own.length / 2)]
}
const [second, last] = [median(0.2, 0.4), median(0.8, 1)]
console.log(`median of the second fifth ${second.toFixed(1)} MiB, of the last ${last.toFixed(1)} MiB`)
if (last > second * GROWTH) problems.push(`memory grows: ${second.toFixed(1)} MiB, then ${last.toFixed(1)} MiB`)
for (const problem of problems) console.error(`error: ${problem}`)
process.exit(problems.length > 0 ? 1 : 0)
