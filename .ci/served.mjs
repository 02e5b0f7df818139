// A server under test: its address, and its end.
import { spawn } from 'node:child_process'

/** Milliseconds until a server that does not end is killed: more than its own patience with open connections. */
const PATIENCE = 60_000

/** Starts `BINARY serve` on these paths and waits for its address. `stderr` is that of the process. */
export async function served(binary, paths, stderr) {
  const server = spawn(binary, ['serve', '--no-open', ...paths], { stdio: ['ignore', 'pipe', stderr] })
  const ended = new Promise((resolve) => server.on('exit', (code, signal) => resolve(code ?? signal)))
  const url = await new Promise((resolve, reject) => {
    let printed = ''
    server.stdout.on('data', (part) => {
      printed += part
      const found = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//.exec(printed)?.[0]
      if (found) resolve(found)
    })
    ended.then((code) => reject(new Error(`the server ended with ${code} before it printed an address: ${printed}`)))
  })
  /** Ends the server as Ctrl-C does. Returns a problem, or null. */
  const stop = async () => {
    server.kill('SIGINT')
    const patience = setTimeout(() => server.kill('SIGKILL'), PATIENCE)
    const code = await ended
    clearTimeout(patience)
    return code === 0 || code === 130 ? null : `the server ended with ${code}`
  }
  return { server, url, stop }
}
