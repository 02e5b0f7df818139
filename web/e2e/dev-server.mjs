// A stand-in for `railwright serve` while it is being built: the contract of the API on top of `BINARY COMMAND --json`.
// Not shipped. Usage: node e2e/dev-server.mjs BINARY [PORT]; prints the address.
import { execFile, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const [binary = '/work/rw', port = '0'] = process.argv.slice(2)
const dist = fileURLToPath(new URL('../dist', import.meta.url))
const uploads = mkdtempSync(join(tmpdir(), 'railwright-dev-'))
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
const positionals = { model: 1, file: 1, 'models/show': 'model', topic: 1 }
const jobs = new Map()
let uploaded = 0

function commandArguments(command, values, format) {
  const list = command.split('/')
  for (const [key, value] of Object.entries(values)) {
    if (value === false || value === null) continue
    const each = Array.isArray(value) ? value : [value]
    for (let one of each) {
      if (typeof one === 'string') one = one.replace(/^upload:(\d+)\//, (_, n) => `${uploads}/${n}-`)
      if (positionals[key] && !(key === 'model' && command === 'x')) list.push(String(one))
      else list.push(one === true ? `--${key}` : `--${key}=${one}`)
    }
  }
  if (format === 'json') list.push('--json')
  else list.push('--format', format)
  return list
}

function problems(stderr) {
  return stderr
    .split(/^error: /m)
    .slice(1)
    .map((block) => {
      const [message, hint] = block.split(/\n\s*\n?hint: /)
      return { message: message.trim().split('\n')[0], hint: hint?.trim().split('\n')[0] ?? null }
    })
}

function body(request) {
  return new Promise((resolve) => {
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => resolve(Buffer.concat(parts)))
  })
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost')
  const path = url.pathname.replace(/^\/dev\//, '')
  const json = (status, value, headers = {}) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  if (!path.startsWith('api/v1/')) {
    try {
      const name = normalize(path || 'index.html').replace(/^(\.\.\/)+/, '')
      return response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream', 'cache-control': 'no-cache' }).end(readFileSync(join(dist, name)))
    } catch {
      return response.writeHead(404).end('no such page')
    }
  }
  const command = path.slice('api/v1/'.length)
  if (command === 'start') return json(200, { railwright: '0.1.0', api: 1, run: null, traces: [], examples: [] })
  if (command === 'uploads') {
    const name = url.searchParams.get('name')
    const bytes = await body(request)
    uploaded += 1
    writeFileSync(join(uploads, `${uploaded}-${name}`), bytes)
    return json(200, { path: `upload:${uploaded}/${name}`, name, bytes: bytes.length })
  }
  const eventsOf = /^jobs\/(\d+)\/events$/.exec(command)?.[1]
  if (eventsOf) {
    const job = jobs.get(eventsOf)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const timer = setInterval(() => response.write(`event: progress\ndata: ${JSON.stringify({ done: Date.now() - job.since, total: 8000, message: 'working' })}\n\n`), 200)
    const { code, stdout, stderr } = await job.end
    clearInterval(timer)
    if (code > 1) response.end(`event: problems\ndata: ${JSON.stringify({ problems: problems(stderr) })}\n\n`)
    else response.end(`event: answer\ndata: ${JSON.stringify({ outcome: code === 1 ? 'no' : 'yes', answer: JSON.parse(stdout) })}\n\n`)
    return
  }
  const stopped = /^jobs\/(\d+)$/.exec(command)?.[1]
  if (stopped) {
    jobs.get(stopped)?.child.kill('SIGINT')
    return json(200, {})
  }
  const asked = JSON.parse((await body(request)).toString() || '{}')
  if (command === 'jobs') {
    const id = String(jobs.size + 1)
    const child = spawn(binary, commandArguments(asked.command, asked.arguments ?? {}, 'json'))
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (part) => (stdout += part))
    child.stderr.on('data', (part) => (stderr += part))
    jobs.set(id, { child, since: Date.now(), end: new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr }))) })
    return json(202, { job: id })
  }
  const list = commandArguments(command, asked.arguments ?? {}, asked.format ?? 'json')
  execFile(binary, list, { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
    const code = error ? (error.code ?? 3) : 0
    const line = `railwright ${list.filter((part) => part !== '--json').join(' ')}`
    if (code > 1) return json(422, { problems: problems(stderr), command: line })
    response.writeHead(200, { 'content-type': 'application/json', 'railwright-outcome': code === 1 ? 'no' : 'yes', 'railwright-command': encodeURI(line) }).end(stdout)
  })
})

server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/dev/`))
