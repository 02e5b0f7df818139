// Builds the page that `railwright serve` embeds: plain file names (the server answers with etags), relative addresses
// (the token is a path segment that no script knows), no source maps. The header is in the HTML itself and is painted before any script.
import { readFileSync } from 'node:fs'
import { defineConfig, type Plugin, type Rolldown } from 'vite'

const source = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** Identifiers and titles of the views, as the header lists them. */
const VIEWS = [...source('./src/views/registry.ts').matchAll(/id: '(\w+)',\s+title: texts\.(\w+)/g)].map(([, id, name]) => ({
  id: id!,
  title: wordOf(name!),
}))

/** A word of the frame by its name in src/words. */
function wordOf(name: string): string {
  const found = new RegExp(`^export const ${name} = '(.+)'$`, 'm').exec(source('./src/words/ui.ts'))?.[1]
  if (!found) throw new Error(`src/words/ui.ts lacks ${name}`)
  return found
}

const MARK =
  '<svg width="18" height="18" viewBox="0 0 16 16" aria-hidden="true"><path d="M4 2.5v11M8 2.5v11M12 2.5v11" stroke="var(--faint)" stroke-width="1.4"/><path d="M1 5h14M1 11h14" stroke="var(--accent)" stroke-width="1.8"/></svg>'

/** The header as the shell will draw it; the script replaces it by its own. */
function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => {
        const links = VIEWS.map(({ id, title }) => `<a href="#/${id}">${title}</a>`).join('')
        const chosen = VIEWS.map(({ id }) => `html[data-view=${id}] .views a[href="#/${id}"]`).join(',')
        return html
          .replace('<script type="module"', '<script src="./assets/first.js"></script>\n    <script type="module"')
          .replace('</head>', `  <style>${chosen}{color:var(--text);font-weight:550;background:var(--sunken)}</style>\n  </head>`)
          .replace(
            '<div id="page"></div>',
            `<div id="page"><div class="shell"><header class="header"><span class="brand">${MARK}<span>Railwright</span></span><nav class="views">${links}</nav></header></div></div>`,
          )
      },
    },
    generateBundle(_, bundle) {
      const files = Object.fromEntries(VIEWS.map(({ id }) => [id, filesOf(chunkOf(id, bundle), bundle)]))
      const list = Object.entries(files)
        .map(([id, names]) => `${id}:${JSON.stringify(names)}`)
        .join(',')
      const script = source('./src/first.js')
        .replace(/^\s*\/\/.*$/gm, '')
        .replace('/*VIEWS*/', () => list)
        .replace(/\n\s*/g, '\n')
        .trim()
      this.emitFile({ type: 'asset', fileName: 'assets/first.js', source: `${script}\n` })
    },
  }
}

/** Example files, from the repository's fixtures. */
function examples(): Plugin {
  return {
    name: 'examples',
    generateBundle() {
      const list = JSON.parse(source('./src/views/parts/examples.json')) as Record<string, { files: string[] }>
      for (const path of Object.values(list).flatMap((one) => one.files)) {
        const bytes = readFileSync(new URL(`../${path}`, import.meta.url))
        this.emitFile({ type: 'asset', fileName: `examples/${path.split('/').at(-1)}`, source: bytes })
      }
    },
  }
}

/** The chunk that opens a view: by what it was made from, because names are given in order. */
function chunkOf(view: string, bundle: Rolldown.OutputBundle): string {
  const found = Object.values(bundle).find((part) => part.type === 'chunk' && part.facadeModuleId?.endsWith(`/views/${view}/index.tsx`))
  if (!found) throw new Error(`no chunk opens the view ${view}`)
  return found.fileName
}

/** A chunk, all that it imports and their styles, without what the page loads anyway. */
function filesOf(name: string, bundle: Rolldown.OutputBundle, known = new Set<string>()): string[] {
  const chunk = bundle[name]
  if (chunk?.type !== 'chunk' || known.has(name)) return [...known].map((path) => path.replace('assets/', ''))
  if (!chunk.isEntry) {
    // Vite drops the script of a chunk that holds styles alone.
    if (!chunk.moduleIds.every((id) => id.endsWith('.css'))) known.add(name)
    for (const style of (chunk as { viteMetadata?: { importedCss: Set<string> } }).viteMetadata?.importedCss ?? []) known.add(style)
  }
  for (const next of chunk.imports) if (!(bundle[next] as { isEntry?: boolean }).isEntry) filesOf(next, bundle, known)
  return [...known].map((path) => path.replace('assets/', ''))
}

export default defineConfig({
  base: './',
  plugins: [firstPaint(), examples()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      optimization: { inlineConst: true },
      output: {
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
  server: { port: 5199 },
})
