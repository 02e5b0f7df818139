#!/usr/bin/env node
// Two servers and two commands on one folder at once.
//
//   .ci/together.mjs BINARY [ROUNDS]
//
// In every round both servers profile the folder, one command saves it and another profiles it, all at the same time. Fails if an answer
// differs from the answer of a command that ran alone, if the saved profile differs, if a file is left in the folder, or if a server does
// not end on Ctrl-C.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { served } from './served.mjs'

const [binary, wanted = '50'] = process.argv.slice(2)
const rounds = Number(wanted)
if (!binary || !(rounds >= 1)) {
  console.error('error: together.mjs BINARY [ROUNDS, at least 1]')
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'railwright-together-'))
const folder = join(home, 'traces')
cpSync(`${root}fixtures/traces/megatron_tp2_v100`, folder, { recursive: true })
const files = () => readdirSync(folder, { recursive: true }).sort().join('\n')
const before = files()
const problems = []

/** Runs a command to its end. */
function run(...args) {
  return new Promise((resolve) => {
    const command = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const parts = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr']) command[stream].on('data', (part) => (parts[stream] += part))
    command.on('exit', (code, signal) => {
      if (code !== 0) problems.push(`${args.join(' ')}: ended with ${code ?? signal}: ${parts.stderr.slice(0, 300)}`)
      resolve(parts.stdout)
    })
  })
}

/** The answer of a server to a question about the folder. */
function ask({ url }, command) {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}api/v1/${command}`, { method: 'POST' }, (response) => {
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () => {
        const body = String(Buffer.concat(parts))
        if (response.statusCode !== 200) problems.push(`${command}: status ${response.statusCode} ${body.slice(0, 300)}`)
        resolve(body)
      })
    })
    request.on('error', reject)
    request.end(JSON.stringify({ arguments: { paths: [folder] } }))
  })
}

function same(what, answer, expected) {
  if (answer !== expected) problems.push(`${what}: another answer than alone`)
}

const saved = join(home, 'job.railwright')
const bytes = () => readFileSync(saved).toString('base64')
const alone = await run('profile', folder, '--json')
await run('save', folder, '-o', saved)
const savedAlone = bytes()
const servers = await Promise.all([served(binary, [folder], 'ignore'), served(binary, [folder], 'ignore')])
const servedAlone = await ask(servers[0], 'profile')
for (let round = 0; round < rounds && problems.length < 20; round++) {
  const [first, second, , profiled] = await Promise.all([
    ask(servers[0], 'profile'),
    ask(servers[1], 'profile'),
    run('save', folder, '-o', saved),
    run('profile', folder, '--json'),
    ask(servers[round % 2], 'stragglers'),
  ])
  same('server 1', first, servedAlone)
  same('server 2', second, servedAlone)
  same('profile', profiled, alone)
  same('save', bytes(), savedAlone)
  if (files() !== before) problems.push(`round ${round}: the folder has other files: ${files()}`)
}
for (const { stop } of servers) {
  const problem = await stop()
  if (problem) problems.push(problem)
}
rmSync(home, { recursive: true })
console.log(`${rounds} rounds of two servers and two commands, ${problems.length} problems`)
for (const problem of problems) console.error(`error: ${problem}`)
process.exit(problems.length > 0 ? 1 : 0)
