// Builds dist/report.html: the page as one file without any other, into which the program writes its answers.
import { readFileSync, rmSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'

/** Writes script and style into the page and leaves the place of the answers. */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      const html = readFileSync(new URL('./index.html', import.meta.url), 'utf8')
      let script = ''
      let style = ''
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') script += part.code
        else if (name.endsWith('.css')) style += String(part.source)
        delete bundle[name]
      }
      // Views are inside, so nothing is loaded before them; Vite would fill this in if it wrote the files.
      script = script.replaceAll('__VITE_PRELOAD__', '[]')
      const safe = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
      // Another release of Vite marks its places otherwise: what is left of a mark would be a page that never starts.
      this.parse(safe)
      const page = html
        .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
        .replace(
          /<script type="module".*<\/script>/,
          () => `<script type="application/json" id="railwright-report">/*REPORT*/</script>\n    <script type="module">${safe}</script>`,
        )
      this.emitFile({ type: 'asset', fileName: 'report.html', source: page })
    },
    closeBundle() {
      rmSync(new URL('./dist/report', import.meta.url), { recursive: true, force: true })
    },
  }
}

export default defineConfig({
  base: './',
  plugins: [oneFile()],
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rollupOptions: {
      optimization: { inlineConst: true },
      input: new URL('./src/main.tsx', import.meta.url).pathname,
      output: { codeSplitting: false },
    },
  },
})
