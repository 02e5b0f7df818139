// Makes the playground: node scripts/playground.mjs WASM WHOLE FOLDER [INSTALL]. The page of dist/ and the program as WebAssembly, as static
// files. WASM has no readers of files and is loaded at once, WHOLE with the first file of the user. Copies what was built; compiles nothing.
// INSTALL is the address of the installed program's documentation, as the page links to it.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, gzipSync } from 'node:zlib'
import { WITHOUT_FILES } from '../playground/parts.mjs'

const [wasm, whole, folder, install = '../install.html'] = process.argv.slice(2)
if (!folder) {
  console.error('usage: node scripts/playground.mjs WASM WHOLE FOLDER [INSTALL]')
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
const assets = join(folder, 'assets', 'playground')
rmSync(folder, { recursive: true, force: true })
cpSync(join(root, 'dist'), folder, { recursive: true })
rmSync(join(folder, 'stamp'), { force: true })
mkdirSync(assets, { recursive: true })
for (const name of ['program.mjs', 'worker.mjs']) cpSync(join(root, 'playground', name), join(assets, name))

/** A module without its custom sections, such as the names of functions. */
function stripped(bytes) {
  const kept = [bytes.subarray(0, 8)]
  for (let at = 8; at < bytes.length; ) {
    let length = 0
    let next = at + 1
    for (let shift = 0, byte = 0x80; byte & 0x80; shift += 7) {
      byte = bytes[next++]
      length += (byte & 0x7f) * 2 ** shift
    }
    if (bytes[at] !== 0) kept.push(bytes.subarray(at, next + length))
    at = next + length
  }
  return Buffer.concat(kept)
}

// An ending that no server takes for an encoding: the page inflates it.
function packed(name, file) {
  const path = `./assets/playground/${name}.wasm.packed`
  const bytes = gzipSync(stripped(readFileSync(file)), { level: constants.Z_BEST_COMPRESSION })
  writeFileSync(join(folder, path), bytes)
  console.log(`${path}: ${bytes.length} bytes`)
  return path
}
const program = packed('railwright', wasm)
const files = packed('railwright-files', whole)

const marker = JSON.stringify({ program, whole: files, withoutFiles: WITHOUT_FILES, install }).replaceAll('<', '\\u003c')
const page = readFileSync(join(folder, 'index.html'), 'utf8')
const marked = page
  .replace('</head>', () => `  <link rel="preload" as="fetch" crossorigin href="${program}" />\n  </head>`)
  .replace('<script', () => `<script type="application/json" id="railwright-playground">${marker}</script>\n    <script`)
if (!marked.includes('railwright-playground') || !marked.includes('rel="preload"')) throw new Error('dist/index.html has another form')
writeFileSync(join(folder, 'index.html'), marked)
