// A static server for tests of the playground: files of one folder under an address, and nothing else.
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { extname, join, normalize } from 'node:path'

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css' }
const PATH = '/site/playground/'

/** Serves a folder; its requests are listed in `requests`. */
export async function startStatic(folder) {
  const requests = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    requests.push(`${request.method} ${pathname}`)
    try {
      if (request.method !== 'GET' || !pathname.startsWith(PATH)) throw new Error('not here')
      const name = normalize(decodeURIComponent(pathname.slice(PATH.length)) || 'index.html').replace(/^(\.\.\/)+/, '')
      const bytes = readFileSync(join(folder, name))
      response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream' }).end(bytes)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}${PATH}`, requests, stop: () => (server.closeAllConnections(), server.close()) }
}
