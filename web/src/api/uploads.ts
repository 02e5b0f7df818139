// Files of the user: sent to the local program, and referred to by a handle in place of a path.
// Nothing leaves the machine; the program keeps uploads only until it ends. A handle has a digest of the content, so that a link to a
// file of another server never means a file with the same name here.
import { signal } from '@preact/signals'
import { fetchApi } from './ask'

export interface Upload {
  /** Handle in place of a path: `upload:DIGEST/config.json`. */
  readonly path: string
  readonly name: string
  readonly bytes: number
}

const HANDLE = /^upload:[^/]+\//

/** Handles in the state that the server does not have. */
export const missing = signal<readonly string[]>([])

/** Increases when a missing file arrives: views ask again. */
export const arrived = signal(0)

/** Handles that the server is known to have. */
const present = new Set<string>()

/** A path as the user knows it, or several in a text: an upload by the name of its file. */
export const withoutHandle = (text: string): string => text.replaceAll(/(^|[\s,])upload:[^/]+\//g, '$1')

/** Handles in the values of a state; files of one value are separated by commas or lines. Pure. */
export function handlesIn(parameters: Readonly<Record<string, string>>): string[] {
  const paths = Object.values(parameters).flatMap((value) => value.split(/[,\n]/))
  return [...new Set(paths.map((path) => path.trim()).filter((path) => HANDLE.test(path)))]
}

/** Sends one file. */
export async function upload(file: File): Promise<Upload> {
  const response = await fetchApi(`uploads?name=${encodeURIComponent(file.name)}`, { method: 'POST', body: file })
  const kept = (await response.json()) as Upload
  present.add(kept.path)
  if (missing.value.includes(kept.path)) {
    missing.value = missing.value.filter((path) => path !== kept.path)
    arrived.value += 1
  }
  return kept
}

/** Compares the handles of a state with the files of the server. */
export async function findMissing(parameters: Readonly<Record<string, string>>): Promise<void> {
  const wanted = handlesIn(parameters)
  if (wanted.some((path) => !present.has(path))) {
    const { paths } = (await (await fetchApi('uploads')).json()) as { readonly paths: readonly string[] }
    for (const path of paths) present.add(path)
  }
  const absent = wanted.filter((path) => !present.has(path))
  if (absent.join() !== missing.value.join()) missing.value = absent
}
