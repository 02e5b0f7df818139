// Files of the user: sent to the local program and named by a handle that stands wherever a command takes a path.
// Nothing leaves the machine; the program keeps uploads only until it ends.
import { fetchApi } from './ask'

export interface Upload {
  /** Stands wherever a command takes a path: `upload:1/config.json`. */
  readonly path: string
  readonly name: string
  readonly bytes: number
}

/** Sends one file. */
export async function upload(file: File): Promise<Upload> {
  const response = await fetchApi(`uploads?name=${encodeURIComponent(file.name)}`, { method: 'POST', body: file })
  return (await response.json()) as Upload
}
