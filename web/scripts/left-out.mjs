// Writes src/views/reference/left-out.json: the bundled runs with their predictions, from catalog/evidence/left_out.csv, and what each ran, from
// catalog/evidence/measured_runs.csv. A unit test holds them equal. Publications, models and GPUs are listed once, runs point to them.
import { readFileSync, writeFileSync } from 'node:fs'

const read = (path) => {
  const text = readFileSync(new URL(`../../catalog/evidence/${path}`, import.meta.url), 'utf8')
  const lines = text
    .trim()
    .split('\n')
    .map((line) => fields(line))
  const names = lines[0]
  return lines.slice(1).map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])))
}
const fields = (line) =>
  [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, field]) => field.replace(/^"|"$/g, '').replaceAll('""', '"'))

const lists = { publications: [], models: [], gpus: [] }
const place = (list, name) => {
  const at = lists[list].indexOf(name)
  return at < 0 ? lists[list].push(name) - 1 : at
}
const ran = new Map(read('measured_runs.csv').map((row) => [row.id, row]))
const runs = read('left_out.csv').map((row) => {
  const what = ran.get(row.id)
  if (!what) throw new Error(`${row.id} is not in measured_runs.csv`)
  return [
    place('publications', row.publication),
    Number(row.measured_s),
    Number(row.fitted_s),
    Number(row.left_out_s),
    row.mixture_of_experts === 'true' ? 1 : 0,
    place('models', what.model_name),
    Number(what.params_b),
    place('gpus', what.gpu),
    Number(what.n_gpus),
    Number(what.seq_len),
  ]
})
const rows = runs.map((run) => JSON.stringify(run)).join(',\n')
const heads = Object.entries(lists).map(([name, list]) => `${JSON.stringify(name)}:${JSON.stringify(list)}`)
writeFileSync(new URL('../src/views/reference/left-out.json', import.meta.url), `{${heads.join(',\n')},"runs":[\n${rows}\n]}\n`)
