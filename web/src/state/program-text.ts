// Texts of the program as the web UI shows them: it has no flags, and writes microseconds as all its other numbers. Pure.

/** Flags as names of settings: `--leaf-oversubscription` is "leaf oversubscription". */
export function withoutFlags(text: string): string {
  return text.replaceAll(
    /(^|[\s`(“"])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)/g,
    (_, before: string, flag: string) => before + flag.replaceAll('-', ' '),
  )
}

/** `12.5 us` of the terminal is `12.5 µs`. */
export function withUnits(text: string): string {
  return text.replaceAll(/(\d) us\b/g, '$1 µs')
}
