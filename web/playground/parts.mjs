// Commands that the smaller of the two programs answers: it has no readers of files. Every other command, and every question about a file
// of the user, goes to the whole program, which the page loads when the first of them is asked.
// `native.mjs` compares both programs with the binary.
export const WITHOUT_FILES = [
  'balance',
  'clusters/list',
  'clusters/show',
  'estimate',
  'examples',
  'explain',
  'goodput',
  'gpus/list',
  'gpus/show',
  'keys',
  'memory',
  'models/list',
  'models/show',
  'network/collective',
  'network/cost',
  'network/design',
  'network/failures',
  'network/rail-only',
  'network/show',
  'network/simulate',
  'network/sites',
  'network/topologies',
  'network/traffic',
  'recompute',
  'schema',
  'search',
  'sensitivity',
  'size',
  'timeline',
  'values',
  'whatif',
]

/** Whether the smaller program answers a question. */
export const isWithoutFiles = ({ command, arguments: values }) =>
  WITHOUT_FILES.includes(command) && !JSON.stringify(values ?? {}).includes('upload:')
