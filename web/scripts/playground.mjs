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

// An ending that no server takes for an encoding: the page inflates it.
const program = './assets/playground/railwright.wasm.packed'
writeFileSync(join(folder, program), gzipSync(readFileSync(wasm), { level: constants.Z_BEST_COMPRESSION }))

const marker = JSON.stringify({ program, install }).replaceAll('<', '\\u003c')
const page = readFileSync(join(folder, 'index.html'), 'utf8')
const marked = page
  .replace('</head>', () => `  <link rel="preload" as="fetch" crossorigin href="${program}" />\n  </head>`)
  .replace('<script', () => `<script type="application/json" id="railwright-playground">${marker}</script>\n    <script`)
if (!marked.includes('railwright-playground') || !marked.includes('rel="preload"')) throw new Error('dist/index.html has another form')
writeFileSync(join(folder, 'index.html'), marked)
