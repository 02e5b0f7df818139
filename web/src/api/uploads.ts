// Files of the user: sent to the local program, and referred to by a handle in place of a path.
// Nothing leaves the machine; the program keeps uploads only until it ends.
import { fetchApi } from './ask'

export interface Upload {
  /** Handle in place of a path: `upload:1/config.json`. */
  readonly path: string
  readonly name: string
  readonly bytes: number
}

/** Sends one file. */
export async function upload(file: File): Promise<Upload> {
  const response = await fetchApi(`uploads?name=${encodeURIComponent(file.name)}`, { method: 'POST', body: file })
  return (await response.json()) as Upload
}
