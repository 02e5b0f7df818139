// Writes src/views/reference/left-out.json: the bundled runs with their predictions, from catalog/evidence/left_out.csv.
// A unit test holds the two equal. Publications are listed once, runs point to them.
import { readFileSync, writeFileSync } from 'node:fs'

const source = readFileSync(new URL('../../catalog/evidence/left_out.csv', import.meta.url), 'utf8')
const publications = []
const runs = []
for (const line of source.trim().split('\n').slice(1)) {
  const fields = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, field]) => field.replace(/^"|"$/g, '').replaceAll('""', '"'))
  const [, publication, , experts, , measured, fitted, leftOut] = fields
  let at = publications.indexOf(publication)
  if (at < 0) at = publications.push(publication) - 1
  runs.push([at, Number(measured), Number(fitted), Number(leftOut), experts === 'true' ? 1 : 0])
}
const rows = runs.map((run) => JSON.stringify(run)).join(',\n')
writeFileSync(
  new URL('../src/views/reference/left-out.json', import.meta.url),
  `{"publications":${JSON.stringify(publications)},"runs":[\n${rows}\n]}\n`,
)
