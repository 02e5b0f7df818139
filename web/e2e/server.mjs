// A server for tests: `BINARY serve` on a free port, and its address.
import { spawn } from 'node:child_process'
import { fromDisk } from './from-disk.mjs'

/** Starts `BINARY serve` with extra arguments; with RAILWRIGHT_PAGE=disk the page comes from web/dist as it lies there. */
export async function startServer(binary, extra = []) {
  const child = spawn(binary, ['serve', '--no-open', ...(extra.includes('--port') ? [] : ['--port', '0']), ...extra])
  const said = { text: '' }
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server printed no address within 20 s: ${said.text}`)), 20_000)
    const read = (part) => {
      said.text += part
      const found = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//.exec(said.text)?.[0]
      if (found) {
        clearTimeout(timer)
        resolve(found)
      }
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said.text}`)))
  })
  const front = process.env.RAILWRIGHT_PAGE === 'disk' ? await fromDisk(url) : null
  const stop = () =>
    new Promise((resolve) => {
      front?.stop()
      child.on('exit', resolve)
      child.kill('SIGINT')
      setTimeout(() => child.kill('SIGKILL'), 5000).unref()
    })
  return { url: front?.url ?? url, said, stop }
}
