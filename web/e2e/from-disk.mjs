// The page from web/dist on disk in front of a real `railwright serve`, so that a change of the page is tested without
// compiling the program. Used by the harness when RAILWRIGHT_PAGE=disk.
import { createServer, request as ask } from 'node:http'
import { readFileSync } from 'node:fs'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }

/** Serves the page under the same token; everything of the API goes to `target`. */
export async function fromDisk(target) {
  const { pathname, host } = new URL(target)
  const server = createServer((request, response) => {
    const path = new URL(request.url, target).pathname.slice(pathname.length)
    if (path.startsWith('api/')) {
      const headers = { ...request.headers, host }
      delete headers.origin
      const forward = ask(`${target}${request.url.slice(pathname.length)}`, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      })
      forward.on('error', () => response.destroy())
      response.on('close', () => forward.destroy())
      return request.pipe(forward)
    }
    try {
      const name = normalize(path || 'index.html').replace(/^(\.\.\/)+/, '')
      const bytes = readFileSync(join(dist, name))
      response.writeHead(200, { 'content-type': types[extname(name)] ?? 'application/octet-stream' }).end(bytes)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}${pathname}`, stop: () => (server.closeAllConnections(), server.close()) }
}
