// Detection of the playground: the web UI as static files, with the program as WebAssembly in the browser.
// `scripts/playground.mjs` writes the element that marks it; the web UI of `railwright serve` has none.

interface Playground {
  /** URL of the compiled program without readers of files, gzipped, relative to the page. */
  readonly program: string
  /** URL of the whole program, for files of the user. */
  readonly whole: string
  /** Commands that the first of the two answers. */
  readonly withoutFiles: readonly string[]
  /** URL of the installation instructions. */
  readonly install: string
}

function read(): Playground | null {
  const text = typeof document === 'undefined' ? null : document.getElementById('railwright-playground')?.textContent?.trim()
  return text ? (JSON.parse(text) as Playground) : null
}

/** Data of the playground; null in the web UI of a server and in reports. */
export const playground: Playground | null = read()
