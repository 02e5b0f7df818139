// Whether this page is the playground: the whole page as static files, with the program as WebAssembly in the browser.
// `scripts/playground.mjs` writes the element that marks it; the page of `railwright serve` has none.

interface Playground {
  /** The compiled program, gzipped, beside the page. */
  readonly program: string
  /** Where the documentation has the installed program. */
  readonly install: string
}

function read(): Playground | null {
  const text = typeof document === 'undefined' ? null : document.getElementById('railwright-playground')?.textContent?.trim()
  return text ? (JSON.parse(text) as Playground) : null
}

/** The playground that this page is, or null where a server or a report answers. */
export const playground: Playground | null = read()
