// Prose in a source: text that people read, as against names, classes, selectors and values. The page's prose is in src/words alone.
// Responsible for: what counts as prose, by its place in the syntax tree. Refuses to judge wording; tests/words.test.ts does.
import { parseAst } from 'rolldown/parseAst'

/** Properties and attributes whose text is always shown. */
const SHOWN =
  /^(title|label|about|text|placeholder|caption|hint|note|heading|message|summary|alt|nothing|aria-label|aria-description|aria-roledescription|aria-valuetext)$/
/** Properties and attributes whose text is never read. */
const UNREAD =
  /^(class|className|style|d|points|viewBox|transform|href|rel|id|key|htmlFor|for|role|type|src|accept|pattern|fill|stroke|sizes|width|height|background|maskImage|gridTemplateColumns|font|keys|mask|prefix|panel|left|right|top|paddingLeft|insetInlineStart)$/
/** Calls whose texts are names, commands, selectors or parts of other texts. */
const NAMES =
  /^(ask|askText|askOnce|useFollow|useAnswer|useColumns|startJob|fetchApi|own|go|querySelector|querySelectorAll|closest|matches|getElementById|matchMedia|includes|startsWith|endsWith|indexOf|split|replace|replaceAll|setAttribute|getContext|join|has|get|Worker|RegExp|import)$/
const WORDS = /\p{L}[\p{L}’'`.,:;)]*\s+["“(‘`]?\p{L}|\p{L}{3,}[,:;.]?\s$|^\s\p{L}{2,}/u
const CODE = /<\w|var\(--|calc\(|linear-gradient|[{}]|;$|^[\w-]+:|^[.#[]|^SELECT\b|^\s*--|^M\d|sans-serif|translate\(/

/** Pieces of prose with their place: `{start, end, kind, value, node}`; kind is text, literal or template. */
export function proseOf(source) {
  const found = []
  walk(parseAst(source, { lang: 'tsx' }), [], found)
  return found
}

function walk(node, above, found) {
  if (!node || typeof node.type !== 'string') return
  const parent = above[above.length - 1]
  if (node.type.startsWith('TS') && !/^TS(As|NonNull|Satisfies)/.test(node.type)) return
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return
  if (node.type === 'JSXAttribute' && UNREAD.test(node.name.name)) return
  if (node.type === 'Property' && UNREAD.test(node.key.name ?? node.key.value)) return walkInto(node, above, found, ['value'], false)
  if (node.type === 'JSXText') {
    const value = node.value.replace(/\s*\n\s*/g, '\n')
    if (/\p{L}{2,}/u.test(value)) found.push({ start: node.start, end: node.end, kind: 'text', value, node })
    return
  }
  if (node.type === 'Literal' && typeof node.value === 'string') {
    if (isShown(node.value, parent, above))
      found.push({ start: node.start, end: node.end, kind: 'literal', value: node.value, node, parent })
    return
  }
  if (node.type === 'TemplateLiteral' && parent?.type !== 'TaggedTemplateExpression') {
    const texts = node.quasis.map((one) => one.value.cooked)
    const named = above.some((one) => one.type === 'CallExpression' && NAMES.test(calleeOf(one)))
    if (!named && texts.some((text) => WORDS.test(text)) && !texts.some((text) => CODE.test(text)) && !isCompared(parent))
      found.push({ start: node.start, end: node.end, kind: 'template', value: texts.join('…'), node })
  }
  walkInto(node, above, found, Object.keys(node), true)
}

function walkInto(node, above, found, keys, all) {
  const next = [...above, node]
  for (const key of keys) {
    const value = node[key]
    if (Array.isArray(value)) for (const one of value) walk(one, next, found)
    else if (value && typeof value === 'object' && (all || !/^(Literal|TemplateLiteral|ConditionalExpression)$/.test(value.type)))
      walk(value, next, found)
  }
}

const calleeOf = (call) => call.callee.property?.name ?? call.callee.name ?? ''
const isCompared = (parent) =>
  (parent?.type === 'BinaryExpression' && /^[!=]==?$|^in$/.test(parent.operator)) || parent?.type === 'SwitchCase'

function isShown(value, parent, above) {
  if (!/\p{L}{2,}/u.test(value) || isCompared(parent)) return false
  if (parent?.type === 'Property' && parent.key.start === parent.value.start) return false
  if (parent?.type === 'Property' && above.length && parent.value.type !== 'Literal') return false
  if (parent?.type === 'MemberExpression') return false
  const named = nameAbove(parent, above)
  if (named !== '' && SHOWN.test(named)) return true
  if (parent?.type === 'CallExpression' && NAMES.test(calleeOf(parent))) return false
  if (parent?.type === 'NewExpression' && parent.callee.name !== 'Error') return false
  return WORDS.test(value) && !CODE.test(value)
}

/** The attribute or property whose value a literal is, also in either branch of a condition. */
function nameAbove(parent, above) {
  if (parent?.type === 'JSXAttribute') return String(parent.name.name)
  if (parent?.type === 'Property') return String(parent.key.name ?? parent.key.value)
  let at = above.length - 1
  while (at >= 0 && /^(ConditionalExpression|JSXExpressionContainer|LogicalExpression)$/.test(above[at].type)) at -= 1
  const over = above[at]
  if (at === above.length - 1) return ''
  return over?.type === 'JSXAttribute' ? String(over.name.name) : over?.type === 'Property' ? String(over.key.name ?? over.key.value) : ''
}
