// Writes or checks dist/stamp: a hash of everything the build reads, so that a stale dist is noticed without building.
// `xtask/tests/page.rs` computes the same hash; keep the two alike: FNV-1a of 64 bits over, for each file sorted by path,
// `path\0length\0bytes`. It guards against forgetting, not against anybody.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const single = ['index.html', 'package-lock.json', 'package.json', 'tsconfig.json', 'vite.config.ts', 'vite.report.config.ts']

function walk(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? walk(path) : [path]
  })
}

function stamp() {
  const files = [...single.map((name) => join(root, name)), ...walk(join(root, 'src'))]
    .map((path) => relative(root, path).replaceAll('\\', '/'))
    .sort((a, b) => (a < b ? -1 : 1))
  // Two halves of 32 bits, because numbers are exact to 53 only.
  let high = 0xcbf29ce4
  let low = 0x84222325
  const add = (bytes) => {
    for (const byte of bytes) {
      low = (low ^ byte) >>> 0
      // times 0x100000001b3: low * 0x1b3 carries into the high half, and low << 8 lands there whole.
      const product = low * 0x1b3
      high = (Math.imul(high, 0x1b3) + Math.floor(product / 0x1_0000_0000) + (low << 8)) >>> 0
      low = product >>> 0
    }
  }
  for (const path of files) {
    const bytes = readFileSync(join(root, path))
    add(Buffer.from(`${path}\0${bytes.length}\0`))
    add(bytes)
  }
  return `${high.toString(16).padStart(8, '0')}${low.toString(16).padStart(8, '0')}\n`
}

const target = join(root, 'dist', 'stamp')
if (process.argv[2] === 'write') {
  writeFileSync(target, stamp())
} else {
  let found = ''
  try {
    found = readFileSync(target, 'utf8')
  } catch {
    // Told below: nothing there is as stale as something else there.
  }
  if (found !== stamp()) {
    console.error('web/dist is stale: run `npm ci && npm run build` in web/ and commit web/dist')
    process.exit(1)
  }
}
