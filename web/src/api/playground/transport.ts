// Transport of the playground: every URL of the server's API, answered by the program in this browser.
// Responsible for: the same responses as over HTTP, so that views need no change. Files stay in this page.
// The program in the worker computes the answers.
import { playground } from './marker'
import { type Question, type Reply, Workers } from './workers'
import * as texts from '../../words/state'

type Progress = Readonly<Record<string, unknown>>

/** Files of the user, by their path in the program. */
const uploads = new Map<string, Blob>()
let workers: Workers | undefined
/** Workers with the readers of files, from the first question that needs them. */
let readers: Workers | undefined

/** Loads the program early, because it is the largest file. */
export function warmUp(): Workers {
  workers ??= new Workers(load(playground?.program ?? ''))
  return workers
}

/** The workers for a question: the whole program is loaded with the first file. */
function workersFor(question: Question, hasFiles: boolean): Workers {
  if (!hasFiles && playground?.withoutFiles.includes(question.command)) return warmUp()
  readers ??= new Workers(load(playground?.whole ?? ''))
  return readers
}

/** The program is stored gzipped, because not every static server compresses. */
async function load(address: string): Promise<WebAssembly.Module> {
  const response = await fetch(address)
  if (!response.ok || !response.body) throw new Error(`${address}: ${response.status}`)
  const inflated = response.body.pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compileStreaming(new Response(inflated, { headers: { 'content-type': 'application/wasm' } }))
}

/** Response of the server's API for a URL. */
export async function respond(path: string, init: RequestInit): Promise<Response> {
  const [name = '', query] = path.split('?')
  if (name === 'uploads' && init.method !== 'POST')
    return Response.json({ paths: [...uploads.keys()].map((path) => path.replace('uploads/', 'upload:')) })
  if (name === 'uploads') return Response.json(await keep(new URLSearchParams(query).get('name') ?? '', init.body as Blob), { status: 201 })
  if (name === 'traces') return Response.json({ jobs: [], more: false })
  if (name === 'start') return response(await warmUp().run({ question: null, files: new Map() }))
  const body = JSON.parse(String(init.body ?? '{}')) as Omit<Question, 'command'>
  return response(await answer({ ...body, command: name }, init.signal))
}

/** Runs a question; `onProgress` receives the progress of long ones. */
export async function answer(question: Question, signal?: AbortSignal | null, onProgress?: (progress: Progress) => void): Promise<Reply> {
  const asked = JSON.stringify(question.arguments)
  const files = new Map([...uploads].filter(([path]) => asked.includes(path.replace('uploads/', 'upload:'))))
  // Links to files of an earlier visit name files that are no longer here; the whole program has the reason.
  const able = workersFor(question, asked.includes('upload:'))
  // A report is the web UI as one file, with answers inside.
  if (question.format === 'html') files.set('page/report.html', await (await fetch('./report.html')).blob())
  try {
    return await able.run({ question, files, signal, onProgress })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    return broken(error)
  }
}

/** Response of the server for a reply. */
export function response({ about, body }: Reply): Response {
  const headers = new Headers({ 'content-type': about.media })
  if (about.outcome) headers.set('railwright-outcome', about.outcome)
  if (about.command) headers.set('railwright-command', encodeURIComponent(about.command))
  if (about.notes) headers.set('railwright-notes', encodeURIComponent(JSON.stringify(about.notes)))
  return new Response(body, { status: about.status, headers })
}

/** Reply for an internal error of the program, in the server's format. */
function broken(error: unknown): Reply {
  const message = texts.theProgramInThisBrowser(error instanceof Error ? error.message : String(error))
  const problem = { message, hint: texts.pleaseReportItWithThe }
  const body = new TextEncoder().encode(JSON.stringify({ problems: [problem] }))
  return { about: { status: 500, media: 'application/json' }, body }
}

/** Stores a file under its content, as the server does, with a sanitized name. */
async function keep(name: string, file: Blob): Promise<{ path: string; name: string; bytes: number }> {
  const plain = name.replace(/[^\p{L}\p{N}.+=_-]/gu, '_').replace(/^[.-]+/, '') || 'file'
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer())).subarray(0, 10)
  const path = `${[...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')}/${plain}`
  uploads.set(`uploads/${path}`, file)
  return { path: `upload:${path}`, name: plain, bytes: file.size }
}
