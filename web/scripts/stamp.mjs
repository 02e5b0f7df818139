// Writes or checks dist/stamp: a hash of everything the build reads, so that a stale dist is noticed without building.
// `xtask` computes the same hash; keep the two alike: for each file, sorted by path, `path\0length\0bytes`.
import { createHash } from 'node:crypto'
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
  const hash = createHash('sha256')
  for (const path of files) {
    const bytes = readFileSync(join(root, path))
    hash.update(`${path}\0${bytes.length}\0`)
    hash.update(bytes)
  }
  return `${hash.digest('hex')}\n`
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
