// Makes the playground: node scripts/playground.mjs WASM FOLDER [INSTALL]. The page of dist/ and the program as WebAssembly, as static files.
// Copies what was built; compiles nothing. INSTALL is the address of the installed program's documentation, as the page links to it.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, gzipSync } from 'node:zlib'

const [wasm, folder, install = '../install.html'] = process.argv.slice(2)
if (!folder) {
  console.error('usage: node scripts/playground.mjs WASM FOLDER [INSTALL]')
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
const program = './assets/playground/railwright.wasm.packed'
writeFileSync(join(folder, program), gzipSync(stripped(readFileSync(wasm)), { level: constants.Z_BEST_COMPRESSION }))

const marker = JSON.stringify({ program, install }).replaceAll('<', '\\u003c')
const page = readFileSync(join(folder, 'index.html'), 'utf8')
const marked = page
  .replace('</head>', () => `  <link rel="preload" as="fetch" crossorigin href="${program}" />\n  </head>`)
  .replace('<script', () => `<script type="application/json" id="railwright-playground">${marker}</script>\n    <script`)
if (!marked.includes('railwright-playground') || !marked.includes('rel="preload"')) throw new Error('dist/index.html has another form')
writeFileSync(join(folder, 'index.html'), marked)
