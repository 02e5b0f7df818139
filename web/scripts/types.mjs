// Types of the program's answers, made from their schemas in docs/reference/schema: `node scripts/types.mjs write|check`.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { compile } from 'json-schema-to-typescript'

const schemas = new URL('../../docs/reference/schema/', import.meta.url)
const types = new URL('../src/api/schema/', import.meta.url)

/** Numbers keep their unit as a comment. What refers to a definition is nothing but the reference, or it would become a type of its own. */
function withUnits(node) {
  if (Array.isArray(node)) return node.map(withUnits)
  if (node === null || typeof node !== 'object') return node
  if (typeof node.$ref === 'string') {
    const { $ref, description: _, ...more } = node
    return Object.keys(more).length > 0 ? { allOf: [{ $ref }, withUnits(more)] } : { $ref }
  }
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withUnits(value)]))
  // Tuples, in the words of the draft that the compiler reads.
  if (Array.isArray(copy.prefixItems)) {
    copy.items = copy.prefixItems
    copy.additionalItems = false
    delete copy.prefixItems
  }
  if (typeof copy['x-unit'] === 'string') {
    copy.description = [copy.description, `Unit: ${copy['x-unit']}.`].filter(Boolean).join(' ')
  }
  return copy
}

const name = (kind) => kind.replace(/(^|_)(\w)/g, (_, _start, letter) => letter.toUpperCase())

const stale = []
// The kinds that the page reads are those that it has types of; `node scripts/types.mjs write KIND` adds one.
const own = (await readdir(types)).map((file) => file.replace(/\.ts$/, ''))
for (const kind of [...new Set([...own, ...process.argv.slice(3)])].sort()) {
  const file = `${kind}.json`
  const schema = withUnits(JSON.parse(await readFile(new URL(file, schemas), 'utf8')))
  schema.title = `${name(kind)}Answer`
  const text = await compile(schema, `${name(kind)}Answer`, {
    additionalProperties: false,
    bannerComment: `// Made from docs/reference/schema/${file} by scripts/types.mjs.`,
    style: { semi: false, singleQuote: true, printWidth: 120 },
    unreachableDefinitions: false,
  })
  const path = new URL(`${kind}.ts`, types)
  const old = await readFile(path, 'utf8').catch(() => '')
  if (old === text) continue
  if (process.argv[2] === 'write') await writeFile(path, text)
  else stale.push(kind)
}
if (stale.length > 0) {
  console.error(`stale types: ${stale.join(', ')}; run \`npm run types\``)
  process.exit(1)
}
